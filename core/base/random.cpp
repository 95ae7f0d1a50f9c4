// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/random.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sys/random.h>

namespace patchbay {

std::uint64_t random_bits() noexcept {
    std::uint64_t bits = 0;
    ssize_t got;
    do {
        got = getrandom(&bits, sizeof bits, 0); // so few bytes are never returned in part
    } while (got < 0 && errno == EINTR);
    if (got != ssize_t(sizeof bits)) {
        // A secret that can be guessed must not take its place.
        std::fputs("patchbay: the system has no random bits (getrandom failed)\n", stderr);
        std::abort();
    }
    return bits;
}

std::string random_hex(std::size_t digits) {
    static constexpr char alphabet[] = "0123456789abcdef";
    std::string text;
    text.reserve(digits);
    while (text.size() < digits) {
        std::uint64_t bits = random_bits();
        for (int i = 0; i < 16 && text.size() < digits; ++i, bits >>= 4) {
            text += alphabet[bits & 15];
        }
    }
    return text;
}

} // namespace patchbay
