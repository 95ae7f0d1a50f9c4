// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

// Files whose pages processes share: memfds and files on a memory file system. The error of every function names the
// remedy; none raises SIGBUS or SIGXFSZ.
namespace patchbay::shared_file {

// A nameless file in memory, closed on exec.
Result<int> make_memfd(const std::string& name);

// A new file of mode 0600, closed on exec; it must not exist.
Result<int> make_named(const std::string& path);
Result<int> open_existing(const std::string& path);
// A file that a process has from one of these two is not abandoned as long as it has the descriptor.

// Removes the files of this user in the directory whose names begin so, that have not been written to for that long,
// and that no process has: a job that was killed while it started leaves one.
void remove_abandoned(const std::string& directory, std::string_view begin, std::chrono::seconds age) noexcept;

// Makes the file at least `bytes` long without taking memory. One process at a time.
Status grow(int fd, std::uint64_t bytes);

// Takes memory for [offset, offset+length), makes the file long enough, keeps its contents.
Status allocate(int fd, std::uint64_t offset, std::uint64_t length);

// Gives the memory of [offset, offset+length), whole pages, back: it reads as zeros. false: this file cannot do that.
bool discard(int fd, std::uint64_t offset, std::uint64_t length) noexcept;

} // namespace patchbay::shared_file
