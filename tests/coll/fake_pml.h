// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/pml.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::test {

// A message that was started. The test decides when and how it ends.
class FakeMessage final : public Request {
public:
    FakeMessage(Progress& waits, bool sends, int peer, int tag, MPI_Count count)
        : sends(sends),
          peer(peer),
          tag(tag),
          count(count) {
        progress = &waits;
        set_active();
    }
    ~FakeMessage() override = default;
    int start() noexcept override { return MPI_ERR_REQUEST; }
    int cancel() noexcept override {
        cancelled = true;
        end(MPI_SUCCESS, 0);
        return MPI_SUCCESS;
    }
    void end(int code, std::uint64_t bytes) noexcept {
        error = code;
        set_status_bytes(status, bytes);
        complete();
    }

    const bool sends;
    const int peer;
    const int tag;
    const MPI_Count count;
    bool cancelled = false;

private:
    int retire() noexcept override { return MPI_SUCCESS; } // FakePml owns it
};

// Starts messages and transfers none.
class FakePml final : public pml::Module {
public:
    explicit FakePml(Progress& progress)
        : _progress(progress) {}

    std::vector<std::unique_ptr<FakeMessage>> messages; // in the order in which they were started
    std::deque<int> send_codes;                         // what the next calls of isend return; empty: MPI_SUCCESS
    std::deque<int> recv_codes;                         // the same for irecv
    std::string failure;                                // the text of failure_text()

    int isend(const void*, MPI_Count count, const Datatype&, int dest, int tag, pml::SendMode, Communicator&,
        Request** request) noexcept override {
        return start(send_codes, true, dest, tag, count, request);
    }
    int irecv(void*, MPI_Count count, const Datatype&, int source, int tag, Communicator&,
        Request** request) noexcept override {
        return start(recv_codes, false, source, tag, count, request);
    }
    std::string_view failure_text(const Communicator&, int) noexcept override { return failure; }

    // Nothing calls the others.
    int add_comm(Communicator&) noexcept override { return MPI_ERR_INTERN; }
    void remove_comm(Communicator&) noexcept override {}
    void refuse(const Communicator&, const cid::ExtendedId&, int) noexcept override {}
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

private:
    int start(std::deque<int>& codes, bool sends, int peer, int tag, MPI_Count count, Request** request) {
        if (!codes.empty()) {
            const int code = codes.front();
            codes.pop_front();
            if (code != MPI_SUCCESS) {
                return code;
            }
        }
        messages.push_back(std::make_unique<FakeMessage>(_progress, sends, peer, tag, count));
        *request = messages.back().get();
        return MPI_SUCCESS;
    }

    Progress& _progress;
};

} // namespace patchbay::test
