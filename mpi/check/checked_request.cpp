// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/checked_request.h"

#include "object/origins.h"
#include "object/part_of_call.h"

namespace patchbay::check {

CheckedRequest::CheckedRequest(
    const Checks& checks, BufferCheck& buffers, Progress& waits, const MessageCall& call, bool is_persistent) noexcept
    : Continuation(waits, &ReadyItem::call<CheckedRequest, &CheckedRequest::end>),
      _checks(checks),
      _buffers(buffers),
      _call(call),
      _site(CallSite::here()),
      _type(Ref<Datatype>::share(const_cast<Datatype*>(call.type))) {
    belong_to(*call.comm);
    progress = &waits;
    persistent = is_persistent;
    calls_back = checks.buffers;
    Origins* const origins = Origins::active();
    // The bindings note a persistent one, and a request of several messages.
    if (origins != nullptr && !persistent && !PartOfCall::is_under_way()) {
        unless_exhausted([&] {
            origins->add(to_handle<Request>(this), ObjectKind::request, call.function, call.comm->describe());
            _noted = true;
        });
    }
}

int CheckedRequest::prepare() noexcept {
    if (!_checks.types) {
        return MPI_SUCCESS;
    }
    return _call.sends() ? _envelope.seal(_call.buffer, _call.count, *_call.type)
                         : _envelope.prepare(_call.buffer, _call.count, *_call.type);
}

void CheckedRequest::follow(Request& inner) noexcept {
    _inner = &inner;
    if (!persistent) {
        _buffers.begin(_use, _call, _site);
        watch();
    }
}

// One start of the pml's request is outstanding at a time, as of this one.
int CheckedRequest::start() noexcept {
    if (_inner->is_active()) {
        _inner->end_start();
    }
    _buffers.begin(_use, _call, _site);
    const int code = _inner->start();
    if (code != MPI_SUCCESS) {
        _buffers.give_up(_use);
        return code;
    }
    watch();
    return MPI_SUCCESS;
}

// A message that has left may still be unmatched at its destination: then its request is active again until the answer
// has come. A receive is complete within the call, and a thread that waits for it may have freed this object by then.
int CheckedRequest::cancel() noexcept {
    if (!_call.sends()) {
        return _inner->cancel();
    }
    const int code = _inner->cancel();
    if (is_complete()) {
        watch();
    }
    return code;
}

void CheckedRequest::watch() noexcept {
    _found = false;
    set_active();
    open();
    _inner->attach(*this);
    if (close()) {
        collect();
        set_complete();
    }
}

void CheckedRequest::end() noexcept {
    collect();
    complete();
}

void CheckedRequest::collect() noexcept {
    status = _inner->status;
    error = _inner->error;
    if (!_checks.types || _call.sends()) {
        return;
    }
    Envelope::shorten(status);
    if (error == MPI_SUCCESS && !status_cancelled(status)) {
        error = compare_types(_call, _site, _envelope.signature(), status);
        _found = error != MPI_SUCCESS;
    }
}

std::string_view CheckedRequest::cause() const noexcept {
    if (_found) {
        return printed_cause;
    }
    const std::string_view of_inner = _inner->cause();
    const bool is_enclosed = error == MPI_ERR_TRUNCATE && _checks.types;
    return is_enclosed && Envelope::shorten_cause() ? noted_cause(error) : of_inner;
}

void CheckedRequest::forget() noexcept {
    Origins* const origins = Origins::active();
    if (std::exchange(_noted, false) && origins != nullptr) {
        origins->remove(to_handle<Request>(this));
    }
}

// The program has freed the request and does not learn when it is complete.
void CheckedRequest::prepare_release() noexcept {
    forget();
    _buffers.give_up(_use);
}

int CheckedRequest::retire() noexcept {
    forget();
    _buffers.give_up(_use);
    const int code = _inner->recycle();
    delete this;
    return code;
}

} // namespace patchbay::check
