// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/fakes/unused_pml.h"

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

// A persistent request of a message. The test ends each start of it.
class FakeBoundMessage final : public Request {
public:
    explicit FakeBoundMessage(Progress& waits) { progress = &waits; }
    ~FakeBoundMessage() override = default;
    int start() noexcept override {
        ++starts;
        if (ends_at_start) {
            set_complete();
        } else {
            set_active();
        }
        return MPI_SUCCESS;
    }
    int cancel() noexcept override { return MPI_ERR_REQUEST; }
    void end(int code, std::uint64_t bytes) noexcept {
        error = code;
        set_status_bytes(status, bytes);
        complete();
    }

    int starts = 0;
    bool ends_at_start = false; // complete at once, without an error, as short sends are
    bool released = false;

private:
    int retire() noexcept override {
        released = true;
        return MPI_SUCCESS; // FakePml owns it
    }
};

// Starts messages and transfers none.
class FakePml final : public UnusedPml {
public:
    explicit FakePml(Progress& progress)
        : _progress(progress) {}

    std::vector<std::unique_ptr<FakeMessage>> messages; // in the order in which they were started
    std::deque<int> send_codes;                         // what the next calls of isend return; empty: MPI_SUCCESS
    std::deque<int> recv_codes;                         // the same for irecv
    bool binds = false;                                 // whether send_init and recv_init make requests
    std::vector<std::unique_ptr<FakeBoundMessage>> bound;
    std::string failure; // the text of failure_text()

    int isend(const void*, MPI_Count count, const Datatype&, int dest, int tag, pml::SendMode, Communicator&,
        Request** request) noexcept override {
        return start(send_codes, true, dest, tag, count, request);
    }
    int irecv(void*, MPI_Count count, const Datatype&, int source, int tag, Communicator&,
        Request** request) noexcept override {
        return start(recv_codes, false, source, tag, count, request);
    }
    int send_init(const void*, MPI_Count, const Datatype&, int, int, pml::SendMode, Communicator&,
        Request** request) noexcept override {
        return bind(request);
    }
    int recv_init(void*, MPI_Count, const Datatype&, int, int, Communicator&, Request** request) noexcept override {
        return bind(request);
    }
    std::string_view failure_text(const Communicator&, int) noexcept override { return failure; }

private:
    int bind(Request** request) {
        if (!binds) {
            return MPI_ERR_INTERN;
        }
        bound.push_back(std::make_unique<FakeBoundMessage>(_progress));
        *request = bound.back().get();
        return MPI_SUCCESS;
    }
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
