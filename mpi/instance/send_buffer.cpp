// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/send_buffer.h"

#include "core/progress/waiter.h"
#include "mpi/instance/instance.h"
#include "object/convertor.h"
#include "object/error_cause.h"
#include "object/part_of_call.h"
#include "object/session.h"

#include <new>
#include <utility>

namespace patchbay {

SendBuffer::Message::Message(std::shared_ptr<SendBuffer> in, std::size_t bytes) noexcept
    : Continuation(in->_progress, &ReadyItem::call<Message, &Message::leave>),
      _buffer(std::move(in)),
      _size(bytes) {
    progress = &_buffer->_progress;
}

void SendBuffer::Message::follow() noexcept {
    set_active();
    open();
    _sending->attach(*this);
    if (close()) {
        collect();
        set_complete();
    }
}

// The message has left, or it is known whether it was cancelled.
void SendBuffer::Message::collect() noexcept {
    status = _sending->status;
    error = _sending->error;
    // No completing call of the program does so: with mpi_check, the watch over the memory ends here, because the
    // memory is the program's again when the message is not in the buffer.
    (void)_sending->finish(nullptr);
    if (std::exchange(_is_here, false)) {
        _buffer->remove(*this);
    }
}

void SendBuffer::Message::leave() noexcept {
    const std::shared_ptr<SendBuffer> buffer = _buffer; // which the message may be the last one to refer to
    const std::lock_guard lock(buffer->_mutex);
    collect();
    complete();
}

// A message that has left may still be unmatched at its destination.
int SendBuffer::Message::cancel() noexcept {
    const std::lock_guard lock(_buffer->_mutex);
    const int code = _sending->cancel();
    if (is_complete()) {
        follow();
    }
    return code;
}

int SendBuffer::Message::retire() noexcept {
    _sending->recycle();
    delete this;
    return MPI_SUCCESS;
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
    std::shared_ptr<SendBuffer>* used, Request** message) noexcept {
    int code = MPI_ERR_BUFFER;
    do {
        *used = find(comm);
    } while (*used != nullptr && !(*used)->try_send(data, count, type, dest, tag, comm, message, &code));
    if (code == MPI_ERR_BUFFER) {
        note_cause(code,
            *used == nullptr ? none_attached
                             : "the attached buffer has no room for the message; each message that is not complete "
                               "takes MPI_BSEND_OVERHEAD bytes more than its data");
    }
    return code;
}

bool SendBuffer::try_send(const void* data, MPI_Count count, const Datatype& type, int dest, int tag,
    Communicator& comm, Request** message, int* code) noexcept {
    Convertor convertor(type, count, data);
    const std::size_t size = convertor.total();
    std::unique_ptr<Message> made(new (std::nothrow) Message(shared_from_this(), size));
    if (made == nullptr || (is_automatic() && !made->allocate())) {
        *code = MPI_ERR_NO_MEM;
        return true;
    }
    for (int attempt = 0;; ++attempt) {
        std::unique_lock lock(_mutex);
        if (_detached) {
            return false;
        }
        if (place(*made)) {
            convertor.pack(memory_of(*made), size);
            const Datatype& packed = *to_object<Datatype>(MPI_PACKED);
            const PartOfCall part(PartOfCall::function_or("MPI_Bsend"), {memory_of(*made), &type, count});
            Request* sending = nullptr;
            *code = comm.pml->isend(
                memory_of(*made), MPI_Count(size), packed, dest, tag, pml::SendMode::standard, comm, &sending);
            if (*code == MPI_SUCCESS && sending->is_complete() && sending->error != MPI_SUCCESS) [[unlikely]] {
                *code = note_cause(sending->error, sending->cause()); // the program would not learn of it
                sending->recycle();
            }
            if (*code != MPI_SUCCESS) {
                remove(*made);
                return true;
            }
            Message& sent = *made.release();
            sent._sending = sending;
            sent.follow();
            lock.unlock();
            if (message != nullptr) {
                *message = &sent;
            } else {
                sent.recycle();
            }
            return true;
        }
        if (attempt == 1) {
            *code = MPI_ERR_BUFFER;
            return true;
        }
        lock.unlock();
        _progress.poll();    // may complete messages, which then leave the buffer
        _progress.quiesce(); // or another thread is about to do so
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

bool SendBuffer::Message::allocate() noexcept {
    _memory.reset(new (std::nothrow) std::byte[_size + 1]);
    return _memory != nullptr;
}

// First fit. The list is sorted by offset, so that each gap lies between two neighbours.
bool SendBuffer::place(Message& message) noexcept {
    if (!is_automatic()) {
        std::size_t start = 0;
        Message* after = _by_offset.first();
        for (; after != nullptr && after->_offset - start < message._size; after = _by_offset.next(*after)) {
            start = after->_offset + after->_size;
        }
        if (after == nullptr && std::size_t(_size) - start < message._size) {
            return false;
        }
        message._offset = start;
        _by_offset.insert_before(after, message);
    }
    message._number = _sent++;
    _by_number.push_back(message);
    message._is_here = true;
    return true;
}

void SendBuffer::remove(Message& message) noexcept {
    if (!is_automatic()) {
        _by_offset.erase(message);
    }
    _by_number.erase(message);
    while (!_waiters.empty() && completed_before(_waiters.first()->end)) {
        _waiters.pop_front()->request.complete();
    }
}

bool SendBuffer::completed_before(std::uint64_t end) const noexcept {
    return _by_number.empty() || _by_number.first()->_number >= end;
}

bool SendBuffer::add(FlushWaiter& waiter) noexcept {
    const std::lock_guard lock(_mutex);
    if (_by_number.empty()) {
        return false;
    }
    waiter.end = _sent;
    _waiters.push_back(waiter);
    return true;
}

void SendBuffer::flush() noexcept {
    std::unique_lock lock(_mutex);
    const std::uint64_t end = _sent;
    lock.unlock();
    wait_until(_progress, [this, end] {
        const std::lock_guard look(_mutex);
        return completed_before(end);
    });
}

} // namespace patchbay
