// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/window.h"

#include <span>
#include <type_traits>

namespace patchbay {

// Collectives of the members of a window, over its communicator. They block.

// The highest of the codes that the members pass, so that all succeed or fail together.
int code_of_all(Communicator& comm, int code) noexcept;
// The same, and `any` becomes true in all members if one of them passes true.
int code_of_all(Communicator& comm, int code, bool& any) noexcept;
int barrier(Communicator& comm) noexcept;

int gather_bytes(Communicator& comm, const void* own, void* all, std::size_t bytes) noexcept;
int broadcast_bytes(Communicator& comm, void* value, std::size_t bytes) noexcept; // of rank 0

// `all` has room for one value of each member.
template <class T>
int gather(Communicator& comm, const T& own, std::span<T> all) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    return gather_bytes(comm, &own, all.data(), sizeof(T));
}
template <class T>
int broadcast(Communicator& comm, T& value) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    return broadcast_bytes(comm, &value, sizeof(T));
}

} // namespace patchbay
