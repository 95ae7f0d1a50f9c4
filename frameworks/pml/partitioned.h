// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/continuation.h"
#include "frameworks/pml/pml.h"
#include "object/released_list.h"
#include "object/request.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {
namespace pml {

class PartitionedEngine;

// How the partitions of a send are grouped into messages: each of `messages` messages has `group` partitions, and the
// last one also those that are left.
struct PartitionedPlan {
    std::int32_t group = 1;
    std::int32_t messages = 1;

    // Messages of at least `least` bytes, each of which is a number of elements of `element` bytes. The send has
    // `partitions` partitions of `bytes` bytes, together a number of such elements.
    static PartitionedPlan make(int partitions, std::int64_t bytes, std::int64_t element, std::int64_t least) noexcept;

    int message_of(int partition) const noexcept { return std::min(partition / group, messages - 1); }
    int first_of(int message) const noexcept { return message * group; }
    int size_of(int message, int partitions) const noexcept {
        return message < messages - 1 ? group : partitions - first_of(message);
    }
};

// What a sender of the checking mode tells the receiver about its data; otherwise zeros.
using PartitionedNote = std::array<std::byte, 88>;

struct PartitionedSetup {
    std::int64_t bytes;        // of a partition
    std::int64_t message_size; // the sender's parameter mpi_part_message_size
    std::int32_t partitions;
    std::int32_t reply_tag; // as a number (partitioned_tags.h)
    PartitionedNote note;   // PartitionedSend::describe()
};

struct PartitionedReply {
    std::int64_t bytes;     // of the receiver's buffer
    std::int32_t code;      // MPI_SUCCESS, or the error with which every start ends on both sides
    std::int32_t first_tag; // of the messages, as a number
    PartitionedPlan plan;
};

// Partitioned communication (MPI-5.0, 4.2), above the pml, so that it needs nothing of a module but its messages. This
// class is what both sides have in common.
//
// MPI_Psend_init sends a *setup message*, for which MPI_Precv_init posts a receive. Its tag mirrors the user's, so that
// the pml matches the two in the order of their initialization. When the receive has been started and the setup message
// has arrived, the receiver sends a *reply* with the plan: in how many messages each start is transferred, and their
// tags. Each message has whole partitions of the sender, and is a persistent request of the pml on both sides. The last
// of its partitions that becomes ready starts it, on any thread.
class Partitioned : public Request {
public:
    int cancel() noexcept final;
    bool bound_partitions(PartitionedRequest* what) const noexcept final {
        *what = _what;
        return true;
    }
    std::int32_t references_to_comm() const noexcept final;
    std::string_view cause() const noexcept final;

    int partitions() const noexcept { return _what.partitions; }
    // The number of messages of each start. Defined after the first start, which may change it.
    int messages() const noexcept { return _plan.messages; }

    // For the engine, which calls these with its lock held for a request in its list.

    // Whether the other process needs something of this request, whose handle was released.
    virtual bool is_needed() const noexcept = 0;
    // Has the next poll destroy a request whose setup message has not arrived.
    virtual void cancel_unmatched() noexcept {}

    ReleasedList::Entry released{*this}; // in the list of the engine

protected:
    // Runs a member function of T when requests of the pml are complete.
    template <class T, void (T::*Function)() noexcept>
    struct Next : Continuation {
        Next(Progress& waits, T& owner) noexcept
            : Continuation(waits, [](ReadyItem& item) noexcept { (static_cast<Next&>(item).owner.*Function)(); }),
              owner(owner) {}
        T& owner;
    };

    Partitioned(PartitionedEngine& engine, const PartitionedRequest& what, Communicator& on) noexcept;
    ~Partitioned() override;

    bool is_null() const noexcept { return _what.peer == MPI_PROC_NULL; }
    std::int64_t bytes() const noexcept { return std::int64_t(_partition_bytes) * _what.partitions; }

    // Begin a message of the setup, with a tag of the pml. MPI code.
    int send_setup(const void* data, std::size_t size, int tag, Request** request) noexcept;
    int receive_setup(void* data, std::size_t size, int tag, Request** request) noexcept;
    // Makes the persistent requests of the plan: message i has `count` elements from element `first` of the buffer,
    // where bounds(i) returns {first, count}. MPI code; after an error there are none.
    struct Elements {
        MPI_Count first;
        MPI_Count count;
    };
    template <class Bounds>
    int make_messages(int first_tag, const Bounds& bounds) noexcept;
    void release_messages() noexcept;
    // Releases a request of the setup, if there is one.
    void drop(Request*& request) noexcept;

    // Ends the messages of the last start. Not before the first start, when another thread may be making them.
    void end_messages() noexcept;
    // Begins a start, whose first count of the round is the caller's.
    void open_round() noexcept;
    // Starts message i, which the round waits for. On any thread.
    void start_message(int i) noexcept;
    // Gives the caller's count back: the start is complete when its messages are. The request may not exist afterwards.
    void close_round() noexcept {
        if (_round.close()) {
            end_round();
        }
    }
    // This start ends with the error.
    void fail_start(int code) noexcept { _start_error.store(code, std::memory_order_relaxed); }
    // Ends a start at once with the error of fail().
    void end_failed_start() noexcept;
    // Every start ends with this error.
    void fail(int code, std::string text = {}) noexcept;
    // The buffers of both sides have different sizes.
    void fail_by_size(int code, std::int64_t sent, std::int64_t received) noexcept;

    void prepare_release() noexcept override;
    // A request whose handle was released before its setup ended exists until then, in the lists of the engine and of
    // the communicator.
    void enter_lists() noexcept;
    void leave_lists() noexcept;
    void destroy() noexcept;

    PartitionedEngine& _engine;
    const PartitionedRequest _what;
    const Ref<Communicator> _comm;
    const Ref<Datatype> _type;
    const std::int64_t _partition_bytes;
    PartitionedSetup _setup{};
    PartitionedReply _reply{};
    // Of the pml, until they are complete. Another thread may read the first one with the communicator's mutex held.
    Request* _setup_request = nullptr;
    Request* _reply_request = nullptr;
    PartitionedPlan _plan;
    std::unique_ptr<Request*[]> _messages; // of the plan; null before the setup has ended
    int _made = 0;                         // how many of them exist
    int _tags = -1;                        // the first that this request has taken; -1: none
    int _failure = MPI_SUCCESS;

private:
    // Called when all messages of a start are complete, by a poll or by the thread that ended the last one.
    void end_round() noexcept;
    // The first error of the start.
    int result() const noexcept;
    int began_setup(int code, Request** request) noexcept;
    int make_message(int i, int first_tag, Elements elements) noexcept;

    Next<Partitioned, &Partitioned::end_round> _round;
    std::atomic<int> _start_error{MPI_SUCCESS};
    std::atomic<std::int32_t> _references{1}; // to the communicator: its own and those of the messages
    std::string _text;                        // of _failure
};

template <class Bounds>
int Partitioned::make_messages(int first_tag, const Bounds& bounds) noexcept {
    _messages.reset(new (std::nothrow) Request* [std::size_t(_plan.messages)] {});
    if (_messages == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    for (int i = 0; i < _plan.messages; ++i) {
        if (const int code = make_message(i, first_tag, bounds(i)); code != MPI_SUCCESS) {
            release_messages();
            return code;
        }
    }
    return MPI_SUCCESS;
}

} // namespace pml
} // namespace patchbay
