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
        if (--segment.pending->owners == 0) {
            delete segment.pending;
        }
    }
}

std::shared_ptr<SendBuffer> SendBuffer::find(const Communicator& comm) noexcept {
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
    std::shared_ptr<SendBuffer>* used, PendingSend** pending) noexcept {
    int code = MPI_ERR_BUFFER;
    do {
        *used = find(comm);
    } while (*used != nullptr && !(*used)->try_send(data, count, type, dest, tag, comm, pending, &code));
    return code;
}

bool SendBuffer::try_send(const void* data, MPI_Count count, const Datatype& type, int dest, int tag,
    Communicator& comm, PendingSend** pending, int* code) noexcept {
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
                comm, &segment->pending->message);
            if (*code != MPI_SUCCESS) {
                delete segment->pending;
                _segments.remove_if([&](const Segment& other) { return &other == segment; });
            } else if (pending != nullptr) {
                *pending = segment->pending;
                ++segment->pending->owners;
            }
            return true;
        }
        if (attempt == 1) {
            *code = MPI_ERR_BUFFER;
            return true;
        }
        lock.unlock();
        _progress.poll(); // may complete messages, whose space reclaim() then frees
    }
}

bool SendBuffer::detach(BufferAttachPoint& place, const std::shared_ptr<SendBuffer>& buffer) noexcept {
    if (!place.detach(buffer)) {
        return false;
    }
    // Another thread may have found this buffer before, and may be about to copy a message to it.
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

// First fit. The list is sorted by offset, so that each gap lies between two neighbours.
SendBuffer::Segment* SendBuffer::find_room(std::size_t size) {
    std::unique_ptr<PendingSend> pending(new PendingSend{nullptr, 1});
    if (is_automatic()) {
        std::unique_ptr<std::byte[]> memory(new std::byte[size + 1]);
        _segments.push_back({0, size, std::move(memory), pending.release(), _sent++});
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
    return &*_segments.insert(before, {start, size, nullptr, pending.release(), _sent++});
}

void SendBuffer::reclaim() noexcept {
    for (auto segment = _segments.begin(); segment != _segments.end();) {
        if (!segment->pending->message->is_complete()) {
            ++segment;
            continue;
        }
        release_one(segment->pending);
        segment = _segments.erase(segment);
    }
}

void SendBuffer::release_one(PendingSend* pending) noexcept {
    if (--pending->owners == 0) {
        pending->message->recycle();
        delete pending;
    }
}

void SendBuffer::release(PendingSend* pending) noexcept {
    std::lock_guard lock(_mutex);
    release_one(pending);
}

std::uint64_t SendBuffer::next_number() noexcept {
    std::lock_guard lock(_mutex);
    return _sent;
}

bool SendBuffer::completed_before(std::uint64_t end) noexcept {
    std::lock_guard lock(_mutex);
    reclaim();
    return std::none_of(
        _segments.begin(), _segments.end(), [end](const Segment& segment) { return segment.number < end; });
}

void SendBuffer::flush() noexcept {
    wait_until(_progress, [this, end = next_number()] { return completed_before(end); });
}

} // namespace patchbay
