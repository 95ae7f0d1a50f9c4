// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstddef>
#include <cstring>

namespace patchbay {

// The representation of Fortran's .true. and .false. in LOGICALs of one size, which a Fortran layer registers
// (MPI_Abi_set_fortran_booleans, MPI-5.0, 20.2.3). Reductions and external32 use it. LOGICALs of other sizes, and all
// of them until then, are as in C: 0 is false, and the result of a reduction is 0 or 1. Thread-safe.
class FortranLogicals {
public:
    template <class T>
    struct Values {
        T yes;
        T no; // all other values are true
    };

    // Once; false: they are registered already.
    static bool set(std::size_t size, const void* yes, const void* no) noexcept;
    // Of a registered LOGICAL; 0: none is.
    static std::size_t size() noexcept { return _size.load(std::memory_order_acquire); }
    static const std::byte* yes() noexcept { return _yes; }
    static const std::byte* no() noexcept { return _no; }

    template <class T>
    static Values<T> values() noexcept {
        Values<T> all{1, 0};
        if (size() == sizeof(T)) {
            std::memcpy(&all.yes, _yes, sizeof(T));
            std::memcpy(&all.no, _no, sizeof(T));
        }
        return all;
    }

private:
    static constexpr std::size_t largest = 16;
    static std::atomic<std::size_t> _size; // written last
    static std::byte _yes[largest];
    static std::byte _no[largest];
};

} // namespace patchbay
