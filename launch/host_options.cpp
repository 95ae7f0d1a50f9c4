// SPDX-License-Identifier: BSD-3-Clause
#include "launch/host_options.h"

#include "core/base/hosts.h"
#include "core/base/read_file.h"
#include "core/base/strings.h"
#include "launch/placement.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace patchbay::launch {

namespace {

constexpr std::int64_t most_slots = 1'000'000;

Error wrong(std::string text) {
    return Error{Errc::invalid, std::move(text)};
}

// Adds the slots of one host, if a number is given; 0 slots: none have been given so far.
Status add_host(std::string_view host, std::optional<std::string_view> number, std::int64_t& slots) {
    const std::string own = host_name();
    if (!names_this_host(host, own)) {
        return wrong("'" + std::string(host) + "' is not this machine (" + own +
            "), and mpirun starts processes on this machine only");
    }
    if (!number) {
        return {};
    }
    Result<std::int64_t> value = parse_int(*number);
    if (!value || *value < 1 || *value > most_slots - slots) {
        return wrong("'" + std::string(*number) + "' is no number of slots");
    }
    slots += *value;
    return {};
}

// HOST or HOST:N.
Status add_entry(std::string_view entry, std::int64_t& slots) {
    const std::size_t colon = entry.rfind(':');
    const bool is_address = colon != entry.npos && entry.find(':') != colon; // of version 6
    return colon == entry.npos || is_address ? add_host(entry, std::nullopt, slots)
                                             : add_host(entry.substr(0, colon), entry.substr(colon + 1), slots);
}

Status add_line(std::string_view line, std::int64_t& slots) {
    std::string text(line.substr(0, line.find('#')));
    std::ranges::replace(text, '\t', ' ');
    const std::vector<std::string> words = split(text, ' ');
    if (words.empty()) {
        return {};
    }
    if (words.size() == 1) {
        return add_entry(words[0], slots);
    }
    static constexpr std::string_view slots_key = "slots=";
    if (words.size() > 2 || !words[1].starts_with(slots_key)) {
        return wrong("a line must be HOST, HOST:N or HOST slots=N");
    }
    return add_host(words[0], std::string_view(words[1]).substr(slots_key.size()), slots);
}

void use_slots(std::int64_t slots, AppSpec& app) {
    if (slots > 0 && !app.ranks) {
        app.ranks = int(slots);
    }
}

} // namespace

Status use_hosts(std::string_view list, AppSpec& app) {
    std::int64_t slots = 0;
    for (const std::string& entry : split(list, ',')) {
        if (Status added = add_entry(entry, slots); !added) {
            return added;
        }
    }
    use_slots(slots, app);
    return {};
}

Status use_host_file(const std::string& file, AppSpec& app) {
    Result<std::string> text = read_file(file);
    if (!text) {
        return wrong(file + ": " + text.error().text);
    }
    std::int64_t slots = 0;
    int number = 0;
    for (std::string_view rest = *text; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        ++number;
        if (Status added = add_line(rest.substr(0, end), slots); !added) {
            return wrong(file + ":" + std::to_string(number) + ": " + added.error().text);
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    use_slots(slots, app);
    return {};
}

} // namespace patchbay::launch
