// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/send_buffer.h"

#include "core/progress/waiter.h"
#include "mpi/instance/instance.h"
#include "object/convertor.h"
#include "object/session.h"

#include <algorithm>
#include <new>

namespace patchbay {

SendBuffer::~SendBuffer() {
    for (Segment& segment : _segments) {
        if (--segment.flight->owners == 0) {
            delete segment.flight;
        }
    }
}

std::shared_ptr<SendBuffer> SendBuffer::serving(const Communicator& comm) noexcept {
    if (auto buffer = comm.send_buffer.get(); buffer != nullptr) {
        return buffer;
    }
    if (comm.session != nullptr) {
        if (auto buffer = comm.session->send_buffer.get(); buffer != nullptr) {
            return buffer;
        }
    }
    return comm.instance->send_buffer().get();
}

int SendBuffer::send(const void* data, MPI_Count count, const Datatype& type, int dest, int tag, Communicator& comm,
    std::shared_ptr<SendBuffer>* used, Flight** flight) noexcept {
    int code = MPI_ERR_BUFFER;
    do {
        *used = serving(comm);
    } while (*used != nullptr && !(*used)->try_send(data, count, type, dest, tag, comm, flight, &code));
    return code;
}

bool SendBuffer::try_send(const void* data, MPI_Count count, const Datatype& type, int dest, int tag,
    Communicator& comm, Flight** flight, int* code) noexcept {
    Convertor convertor(type, count, data);
    const std::size_t size = convertor.total();
    for (int attempt = 0;; ++attempt) {
        std::unique_lock lock(_mutex);
        if (_detached) {
            return false;
        }
        reclaim();
        Segment* segment = nullptr;
        try {
            segment = find_room(size);
        } catch (const std::bad_alloc&) {
            *code = MPI_ERR_NO_MEM;
            return true;
        }
        if (segment != nullptr) {
            convertor.pack(memory_of(*segment), size);
            const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
            *code = comm.pml->isend(memory_of(*segment), MPI_Count(size), byte, dest, tag, pml::SendMode::standard,
                comm, &segment->flight->message);
            if (*code != MPI_SUCCESS) {
                delete segment->flight;
                _segments.remove_if([&](const Segment& other) { return &other == segment; });
            } else if (flight != nullptr) {
                *flight = segment->flight;
                ++segment->flight->owners;
            }
            return true;
        }
        if (attempt == 1) {
            *code = MPI_ERR_BUFFER;
            return true;
        }
        lock.unlock();
        _progress.poll(); // perhaps something has left that nobody has noticed yet
    }
}

bool SendBuffer::detach(BufferAttachPoint& place, const std::shared_ptr<SendBuffer>& buffer) noexcept {
    if (!place.detach(buffer)) {
        return false;
    }
    // Another thread may have found it before, and be about to copy a message to it.
    std::unique_lock lock(buffer->_mutex);
    buffer->_detached = true;
    lock.unlock();
    buffer->flush();
    return true;
}

void SendBuffer::detach_from(BufferAttachPoint& place) noexcept {
    if (const auto buffer = place.get(); buffer != nullptr) {
        detach(place, buffer);
    }
}

// First fit. The list is in order of place, so that gaps are seen between neighbours.
SendBuffer::Segment* SendBuffer::find_room(std::size_t size) {
    std::unique_ptr<Flight> flight(new Flight{nullptr, 1});
    if (is_automatic()) {
        std::unique_ptr<std::byte[]> memory(new std::byte[size + 1]);
        _segments.push_back({0, size, std::move(memory), flight.release(), _sent++});
        return &_segments.back();
    }
    std::size_t start = 0;
    auto before = _segments.begin();
    for (; before != _segments.end(); ++before) {
        if (before->offset - start >= size) {
            break;
        }
        start = before->offset + before->size;
    }
    if (before == _segments.end() && std::size_t(_size) - start < size) {
        return nullptr;
    }
    return &*_segments.insert(before, {start, size, nullptr, flight.release(), _sent++});
}

void SendBuffer::reclaim() noexcept {
    for (auto segment = _segments.begin(); segment != _segments.end();) {
        if (!segment->flight->message->is_complete()) {
            ++segment;
            continue;
        }
        drop_one(segment->flight);
        segment = _segments.erase(segment);
    }
}

void SendBuffer::drop_one(Flight* flight) noexcept {
    if (--flight->owners == 0) {
        flight->message->recycle();
        delete flight;
    }
}

void SendBuffer::drop(Flight* flight) noexcept {
    std::lock_guard lock(_mutex);
    drop_one(flight);
}

std::uint64_t SendBuffer::mark() noexcept {
    std::lock_guard lock(_mutex);
    return _sent;
}

bool SendBuffer::left_before(std::uint64_t mark) noexcept {
    std::lock_guard lock(_mutex);
    reclaim();
    return std::none_of(
        _segments.begin(), _segments.end(), [mark](const Segment& segment) { return segment.number < mark; });
}

void SendBuffer::flush() noexcept {
    wait_until(_progress, [this, end = mark()] { return left_before(end); });
}

} // namespace patchbay
