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

// The memory in which buffered sends wait (MPI-5.0, 3.6): what the program attached to a communicator or to the
// process, or memory of our own for MPI_BUFFER_AUTOMATIC. Thread-safe.
class SendBuffer {
public:
    // What a buffered send left behind: the message under way, shared by the buffer and the send's own request.
    struct Flight {
        Request* message;
        int owners;
    };

    // `base` may be MPI_BUFFER_AUTOMATIC; it is the program's memory until detach.
    SendBuffer(void* base, MPI_Count size, Progress& progress) noexcept
        : _base(base),
          _size(size),
          _progress(progress) {}
    // Forgets messages that are still under way: flush first where they matter.
    ~SendBuffer();

    void* base() const noexcept { return _base; }
    MPI_Count size() const noexcept { return _size; }

    // The buffer that serves sends on this communicator: its own, else that of its session, else that of the process;
    // null: none is attached.
    static std::shared_ptr<SendBuffer> serving(const Communicator& comm) noexcept;
    // The message is copied to that buffer and on its way when this returns. `used` gets the buffer. `flight`, when
    // asked for, keeps the message's request until drop(). MPI_ERR_BUFFER: no buffer, or no room.
    static int send(const void* data, MPI_Count count, const Datatype& type, int dest, int tag, Communicator& comm,
        std::shared_ptr<SendBuffer>* used, Flight** flight) noexcept;
    void drop(Flight* flight) noexcept;

    // Waits until all messages have left the buffer.
    void flush() noexcept;
    // Have all that were sent before this number left? See mark().
    bool left_before(std::uint64_t mark) noexcept;
    std::uint64_t mark() noexcept;

    // Takes the buffer from where it is attached, and waits until the program may have its memory back. False: somebody
    // else has done that.
    static bool detach(BufferAttachPoint& place, const std::shared_ptr<SendBuffer>& buffer) noexcept;
    // The same of the one that is there, if any.
    static void detach_from(BufferAttachPoint& place) noexcept;

private:
    struct Segment {
        std::size_t offset; // in the program's buffer
        std::size_t size;
        std::unique_ptr<std::byte[]> memory; // automatic buffers
        Flight* flight;
        std::uint64_t number;
    };

    // False: it has been detached since it was found.
    bool try_send(const void* data, MPI_Count count, const Datatype& type, int dest, int tag, Communicator& comm,
        Flight** flight, int* code) noexcept;
    bool is_automatic() const noexcept { return _base == MPI_BUFFER_AUTOMATIC; }
    Segment* find_room(std::size_t size);
    std::byte* memory_of(const Segment& segment) const noexcept {
        return segment.memory != nullptr ? segment.memory.get() : static_cast<std::byte*>(_base) + segment.offset;
    }
    void reclaim() noexcept;
    static void drop_one(Flight* flight) noexcept;

    void* const _base;
    const MPI_Count _size;
    Progress& _progress;
    std::mutex _mutex;
    std::list<Segment> _segments; // by offset
    std::uint64_t _sent = 0;
    bool _detached = false; // nothing may be written to it any more
};

// MPI_Ibsend and MPI_Bsend_init: complete as soon as it is started. Cancelling asks for the message back. Made with
// new; deletes itself.
// Errors: MPI_ERR_BUFFER, MPI_ERR_NO_MEM. Persistent ones are not started.
int make_buffered_request(const void* data, MPI_Count count, const Datatype& type, int dest, int tag,
    Communicator& comm, bool persistent, Request** request) noexcept;

// Complete when all that is in the buffer now has left it.
int make_flush_request(
    std::shared_ptr<SendBuffer> buffer, Progress& progress, Communicator* comm, Request** request) noexcept;

} // namespace patchbay
