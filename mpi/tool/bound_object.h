// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/tool/performance_variables.h"

#include <mutex>
#include <optional>

namespace patchbay::tool {

// The object behind the address of an MPI handle; nullopt: it is not a valid handle of the kind. Without a binding the
// address is ignored.
std::optional<BoundObject> bind(Binding binding, void* handle_address) noexcept;
// While this is held, an object that exists goes on to do so. No lock for Binding::none.
std::unique_lock<std::mutex> hold_objects(Binding binding) noexcept;
// Whether it still exists; with hold_objects().
bool exists(Binding binding, const BoundObject& bound) noexcept;
// Whether `object`, which exists, is the bound one, and no later one at its address.
bool is_same(Binding binding, const BoundObject& bound, const void* object) noexcept;

} // namespace patchbay::tool
