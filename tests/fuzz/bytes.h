// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace patchbay::fuzz {

// An input of a fuzz target, from which the target takes one decision after the other. After its end all are 0.
class Bytes {
public:
    Bytes(const std::uint8_t* data, std::size_t size)
        : _rest(reinterpret_cast<const char*>(data), size) {}

    bool empty() const { return _rest.empty(); }
    std::uint8_t byte() {
        const std::uint8_t value = _rest.empty() ? 0 : static_cast<std::uint8_t>(_rest.front());
        _rest.remove_prefix(_rest.empty() ? 0 : 1);
        return value;
    }
    // Both ends included; at most 256 different numbers.
    std::int64_t number(std::int64_t from, std::int64_t to) { return from + byte() % (to - from + 1); }
    std::uint64_t word() {
        std::uint64_t value = 0;
        for (int i = 0; i < 8; ++i) {
            value = value << 8 | byte();
        }
        return value;
    }
    // All that is left.
    std::string_view rest() const { return _rest; }
    // Up to the separator, which is dropped, or to the end.
    std::string_view until(char separator) {
        const std::size_t end = _rest.find(separator);
        const std::string_view part = _rest.substr(0, end);
        _rest.remove_prefix(end == std::string_view::npos ? _rest.size() : end + 1);
        return part;
    }

private:
    std::string_view _rest;
};

// Ends the process where the library does not do what the target expects: the fuzzer then keeps the input, and the
// test of the corpus fails.
inline void require(bool fine, const char* what, const char* file, int line) {
    if (!fine) {
        std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
        std::abort();
    }
}

} // namespace patchbay::fuzz

#define REQUIRE(condition) ::patchbay::fuzz::require(bool(condition), #condition, __FILE__, __LINE__)
