// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/tool/performance_variables.h"

#include <optional>

namespace patchbay::tool {

// The object behind the address of an MPI handle; nullopt: it is not a valid handle of the kind. Without a binding the
// address is ignored.
std::optional<BoundObject> bind(Binding binding, void* handle_address) noexcept;
// Whether it still exists. The program must not free it meanwhile.
bool exists(Binding binding, const BoundObject& bound) noexcept;
// Whether `object`, which exists, is the bound one, and no later one at its address.
bool is_same(Binding binding, const BoundObject& bound, const void* object) noexcept;

} // namespace patchbay::tool
