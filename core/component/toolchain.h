// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef> // defines the macros of the C++ library

namespace [[gnu::visibility("default")]] patchbay {

#define PATCHBAY_STRINGIZE_(x) #x
#define PATCHBAY_STRINGIZE(x) PATCHBAY_STRINGIZE_(x)

// What decides the layout of the C++ library's classes and of our own, besides the headers: a component and the library
// must have the same.
#if defined(__GLIBCXX__)
#define PATCHBAY_CXX_LIBRARY "libstdc++-cxx11abi" PATCHBAY_STRINGIZE(_GLIBCXX_USE_CXX11_ABI)
#elif defined(_LIBCPP_VERSION)
#define PATCHBAY_CXX_LIBRARY "libc++-abi" PATCHBAY_STRINGIZE(_LIBCPP_ABI_VERSION)
#else
#define PATCHBAY_CXX_LIBRARY "unknown-library"
#endif
// Containers and iterators have other members.
#ifdef _GLIBCXX_DEBUG
#define PATCHBAY_CXX_DEBUG ";_GLIBCXX_DEBUG"
#else
#define PATCHBAY_CXX_DEBUG ""
#endif
// std::vector marks its unused memory, and a vector that passes into code without that is reported.
#ifdef _GLIBCXX_SANITIZE_VECTOR
#define PATCHBAY_CXX_ANNOTATED ";_GLIBCXX_SANITIZE_VECTOR"
#else
#define PATCHBAY_CXX_ANNOTATED ""
#endif
// Without exceptions a component cannot let those of the C++ library pass through it.
#ifdef __cpp_exceptions
#define PATCHBAY_EXCEPTIONS ""
#else
#define PATCHBAY_EXCEPTIONS ";-fno-exceptions"
#endif

inline constexpr char toolchain_tag[] =
    "itanium;" PATCHBAY_CXX_LIBRARY PATCHBAY_CXX_DEBUG PATCHBAY_CXX_ANNOTATED PATCHBAY_EXCEPTIONS ";c++20";

// What no tag is needed for: a component that violates one of these does not compile.
namespace toolchain_check {
enum Plain { smallest };
struct Padded {
    char small;
    long large;
};
static_assert(sizeof(void*) == 8, "Patchbay MPI is a 64-bit library");
static_assert(sizeof(Plain) == sizeof(int), "build without -fshort-enums");
static_assert(sizeof(Padded) == 2 * sizeof(long), "build without -fpack-struct");
static_assert(__cplusplus >= 202002L, "build with -std=c++20");
}

} // namespace patchbay
