// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/progress.h"
#include "mpi/instance/instance.h"
#include "mpi/instance/send_buffer.h"
#include "object/polled_request.h"

#include <new>

namespace patchbay {

namespace {

class BufferedRequest final : public PolledRequest {
public:
    BufferedRequest(const void* data, MPI_Count count, const Datatype& type, int dest, int tag, Communicator& on,
        bool is_persistent) noexcept
        : PolledRequest(on.instance->progress()),
          _data(data),
          _count(count),
          _dest(dest),
          _tag(tag),
          _comm(Ref<Communicator>::share(&on)),
          _type(Ref<Datatype>::share(const_cast<Datatype*>(&type))) {
        belong_to(on);
        persistent = is_persistent;
    }
    ~BufferedRequest() override { release_pending(); }

    int start() noexcept override {
        release_pending();
        set_status_cancelled(status, false);
        const int code = SendBuffer::send(_data, _count, *_type, _dest, _tag, *_comm, &_buffer, &_pending);
        if (code == MPI_SUCCESS) {
            set_complete();
        }
        return code;
    }

    // A request of a buffered send is complete, but its message may not have been received yet. Then the message can be
    // cancelled, and the request is incomplete until it is known whether the cancellation succeeded.
    int cancel() noexcept override {
        if (_pending == nullptr) {
            return MPI_SUCCESS;
        }
        const int code = _pending->message->cancel();
        watch();
        return code;
    }

private:
    bool finished() noexcept override {
        if (!_pending->message->is_complete()) {
            return false;
        }
        set_status_cancelled(status, status_cancelled(_pending->message->status));
        return true;
    }
    void release_pending() noexcept {
        if (_pending != nullptr) {
            _buffer->release(_pending);
            _pending = nullptr;
        }
    }

    const void* const _data;
    const MPI_Count _count;
    const int _dest;
    const int _tag;
    const Ref<Communicator> _comm;
    const Ref<Datatype> _type;
    std::shared_ptr<SendBuffer> _buffer; // of _pending
    SendBuffer::PendingSend* _pending = nullptr;
};

class FlushRequest final : public PolledRequest {
public:
    FlushRequest(std::shared_ptr<SendBuffer> buffer, Progress& waits, Communicator* on) noexcept
        : PolledRequest(waits),
          _buffer(std::move(buffer)),
          _end(_buffer->next_number()),
          _comm(Ref<Communicator>::share(on)) {
        if (on != nullptr) {
            belong_to(*on);
        }
        watch();
    }

private:
    bool finished() noexcept override { return _buffer->completed_before(_end); }

    const std::shared_ptr<SendBuffer> _buffer;
    const std::uint64_t _end;
    const Ref<Communicator> _comm;
};

} // namespace

int make_buffered_request(const void* data, MPI_Count count, const Datatype& type, int dest, int tag,
    Communicator& comm, bool persistent, Request** request) noexcept {
    auto* made = new (std::nothrow) BufferedRequest(data, count, type, dest, tag, comm, persistent);
    if (made == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    const int code = persistent ? MPI_SUCCESS : made->start();
    if (code != MPI_SUCCESS) {
        made->recycle();
        return code;
    }
    *request = made;
    return MPI_SUCCESS;
}

int make_flush_request(
    std::shared_ptr<SendBuffer> buffer, Progress& progress, Communicator* comm, Request** request) noexcept {
    *request = new (std::nothrow) FlushRequest(std::move(buffer), progress, comm);
    return *request != nullptr ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

} // namespace patchbay
