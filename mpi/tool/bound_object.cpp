// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/tool/bound_object.h"

#include "mpi/instance/instance.h"
#include "mpi/instance/observed_instance.h"
#include "object/probed_handle.h"
#include "object/session.h"

namespace patchbay::tool {

std::optional<BoundObject> bind(Binding binding, void* handle_address) noexcept {
    if (binding == Binding::none) {
        return BoundObject{};
    }
    // Without an instance there is no object, and a handle that is no address must not be read (survive_handle_faults).
    if (handle_address == nullptr || ObservedInstance::get() == nullptr) {
        return std::nullopt;
    }
    if (binding == Binding::communicator) {
        const Communicator* comm = probed_object<Communicator>(*static_cast<MPI_Comm*>(handle_address));
        // One whose ranks are threads is in no list in which exists() could find it.
        return comm == nullptr || comm->view != nullptr
            ? std::nullopt
            : std::optional(BoundObject{comm, comm->serial(), comm->index, {}});
    }
    Session* session = probed_object<Session>(*static_cast<MPI_Session*>(handle_address));
    return session == nullptr ? std::nullopt : std::optional(BoundObject{session, 0, 0, Session::id(session)});
}

std::unique_lock<std::mutex> hold_objects(Binding binding) noexcept {
    return binding == Binding::none ? std::unique_lock<std::mutex>() : std::unique_lock(bound_objects_mutex());
}

bool exists(Binding binding, const BoundObject& bound) noexcept {
    Instance* instance = ObservedInstance::get();
    switch (binding) {
    case Binding::none:
        return true;
    case Binding::communicator:
        if (const Communicator* there = instance == nullptr ? nullptr : instance->communicators().find(bound.index)) {
            return !there->is_ending && is_same(binding, bound, there);
        }
        return false;
    case Binding::session:
        return instance != nullptr && instance->is_open(bound.session);
    }
    return false;
}

bool is_same(Binding binding, const BoundObject& bound, const void* object) noexcept {
    if (bound.object != object) {
        return false;
    }
    switch (binding) {
    case Binding::none:
        return true;
    case Binding::communicator:
        return static_cast<const Communicator*>(object)->serial() == bound.serial;
    case Binding::session:
        return Session::id(const_cast<Session*>(static_cast<const Session*>(object))) == bound.session;
    }
    return false;
}

} // namespace patchbay::tool
