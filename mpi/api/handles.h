// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/api/args.h"
#include "object/origins.h"

namespace patchbay::api {

// Ends the way of an object to the program: the handle, which the program has to free. The reference that the caller
// holds belongs to the handle. Noted for the check `leaks`.
template <class T>
typename HandleTraits<T>::handle_type handle_of_new(const Arguments& args, const T* object) noexcept {
    const auto handle = to_handle(object);
    if (Origins* const origins = Origins::active(); origins != nullptr && !object->is_predefined()) [[unlikely]] {
        origins->add(handle, HandleTraits<T>::kind, args.function(), {});
    }
    return handle;
}

// Ends the construction of a communicator, which some members of its parent do not get (nullptr). `problem` is a text
// about `code`, or empty.
inline int give_handle(
    const Arguments& args, int code, Communicator* made, MPI_Comm* handle, std::string_view problem = {}) {
    *handle = code == MPI_SUCCESS && made != nullptr ? handle_of_new(args, made) : MPI_COMM_NULL;
    return code == MPI_SUCCESS ? code : args.fail(code, problem);
}

// Ends the construction of a group.
inline int give_handle(const Arguments& args, Ref<Group> group, MPI_Group* handle) noexcept {
    *handle = handle_of_new(args, group.detach());
    return MPI_SUCCESS;
}

// The program has freed this handle.
template <class Handle>
void note_freed(Handle handle) noexcept {
    if (Origins* const origins = Origins::active()) [[unlikely]] {
        origins->remove(handle);
    }
}

} // namespace patchbay::api
