// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#if defined(__x86_64__) && !defined(__clang__) // which does not know the _Bool of this header in C++
#include <sys/platform/x86.h>
#endif

namespace patchbay {

// Whether the processor has vectors of 32 bytes, and the system saves them: by what the loader has found. A library
// that uses __builtin_cpu_supports() executes a dozen CPUID instructions of its own when it is loaded, which take some
// microseconds each in a virtual machine.
inline bool processor_has_avx2() noexcept {
#if defined(__x86_64__) && defined(__clang__)
    return __builtin_cpu_supports("avx2") != 0;
#elif defined(__x86_64__)
    return CPU_FEATURE_ACTIVE(AVX2);
#else
    return false;
#endif
}

} // namespace patchbay
