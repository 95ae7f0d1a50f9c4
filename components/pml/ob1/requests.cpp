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
    if (!comm->is_predefined()) {
        comm->retain();
    }
}

void Ob1Request::let_go() noexcept {
    if (!holding) {
        return;
    }
    holding = false;
    if (!type->is_predefined()) {
        Ref<Datatype>::adopt(const_cast<Datatype*>(type)).reset();
    }
    if (!comm->is_predefined()) {
        Ref<Communicator>::adopt(comm).reset();
    }
}

std::string_view Ob1Request::cause() const noexcept {
    return module.failure_text(*comm, error);
}

void Ob1Request::complete_abandoned() noexcept {
    module.complete_abandoned(*this);
}

int SendRequest::start() noexcept {
    return module.restart(*this);
}
int SendRequest::cancel() noexcept {
    return module.cancel(*this);
}
void SendRequest::recycle() noexcept {
    module.recycle(*this);
}

int RecvRequest::start() noexcept {
    return module.restart(*this);
}
int RecvRequest::cancel() noexcept {
    return module.cancel(*this);
}
void RecvRequest::recycle() noexcept {
    module.recycle(*this);
}

} // namespace patchbay::pml::ob1
