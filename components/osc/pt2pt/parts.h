// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/pt2pt/message.h"
#include "core/base/list.h"
#include "core/progress/continuation.h"
#include "frameworks/osc/osc.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace patchbay::osc::pt2pt {

class Pt2pt;
struct Peer;

// The request of MPI_Rput and the like.
class RmaRequest final : public Request {
public:
    RmaRequest(Communicator& comm, Progress& waits) noexcept {
        belong_to(comm);
        progress = &waits;
        set_active();
    }
    int start() noexcept override { return MPI_ERR_REQUEST; } // never persistent
    int cancel() noexcept override { return MPI_ERR_REQUEST; }
    std::string_view cause() const noexcept override { return error == MPI_SUCCESS ? "" : "the operation has failed"; }

    // The operation is complete. After an error the communicator, whose error handler is called, must exist.
    void end(int code) noexcept {
        error = code;
        if (code != MPI_SUCCESS) {
            _kept = Ref<Communicator>::share(comm);
        }
        fill_empty_status(status);
        complete();
    }

private:
    int retire() noexcept override {
        delete this;
        return MPI_SUCCESS;
    }

    Ref<Communicator> _kept;
};

// A control message that is being sent. The inline data follows the object.
struct OutMessage : Continuation {
    OutMessage(Pt2pt& of, Progress& progress, Run run) noexcept
        : Continuation(progress, run),
          module(of) {}
    std::byte* data() noexcept { return reinterpret_cast<std::byte*>(&header + 1); }

    Pt2pt& module;
    Peer* peer = nullptr;
    Request* request = nullptr;
    OutMessage* next_free = nullptr;
    Header header;
};

// An operation of this process that has buffers of the program: it is under way until they may be used again.
struct Operation : Continuation {
    Operation(Pt2pt& of, Peer& target, Progress& progress, Run run) noexcept
        : Continuation(progress, run),
          module(of),
          peer(target) {}

    Pt2pt& module;
    Peer& peer;
    Link<Operation> link{};
    std::uint64_t number = 0;   // among those of the peer
    std::uint32_t slot = 0;     // by which the result names it
    bool attached = false;      // to the messages below
    bool awaits_result = false; // in a control message
    int error = MPI_SUCCESS;
    Request* send = nullptr;    // of the data
    Request* receive = nullptr; // of the result
    void* result = nullptr;
    MPI_Count result_count = 0;
    Ref<Datatype> result_type;
    std::vector<std::int64_t> description; // that is being sent
    RmaRequest* request = nullptr;
};

// A numbered message of an origin that is not done yet, in the order of their numbers.
struct Entry : Continuation {
    Entry(Pt2pt& of, Peer& origin, Progress& progress, Run run) noexcept
        : Continuation(progress, run),
          module(of),
          peer(origin) {}

    Pt2pt& module;
    Peer& peer;
    Link<Entry> link{};
    Header header;
    bool started = false;
    bool done = false;
    bool has_data = false;      // of an accumulate: it is in `data`
    bool refused = false;       // its data is received, and dropped
    Request* request = nullptr; // of its data or its result
    std::unique_ptr<std::byte[]> data;
    std::unique_ptr<std::byte[]> result;
};

// A receive that no message matches. It ends when the peer has failed.
struct Watch : Continuation {
    Watch(Pt2pt& of, Peer& watched, Progress& progress, Run run) noexcept
        : Continuation(progress, run),
          module(of),
          peer(watched) {}
    Pt2pt& module;
    Peer& peer;
    Request* request = nullptr;
};

// What a process has told this one, and is to be told by it, in one window. This process's own: only `posts` and
// `completes`.
struct Peer {
    Peer(Pt2pt& of, int its_rank, Progress& progress, ReadyItem::Run watch_ended) noexcept
        : rank(its_rank),
          watch(of, *this, progress, watch_ended) {}

    const int rank;
    bool failed = false;
    Watch watch;

    // This process is the origin:
    std::uint64_t sent = 0;        // numbered messages
    std::uint64_t done = 0;        // how many of them the peer is known to have done
    std::uint64_t asked = 0;       // up to which an acknowledgement has been asked for
    int error = MPI_SUCCESS;       // of an operation; the next completing call returns it
    bool locked = false;           // a lock has been asked for
    std::uint64_t lock_number = 0; // of the message that asked for it
    bool lock_refused = false;     // which the peer has refused
    bool lacks_lock() const noexcept { return locked && done < lock_number; } // that has been asked for
    // Of MPI_Win_post, not yet used by MPI_Win_start; negative: a start that failed has used posts that come later.
    std::int64_t posts = 0;
    std::uint16_t next_data = 0;
    std::uint64_t next_operation = 0;
    List<Operation, &Operation::link> operations;
    std::vector<Ref<Datatype>> types; // that the peer knows, by number
    std::size_t next_type = 0;

    // This process is the target:
    std::uint64_t completed = 0; // numbered messages of the peer that are done
    std::uint64_t told = 0;      // how many of them the peer knows
    int report = MPI_SUCCESS;    // for the next acknowledgement
    // Of MPI_Win_complete, not yet used by MPI_Win_wait; negative: a wait that failed has used some that come later.
    std::int64_t completes = 0;
    List<Entry, &Entry::link> entries;
    Entry* waiting = nullptr;  // the first one that is not started
    bool refused_lock = false; // until its unlock; its operations are not carried out
    bool must_know = false;    // of that, by the next acknowledgement
    std::vector<Ref<Datatype>> its_types;
};

} // namespace patchbay::osc::pt2pt
