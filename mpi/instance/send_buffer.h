// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/list.h"
#include "object/communicator.h"
#include "object/datatype.h"
#include "object/request.h"

#include <cstddef>
#include <memory>
#include <mutex>

namespace [[gnu::visibility("default")]] patchbay {

// The memory that holds the messages of buffered sends (MPI-5.0, 3.6): a buffer that the program attached to a
// communicator, a session or the process, or memory of the library for MPI_BUFFER_AUTOMATIC. Thread-safe.
class SendBuffer : public std::enable_shared_from_this<SendBuffer> {
public:
    // A message in a buffer: a request that completes when the message has left the buffer. Its user is the request of
    // the buffered send, if there is one.
    class Message final : public Request, public Continuation {
    public:
        Message(std::shared_ptr<SendBuffer> in, std::size_t bytes) noexcept;
        int start() noexcept override { return MPI_ERR_REQUEST; } // never persistent
        int cancel() noexcept override;
        int retire() noexcept override;
        std::int32_t references_to_comm() const noexcept override { return _sending->references_to_comm(); }

        Link<Message> by_offset;
        Link<Message> by_number;

    private:
        friend class SendBuffer;
        bool allocate() noexcept; // for an automatic buffer; false: out of memory
        // Called with the buffer's lock held.
        void follow() noexcept;
        void collect() noexcept;
        void leave() noexcept;

        const std::shared_ptr<SendBuffer> _buffer;
        std::size_t _offset = 0; // in the program's memory
        const std::size_t _size;
        std::unique_ptr<std::byte[]> _memory; // of an automatic buffer
        std::uint64_t _number = 0;
        bool _is_here = false;       // in the lists of the buffer
        Request* _sending = nullptr; // of the pml; kept until it cannot be cancelled any more
    };
    // Completes `request` when all messages with a lower number than `end` have left the buffer.
    struct FlushWaiter {
        Request& request;
        std::uint64_t end = 0;
        Link<FlushWaiter> link{};
    };

    // `base` may be MPI_BUFFER_AUTOMATIC; otherwise the library uses that memory until the buffer is detached.
    SendBuffer(void* base, MPI_Count size, Progress& progress) noexcept
        : _base(base),
          _size(size),
          _progress(progress) {}

    void* base() const noexcept { return _base; }
    MPI_Count size() const noexcept { return _size; }

    static constexpr char none_attached[] = "no buffer is attached to the communicator, its session or the process";

    // The buffer for sends on this communicator: that of the communicator, otherwise that of its session, otherwise
    // that of the process. null: none is attached.
    static std::shared_ptr<SendBuffer> find(const Communicator& comm) noexcept;
    // Copies the message to that buffer and starts to send it. *used is the buffer. `message` may be null; otherwise
    // the caller is the user of *message. MPI_ERR_BUFFER: no buffer is attached, or it has too little room; the cause
    // is noted.
    static int send(const void* data, MPI_Count count, const Datatype& type, int dest, int tag, Communicator& comm,
        std::shared_ptr<SendBuffer>* used, Request** message) noexcept;

    // Waits until all messages have left the buffer.
    void flush() noexcept;
    // Adds a waiter for the messages that are in the buffer now; its request is active. false: there are none.
    bool add(FlushWaiter& waiter) noexcept;

    // Detaches the buffer, and waits until no message uses the program's memory. false: another thread has detached it.
    static bool detach(BufferAttachPoint& place, const std::shared_ptr<SendBuffer>& buffer) noexcept;
    // Detaches the buffer that is attached to `place`, if there is one.
    static void detach_from(BufferAttachPoint& place) noexcept;

private:
    friend class Message;

    // false: the buffer has been detached since it was found.
    bool try_send(const void* data, MPI_Count count, const Datatype& type, int dest, int tag, Communicator& comm,
        Request** message, int* code) noexcept;
    bool is_automatic() const noexcept { return _base == MPI_BUFFER_AUTOMATIC; }
    bool place(Message& message) noexcept;
    std::byte* memory_of(const Message& message) const noexcept {
        return is_automatic() ? message._memory.get() : static_cast<std::byte*>(_base) + message._offset;
    }
    void remove(Message& message) noexcept;
    bool completed_before(std::uint64_t end) const noexcept;

    void* const _base;
    const MPI_Count _size;
    Progress& _progress;
    std::mutex _mutex;
    // The messages in the buffer, each of which has a reference to it.
    List<Message, &Message::by_offset> _by_offset; // those in the program's memory
    List<Message, &Message::by_number> _by_number;
    List<FlushWaiter, &FlushWaiter::link> _waiters; // by `end`
    std::uint64_t _sent = 0;                        // number of the next message
    bool _detached = false;                         // then nothing may be written to the memory any more
};

// Makes the request of MPI_Ibsend or MPI_Bsend_init. It is complete as soon as it is started; MPI_Cancel cancels the
// message in the buffer. It is allocated with new and deletes itself. A persistent request is not started.
// Errors: MPI_ERR_BUFFER, MPI_ERR_NO_MEM.
int make_buffered_request(const void* data, MPI_Count count, const Datatype& type, int dest, int tag,
    Communicator& comm, bool persistent, Request** request) noexcept;

// Makes a request that completes when all messages that are in the buffer now have left it.
int make_flush_request(
    std::shared_ptr<SendBuffer> buffer, Progress& progress, Communicator* comm, Request** request) noexcept;

} // namespace patchbay
