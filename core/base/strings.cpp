// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/strings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace patchbay {

namespace {

constexpr bool is_blank(char c) noexcept {
    return c == ' ' || (c >= '\t' && c <= '\r'); // \t \n \v \f \r
}

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
    return result;
}

Error not_a(std::string_view text, const char* form) {
    return {Errc::invalid, "'" + std::string(text) + "' is not " + form};
}

constexpr std::array<std::pair<std::string_view, unsigned>, 5> size_units = {
    {{"", 0}, {"k", 10}, {"m", 20}, {"g", 30}, {"t", 40}}};

// The power of two of a unit like "k", "KB" or "KiB"; -1 when it is none.
int size_unit_shift(std::string_view unit) {
    const std::string wanted = lower(unit);
    for (const auto& [letter, shift] : size_units) {
        const std::string base(letter);
        if (wanted == base || wanted == base + "b" || (shift != 0 && wanted == base + "ib")) {
            return int(shift);
        }
    }
    return -1;
}

constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> duration_units = {
    {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};

} // namespace

std::string_view trim(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_blank(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        const std::string_view part = trim(text.substr(0, end));
        if (!part.empty()) {
            parts.emplace_back(part);
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    std::string result;
    for (const std::string& part : parts) {
        if (!result.empty()) {
            result += separator;
        }
        result += part;
    }
    return result;
}

std::size_t edit_distance(std::string_view from, std::string_view to) {
    std::vector<std::size_t> before_last(to.size() + 1);
    std::vector<std::size_t> last(to.size() + 1);
    std::vector<std::size_t> row(to.size() + 1);
    for (std::size_t j = 0; j <= to.size(); ++j) {
        row[j] = j;
    }
    for (std::size_t i = 1; i <= from.size(); ++i) {
        std::swap(before_last, last);
        std::swap(last, row);
        row[0] = i;
        for (std::size_t j = 1; j <= to.size(); ++j) {
            const std::size_t replace = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
            row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
    }
    return row[to.size()];
}

std::string nearest_name(std::string_view wanted, const std::vector<std::string>& known) {
    // A third of the letters wrong is still a likely slip; more is another word.
    std::size_t best_distance = std::max<std::size_t>(1, wanted.size() / 3) + 1;
    std::string best;
    const std::string small = lower(wanted); // all names are lower case
    for (const std::string& name : known) {
        const bool is_cut = name.starts_with(small) && 2 * small.size() >= name.size(); // only its end is missing
        const std::size_t distance = is_cut ? 1 : edit_distance(small, name);
        if (distance < best_distance && distance < name.size()) {
            best_distance = distance;
            best = name;
        }
    }
    return best;
}

std::string suggestion(std::string_view wanted, const std::vector<std::string>& known) {
    const std::string near = nearest_name(wanted, known);
    return near.empty() ? std::string() : "; did you mean '" + near + "'?";
}

Result<bool> parse_bool(std::string_view text) {
    const std::string word = lower(trim(text));
    if (word == "true" || word == "yes" || word == "on" || word == "1") {
        return true;
    }
    if (word == "false" || word == "no" || word == "off" || word == "0") {
        return false;
    }
    return not_a(text, "true or false");
}

Result<std::int64_t> parse_int(std::string_view text) {
    std::string_view digits = trim(text);
    const bool negative = digits.starts_with('-');
    if (negative || digits.starts_with('+')) {
        digits.remove_prefix(1);
    }
    const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
    if (hex) {
        digits.remove_prefix(2);
    }
    std::uint64_t magnitude = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, hex ? 16 : 10);
    const std::uint64_t limit = std::uint64_t(std::numeric_limits<std::int64_t>::max()) + (negative ? 1 : 0);
    if (error != std::errc() || end != digits.data() + digits.size() || magnitude > limit) {
        return not_a(text, "an integer (like 42, -1 or 0x2a)");
    }
    return std::int64_t(negative ? 0 - magnitude : magnitude);
}

Result<std::uint64_t> parse_size(std::string_view text) {
    constexpr const char* form = "a size (like 4096, 64k, 4KiB or 1MiB)";
    const std::string_view whole = trim(text);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), number);
    if (error != std::errc()) {
        return not_a(text, form);
    }
    const int shift = size_unit_shift(trim(whole.substr(std::size_t(end - whole.data()))));
    // Sizes end up in signed arithmetic sooner or later, so the sign bit stays free.
    if (shift < 0 || number > (std::uint64_t(std::numeric_limits<std::int64_t>::max()) >> shift)) {
        return not_a(text, form);
    }
    return number << shift;
}

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
    constexpr const char* form = "a duration (like 500ns, 10us, 5ms or 1.5s)";
    const std::string_view whole = trim(text);
    double number = 0;
    const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), number);
    if (error != std::errc() || !(number >= 0)) {
        return not_a(text, form);
    }
    const std::string_view unit = trim(whole.substr(std::size_t(end - whole.data())));
    if (unit.empty() && number == 0) {
        return std::chrono::nanoseconds(0);
    }
    // A whole number is not rounded, as a double above 2^53 is.
    std::int64_t count = 0;
    const auto [last, too_large] = std::from_chars(whole.data(), end, count);
    const bool is_whole = last == end && too_large == std::errc();
    for (const auto& [name, factor] : duration_units) {
        if (unit == name && is_whole && count <= std::numeric_limits<std::int64_t>::max() / factor) {
            return std::chrono::nanoseconds(count * factor);
        }
        if (unit == name && number * double(factor) < 9.2e18) {
            return std::chrono::nanoseconds(std::int64_t(std::llround(number * double(factor))));
        }
    }
    return not_a(text, form);
}

std::string format_size(std::uint64_t bytes) {
    constexpr std::string_view letters = "KMGT";
    std::size_t unit = 0;
    while (bytes != 0 && bytes % 1024 == 0 && unit < letters.size()) {
        bytes /= 1024;
        ++unit;
    }
    return std::to_string(bytes) + (unit == 0 ? std::string() : std::string(1, letters[unit - 1]) + "iB");
}

std::string format_duration(std::chrono::nanoseconds value) {
    std::int64_t count = value.count();
    std::size_t unit = 0;
    while (count != 0 && count % 1000 == 0 && unit + 1 < duration_units.size()) {
        count /= 1000;
        ++unit;
    }
    return count == 0 ? "0" : std::to_string(count) + std::string(duration_units[unit].first);
}

} // namespace patchbay
