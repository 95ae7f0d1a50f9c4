// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/handle.h"

#include <cstdint>

namespace patchbay {

// Whether there is an object of this kind at an address, which may be any bits that a program has passed as a handle.
//
// A handle is the address of its object, so that this reads memory that may not exist. The instruction that reads is
// listed in a section of its own; while the library handles faults (mpi/instance/handle_faults.h), a fault of it makes
// the result false. So the check of a valid handle costs no more than the comparison, and no table of objects is
// needed.
template <class T, ObjectKind wanted = HandleTraits<T>::kind>
[[gnu::always_inline]] inline bool is_object(const T* object) noexcept {
    // The kind is at the beginning of the base, which has another address than an object with virtual functions.
    constexpr std::uintptr_t aligned = 1 << 16;
    const auto offset = reinterpret_cast<std::uintptr_t>(static_cast<Object*>(reinterpret_cast<T*>(aligned))) - aligned;
    const auto* kind = reinterpret_cast<const ObjectKind*>(reinterpret_cast<std::uintptr_t>(object) + offset);
#if defined(__x86_64__)
    // An entry has the addresses of the instruction and of where a fault continues, each relative to its own place.
    // 'R': the linker keeps the entry, though nothing refers to it; lld drops it otherwise, bfd does not. '?': the
    // entry is discarded together with the function where another object file has the same inline function.
    asm inline goto("1: cmpl %1, %0\n"
                    "jne %l[other]\n"
                    ".pushsection patchbay_probes, \"aR?\"\n"
                    ".balign 4\n"
                    ".long 1b - .\n"
                    ".long %l[other] - .\n"
                    ".popsection"
                    :
                    : "m"(*kind), "i"(wanted)
                    : "cc"
                    : other);
    return true;
other:
    return false;
#else
    return *kind == wanted;
#endif
}

// As to_object(), and nullptr also for a handle whose object has been destroyed or is of another kind, and for bits
// that are no handle, as is_object() says. For the bindings, which get any bits. What stands behind a predefined handle
// comes from a table of the library, so that nothing is probed there.
template <class T>
[[gnu::always_inline]] inline T* probed_object(typename HandleTraits<T>::handle_type handle) noexcept {
    if (reinterpret_cast<std::uintptr_t>(handle) >= first_dynamic_handle) [[likely]] {
        T* object = reinterpret_cast<T*>(handle);
        return is_object(object) ? object : nullptr;
    }
    return to_object<T>(handle);
}

} // namespace patchbay
