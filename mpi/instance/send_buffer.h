// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"
#include "object/datatype.h"
#include "object/request.h"

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

namespace [[gnu::visibility("default")]] patchbay {

// The memory that holds the messages of buffered sends (MPI-5.0, 3.6): a buffer that the program attached to a
// communicator, a session or the process, or memory of the library for MPI_BUFFER_AUTOMATIC. Thread-safe.
class SendBuffer {
public:
    // The message of a buffered send that is not complete. The buffer and the request of the buffered send share it.
    struct PendingSend {
        Request* message;
        int owners;
    };

    // `base` may be MPI_BUFFER_AUTOMATIC; otherwise the library uses that memory until the buffer is detached.
    SendBuffer(void* base, MPI_Count size, Progress& progress) noexcept
        : _base(base),
          _size(size),
          _progress(progress) {}
    // Does not wait for messages that are not complete: call flush() first where they must be sent.
    ~SendBuffer();

    void* base() const noexcept { return _base; }
    MPI_Count size() const noexcept { return _size; }

    // The buffer for sends on this communicator: that of the communicator, otherwise that of its session, otherwise
    // that of the process. null: none is attached.
    static std::shared_ptr<SendBuffer> find(const Communicator& comm) noexcept;
    // Copies the message to that buffer and starts to send it. *used is the buffer. `pending` may be null; otherwise
    // *pending keeps the message's request until release(). MPI_ERR_BUFFER: no buffer is attached, or it has too little
    // room.
    static int send(const void* data, MPI_Count count, const Datatype& type, int dest, int tag, Communicator& comm,
        std::shared_ptr<SendBuffer>* used, PendingSend** pending) noexcept;
    void release(PendingSend* pending) noexcept;

    // Waits until all messages have left the buffer.
    void flush() noexcept;
    // Whether all messages with a lower number than `end` have left the buffer.
    bool completed_before(std::uint64_t end) noexcept;
    // The number that the next message gets.
    std::uint64_t next_number() noexcept;

    // Detaches the buffer, and waits until no message uses the program's memory. false: another thread has detached it.
    static bool detach(BufferAttachPoint& place, const std::shared_ptr<SendBuffer>& buffer) noexcept;
    // Detaches the buffer that is attached to `place`, if there is one.
    static void detach_from(BufferAttachPoint& place) noexcept;

private:
    struct Segment {
        std::size_t offset; // in the program's buffer
        std::size_t size;
        std::unique_ptr<std::byte[]> memory; // automatic buffers
        PendingSend* pending;
        std::uint64_t number;
    };

    // false: the buffer has been detached since it was found.
    bool try_send(const void* data, MPI_Count count, const Datatype& type, int dest, int tag, Communicator& comm,
        PendingSend** pending, int* code) noexcept;
    bool is_automatic() const noexcept { return _base == MPI_BUFFER_AUTOMATIC; }
    Segment* find_room(std::size_t size);
    std::byte* memory_of(const Segment& segment) const noexcept {
        return segment.memory != nullptr ? segment.memory.get() : static_cast<std::byte*>(_base) + segment.offset;
    }
    void reclaim() noexcept;
    static void release_one(PendingSend* pending) noexcept;

    void* const _base;
    const MPI_Count _size;
    Progress& _progress;
    std::mutex _mutex;
    std::list<Segment> _segments; // by offset
    std::uint64_t _sent = 0;
    bool _detached = false; // then nothing may be written to the memory any more
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
