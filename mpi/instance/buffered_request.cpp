// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/progress.h"
#include "mpi/instance/instance.h"
#include "mpi/instance/send_buffer.h"
#include "object/origins.h"
#include "object/part_of_call.h"

#include <new>
#include <utility>

namespace patchbay {

namespace {

class BufferedRequest final : public Request, public Continuation {
public:
    BufferedRequest(const void* data, MPI_Count count, const Datatype& type, int dest, int tag, Communicator& on,
        bool is_persistent) noexcept
        : Continuation(on.instance->progress(), &ReadyItem::call<BufferedRequest, &BufferedRequest::end_cancel>),
          _data(data),
          _count(count),
          _dest(dest),
          _tag(tag),
          _comm(Ref<Communicator>::share(&on)),
          _type(Ref<Datatype>::share(const_cast<Datatype*>(&type))) {
        belong_to(on);
        progress = &on.instance->progress();
        persistent = is_persistent;
    }

    OriginNote note; // of one that is not persistent

    int start() noexcept override {
        release_message();
        set_status_cancelled(status, false);
        std::shared_ptr<SendBuffer> buffer;
        const PartOfCall part(persistent ? "MPI_Bsend_init" : "MPI_Ibsend");
        const int code = SendBuffer::send(_data, _count, *_type, _dest, _tag, *_comm, &buffer, &_message);
        if (code == MPI_SUCCESS) {
            note_complete();
            set_complete();
        }
        return code;
    }

    // A request of a buffered send is complete, but its message may not have been received yet. Then the message can be
    // cancelled, and the request is incomplete until it is known whether the cancellation succeeded.
    int cancel() noexcept override {
        if (_message == nullptr || !is_complete()) {
            return MPI_SUCCESS;
        }
        const int code = _message->cancel();
        _complete_reference.clear();
        set_active();
        open();
        _message->attach(*this);
        if (close()) {
            collect();
            note_complete();
            set_complete();
        }
        return code;
    }
    bool bound(pml::PersistentRequest* what) const noexcept override {
        *what = {const_cast<void*>(_data), _count, &*_type, _dest, _tag, pml::SendMode::buffered};
        return persistent;
    }
    std::int32_t references_to_comm() const noexcept override {
        return 1 + (_message != nullptr ? _message->references_to_comm() : 0);
    }
    int retire() noexcept override {
        release_message();
        delete this;
        return MPI_SUCCESS;
    }

private:
    void collect() noexcept { set_status_cancelled(status, status_cancelled(_message->status)); }
    void end_cancel() noexcept {
        collect();
        note_complete();
        complete();
    }
    void note_complete() noexcept {
        if (!persistent) {
            _complete_reference.set(*_comm);
        }
    }
    void release_message() noexcept {
        if (_message != nullptr) {
            std::exchange(_message, nullptr)->recycle();
        }
    }

    const void* const _data;
    const MPI_Count _count;
    const int _dest;
    const int _tag;
    const Ref<Communicator> _comm;
    CompleteReference _complete_reference; // that one, of a request that is not persistent
    const Ref<Datatype> _type;
    Request* _message = nullptr; // in the buffer
};

class FlushRequest final : public Request {
public:
    FlushRequest(std::shared_ptr<SendBuffer> buffer, Progress& waits, Communicator* on) noexcept
        : _buffer(std::move(buffer)),
          _comm(Ref<Communicator>::share(on)) {
        if (on != nullptr) {
            belong_to(*on);
            _complete_reference.set(*on); // the buffer sends the messages, whose own requests are waited for
        }
        progress = &waits;
        set_active();
        if (!_buffer->add(_waiter)) {
            set_complete();
        }
    }
    int start() noexcept override { return MPI_ERR_REQUEST; } // never persistent
    int cancel() noexcept override { return MPI_SUCCESS; }

private:
    int retire() noexcept override {
        delete this;
        return MPI_SUCCESS;
    }

    const std::shared_ptr<SendBuffer> _buffer;
    const Ref<Communicator> _comm;
    CompleteReference _complete_reference; // that one
    SendBuffer::FlushWaiter _waiter{*this};
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
        made->retire();
        return code;
    }
    if (!persistent) { // the bindings note a persistent one
        made->note.add_request(*made, "MPI_Ibsend", comm);
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
