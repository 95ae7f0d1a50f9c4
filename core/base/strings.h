// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

std::string_view trim(std::string_view text);

// The parts between separators, trimmed; empty parts are dropped, so that "a,,b" and "a, b" are {"a", "b"}.
std::vector<std::string> split(std::string_view text, char separator);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
std::size_t edit_distance(std::string_view from, std::string_view to);

// The known name that a user most likely meant, or an empty string when none is near.
std::string nearest_name(std::string_view wanted, const std::vector<std::string>& known);

// `; did you mean "near"?`, or an empty string when no name is near. To be appended to an error text.
std::string suggestion(std::string_view wanted, const std::vector<std::string>& known);

// Each parser takes the whole text and returns Errc::invalid with the expected form when it does not fit.
Result<bool> parse_bool(std::string_view text);                         // true/false, yes/no, on/off, 1/0
Result<std::int64_t> parse_int(std::string_view text);                  // decimal or 0x
Result<std::uint64_t> parse_size(std::string_view text);                // bytes: 4096, 64k, 4KiB, 1MiB; powers of 1024
Result<std::chrono::nanoseconds> parse_duration(std::string_view text); // 10us, 5ms, 1.5s; a bare 0

std::string format_size(std::uint64_t bytes);                // exact: 4KiB, 4097
std::string format_duration(std::chrono::nanoseconds value); // exact: 10us, 1500us

} // namespace patchbay
