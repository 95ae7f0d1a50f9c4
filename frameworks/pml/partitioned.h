// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/continuation.h"
#include "core/progress/lock.h"
#include "frameworks/pml/pml.h"
#include "object/released_list.h"
#include "object/request.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
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
    std::int32_t channels;  // whether the sender would have the messages carried by channels
    PartitionedNote note;   // PartitionedSend::describe()
};

struct PartitionedReply {
    std::int64_t bytes;     // of the receiver's buffer
    std::int32_t code;      // MPI_SUCCESS, or the error with which every start ends on both sides
    std::int32_t first_tag; // of the messages, as a number
    std::int32_t channels;  // whether both sides bind the messages to channels
    PartitionedPlan plan;
};

// Partitioned communication (MPI-5.0, 4.2), above the pml, so that it needs nothing of a module but its messages. This
// class is what both sides have in common.
//
// MPI_Psend_init sends a *setup message*, for which MPI_Precv_init posts a receive. Its tag mirrors the user's, so that
// the pml matches the two in the order of their initialization. When the receive has been started and the setup message
// has arrived, the receiver sends a *reply* with the plan: in how many messages each start is transferred, and their
// tags. Each message has whole partitions of the sender, and is a persistent request of the pml on both sides, or a
// channel where both sides agree on that (MessageBinder): they bind the messages before the first of them is sent. The
// last of its partitions that becomes ready starts a message, on any thread.
//
// Channels complete only in Request::check(): the request checks_itself, and is looked at by the completing calls,
// by MPI_Parrived, and, if its handle has been released, by a poller of the engine.
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
    // How many of them are carried by channels. Defined likewise.
    int channels() const noexcept { return _channels.load(std::memory_order_relaxed); }

    // For the engine, which calls these with its lock held for a request in its list.

    // Whether the other process needs something of this request, whose handle was released.
    virtual bool is_needed() const noexcept = 0;
    // Whether the handle was released before the setup message had been sent, or had arrived.
    virtual bool sends_setup() const noexcept { return false; }
    virtual bool is_unmatched() const noexcept { return false; }
    // Has the next poll destroy a request that is unmatched.
    virtual void cancel_unmatched() noexcept {}

    // Looks whether messages that are carried by channels have ended, and the start with them. Any thread, also several
    // at a time.
    void look() noexcept;

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
    void* at(MPI_Count element) const noexcept {
        return static_cast<std::byte*>(_what.buffer) + element * _what.type->extent;
    }
    std::int64_t bytes() const noexcept { return std::int64_t(_partition_bytes) * _what.partitions; }

    // Begin a message of the setup, with a tag of the pml. MPI code.
    int send_setup(const void* data, std::size_t size, int tag, Request** request) noexcept;
    int receive_setup(void* data, std::size_t size, int tag, Request** request) noexcept;
    // A part of the buffer.
    struct Elements {
        MPI_Count first;
        MPI_Count count;
    };
    // Makes the persistent requests of the plan: message i has `count` elements from element `first` of the buffer,
    // where bounds(i) returns {first, count}. MPI code; after an error there are none.
    template <class Bounds>
    int make_messages(int first_tag, const Bounds& bounds) noexcept;
    void release_messages() noexcept;
    // Before the setup begins: whether this side may have channels.
    void prepare_channels() noexcept;
    // Takes as many as it needs for `messages` messages, if this side would bind one of `elements`. Whether it has.
    bool take_channels(int messages, Elements elements) noexcept;
    // Keeps `count` of those that were taken.
    void keep_channels(int count) noexcept;
    // Binds the messages of the plan to the channels that were taken, then calls start_first_round(), perhaps in a
    // poll. The caller's count of the round is held meanwhile. Where memory is short the start ends with that error:
    // the first start that does not goes on from there.
    void bind_messages() noexcept;
    // What is left to do for the first start when the messages can be started.
    virtual void start_first_round() noexcept = 0;
    // Releases a request of the setup, if there is one.
    void drop(Request*& request) noexcept;

    // Ends the messages of the last start. Not before the first start, when another thread may be making them.
    void end_messages() noexcept;
    // Begins a start, whose first count of the round is the caller's.
    void open_round() noexcept;
    // Starts message i, which the round waits for. On any thread.
    void start_message(int i) noexcept;
    // Whether message i of an active start has arrived. Any thread, also several at a time.
    bool has_ended(int i) noexcept;
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
    struct Message {
        Request* request = nullptr; // of the pml, or the channel
        Request* channel = nullptr; // that the binder has made, while the messages are bound
        bool by_channel = false;
        std::atomic<std::uint32_t> started{0}; // by a channel: the last round in which it was started
    };
    std::unique_ptr<Message[]> _messages; // of the plan; null before the setup has ended
    int _made = 0;                        // how many of them exist
    int _tags = -1;                       // the first that this request has taken; -1: none
    int _failure = MPI_SUCCESS;

private:
    void check() noexcept final { look(); }
    bool begin_bindings() noexcept;
    void end_bindings() noexcept;
    void use_channel(Message& message) noexcept;
    bool look_at_channels() noexcept;
    bool has_ended(Message& message) noexcept;

    // Called when all messages of a start are complete, by a poll or by the thread that ended the last one.
    void end_round() noexcept;
    // The first error of the start.
    int result() const noexcept;
    int began_setup(int code, Request** request) noexcept;
    int make_message(int i, int first_tag, Elements elements) noexcept;

    Next<Partitioned, &Partitioned::end_round> _round;
    Next<Partitioned, &Partitioned::bind_messages> _after_bindings;
    int _taken = 0; // channels
    int _begun = 0; // messages whose binding has begun, or which stay with the pml
    int _ended = 0; // and those of them whose binding has ended
    // Messages carried by channels: published when all are bound.
    std::atomic<int> _channels{0};
    std::uint32_t _round_number = 0;
    // Protects what follows, and the messages under way that are carried by channels. It locks with one thread, too:
    // one that follows the thread level would need memory in every request.
    ProgressLock _looks{true};
    int _next_look = 0; // the first message of the round that may not have ended
    std::atomic<int> _start_error{MPI_SUCCESS};
    std::atomic<std::int32_t> _references{1}; // to the communicator: its own and those of the messages
    std::string _text;                        // of _failure
};

template <class Bounds>
int Partitioned::make_messages(int first_tag, const Bounds& bounds) noexcept {
    _messages.reset(new (std::nothrow) Message[std::size_t(_plan.messages)]);
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
