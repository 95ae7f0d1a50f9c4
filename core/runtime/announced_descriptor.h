// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <charconv>
#include <cstdint>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>

namespace patchbay {

// Descriptors that mpirun hands to its processes by an environment variable: "fd=<n>:<device>:<inode>". A program
// between mpirun and a process may have closed a descriptor, and the process have a file of its own under that number.

inline std::string announce_descriptor(int fd) {
    struct stat file {};
    fstat(fd, &file);
    return "fd=" + std::to_string(fd) + ":" + std::to_string(file.st_dev) + ":" + std::to_string(file.st_ino);
}

// The announced descriptor, which closes on exec from now on; -1: this process does not have it. `text` may be null.
inline int announced_descriptor(const char* text) noexcept {
    constexpr std::string_view prefix = "fd=";
    std::string_view rest(text != nullptr ? text : "");
    if (!rest.starts_with(prefix)) {
        return -1;
    }
    rest.remove_prefix(prefix.size());
    std::array<std::uint64_t, 3> numbers{};
    for (std::uint64_t& number : numbers) {
        const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
        rest.remove_prefix(std::size_t(end - rest.data()));
        const bool is_last = &number == &numbers.back();
        if (failure != std::errc() || (is_last ? !rest.empty() : !rest.starts_with(':'))) {
            return -1;
        }
        rest.remove_prefix(is_last ? 0 : 1);
    }
    const int fd = numbers[0] <= INT32_MAX ? int(numbers[0]) : -1;
    struct stat file {};
    const bool is_it = fstat(fd, &file) == 0 && file.st_dev == numbers[1] && file.st_ino == numbers[2];
    return is_it && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? fd : -1;
}

} // namespace patchbay
