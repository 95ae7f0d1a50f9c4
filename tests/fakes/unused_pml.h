// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/pml.h"

#include <string_view>
#include <vector>

namespace patchbay::test {

// A pml of which a test uses some functions only, which it overrides.
class UnusedPml : public pml::Module {
public:
    int add_comm(Communicator&) noexcept override { return MPI_ERR_INTERN; }
    void remove_comm(Communicator&) noexcept override {}
    void refuse(const Communicator&, const cid::ExtendedId&, int) noexcept override {}
    std::string_view failure_text(const Communicator&, int) noexcept override { return {}; }
    int send(const void*, MPI_Count, const Datatype&, int, int, pml::SendMode, Communicator&) noexcept override {
        return MPI_ERR_INTERN;
    }
    int recv(void*, MPI_Count, const Datatype&, int, int, Communicator&, MPI_Status*) noexcept override {
        return MPI_ERR_INTERN;
    }
    int send_init(
        const void*, MPI_Count, const Datatype&, int, int, pml::SendMode, Communicator&, Request**) noexcept override {
        return MPI_ERR_INTERN;
    }
    int recv_init(void*, MPI_Count, const Datatype&, int, int, Communicator&, Request**) noexcept override {
        return MPI_ERR_INTERN;
    }
    int iprobe(int, int, Communicator&, bool*, MPI_Status*) noexcept override { return MPI_ERR_INTERN; }
    int improbe(int, int, Communicator&, bool*, Message**, MPI_Status*) noexcept override { return MPI_ERR_INTERN; }
    int probe(int, int, Communicator&, MPI_Status*) noexcept override { return MPI_ERR_INTERN; }
    int mprobe(int, int, Communicator&, Message**, MPI_Status*) noexcept override { return MPI_ERR_INTERN; }
    int mrecv(void*, MPI_Count, const Datatype&, Message*, MPI_Status*) noexcept override { return MPI_ERR_INTERN; }
    int imrecv(void*, MPI_Count, const Datatype&, Message*, Request**) noexcept override { return MPI_ERR_INTERN; }
    void drain() noexcept override {}
    void drain_communicator(const Communicator&) noexcept override {}
    void drain_session(const Session*) noexcept override {}
    std::vector<pml::EarlyMessage> take_early() noexcept override { return {}; }
    void accept_early(const pml::EarlyMessage&) noexcept override {}
    void peer_failed(ProcessId) noexcept override {}
    int max_tag() const noexcept override { return pml::highest_tag; }
    std::uint32_t max_index() const noexcept override { return 0; }
};

} // namespace patchbay::test
