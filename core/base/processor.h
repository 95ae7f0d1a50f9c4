// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#if defined(__x86_64__) && !defined(__clang__) // which does not know the _Bool of this header in C++
#include <sys/platform/x86.h>
#endif

namespace patchbay {

// Whether the processor has vectors of 32 bytes, and the system saves them. The loader has asked the processor already.
// __builtin_cpu_supports() asks it again, in each library that is loaded: a dozen CPUID instructions, of which a
// virtual machine's take some microseconds each.
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
