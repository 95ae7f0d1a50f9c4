// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/requests.h"

#include "components/pml/ob1/module.h"

namespace patchbay::pml::ob1 {

Ob1Request::Ob1Request(Ob1& module, const void* buffer, MPI_Count count, const Datatype& type, int tag,
    Communicator& communicator) noexcept
    : module(module),
      buffer(const_cast<void*>(buffer)),
      count(count),
      type(&type),
      bytes(std::size_t(count) * std::size_t(type.size)),
      tag(tag) {
    belong_to(communicator);
    progress = &module.progress();
}

void Ob1Request::hold() noexcept {
    holding = true;
    if (!type->is_predefined()) {
        const_cast<Datatype*>(type)->retain();
    }
    holds_comm = !comm->is_predefined();
    if (holds_comm) {
        comm->retain(progress->threaded());
    }
}

// MPI_Finalize destroys the predefined communicators, which are not counted: the request may be retired after that.
void Ob1Request::drop() noexcept {
    holding = false;
    if (!type->is_predefined()) {
        Ref<Datatype>::adopt(const_cast<Datatype*>(type)).reset();
    }
    if (!holds_comm) {
        return;
    }
    bool last = false;
    progress->with_thread_level([&](bool threaded) {
        if (counted) {
            comm->remove_complete_reference(threaded);
        }
        last = comm->release(threaded);
    });
    if (last) {
        Communicator::destroy(comm);
    }
}

bool Ob1Request::bound(pml::PersistentRequest* what) const noexcept {
    *what = {buffer, count, type, bound_peer(), tag, bound_mode()};
    return persistent;
}

std::string_view Ob1Request::cause() const noexcept {
    return module.failure_text(*comm, error);
}

std::string_view SendRequest::cause() const noexcept {
    const std::string_view text =
        error == MPI_ERR_OTHER && peer == nullptr ? module.note_unreachable(*this) : std::string_view();
    return text.empty() ? Ob1Request::cause() : text;
}

std::string_view RecvRequest::cause() const noexcept {
    return error == MPI_ERR_TRUNCATE ? noted_cause(result()) : Ob1Request::cause();
}

int SendRequest::start() noexcept {
    return module.restart(*this);
}
int SendRequest::cancel() noexcept {
    return module.cancel(*this);
}
int SendRequest::retire() noexcept {
    module.retire(*this);
    return MPI_SUCCESS;
}

int RecvRequest::start() noexcept {
    return module.restart(*this);
}
int RecvRequest::cancel() noexcept {
    return module.cancel(*this);
}
int RecvRequest::retire() noexcept {
    module.retire(*this);
    return MPI_SUCCESS;
}

} // namespace patchbay::pml::ob1
