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

// The program has freed this handle.
template <class Handle>
void note_freed(Handle handle) noexcept {
    if (Origins* const origins = Origins::active()) [[unlikely]] {
        origins->remove(handle);
    }
}

} // namespace patchbay::api
