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

// The hosts that an option names, each of which must be this machine.
class HostList {
public:
    // `slots`: of the options before this one.
    explicit HostList(std::int64_t slots)
        : _slots(slots) {}

    std::int64_t slots() const noexcept { return _slots; } // 0: no number of slots has been given

    // HOST or HOST:N.
    Status add(std::string_view entry) {
        const std::size_t colon = entry.rfind(':');
        const bool is_address = colon != entry.npos && entry.find(':') != colon; // of version 6
        return colon == entry.npos || is_address ? add(entry, std::nullopt)
                                                 : add(entry.substr(0, colon), entry.substr(colon + 1));
    }
    // A line of a file.
    Status add_line(std::string_view line) {
        std::string text(line.substr(0, line.find('#')));
        std::ranges::replace(text, '\t', ' ');
        const std::vector<std::string> words = split(text, ' ');
        if (words.empty()) {
            return {};
        }
        if (words.size() == 1) {
            return add(words[0]);
        }
        static constexpr std::string_view slots_key = "slots=";
        if (words.size() > 2 || !words[1].starts_with(slots_key)) {
            return wrong("a line must be HOST, HOST:N or HOST slots=N");
        }
        return add(words[0], std::string_view(words[1]).substr(slots_key.size()));
    }

private:
    Status add(std::string_view host, std::optional<std::string_view> number) {
        if (!names_this_host(host, _own)) {
            return wrong("'" + std::string(host) + "' is not this machine (" + _own +
                "), and mpirun starts processes on this machine only");
        }
        if (!number) {
            return {};
        }
        Result<std::int64_t> value = parse_int(*number);
        if (!value || *value < 1 || *value > most_slots - _slots) {
            return wrong("'" + std::string(*number) + "' is no number of slots");
        }
        _slots += *value;
        return {};
    }

    const std::string _own = host_name();
    std::int64_t _slots;
};

} // namespace

Status use_hosts(std::string_view list, AppSpec& app) {
    HostList hosts(app.slots);
    const std::vector<std::string> entries = split(list, ',');
    if (entries.empty()) {
        return wrong("'" + std::string(list) + "' names no host");
    }
    for (const std::string& entry : entries) {
        if (Status added = hosts.add(entry); !added) {
            return added;
        }
    }
    app.slots = hosts.slots();
    return {};
}

Status use_host_file(const std::string& file, AppSpec& app) {
    Result<std::string> text = read_file(file);
    if (!text) {
        return wrong(file + ": " + text.error().text);
    }
    HostList hosts(app.slots);
    int number = 0;
    for (std::string_view rest = *text; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        ++number;
        if (Status added = hosts.add_line(rest.substr(0, end)); !added) {
            return wrong(file + ":" + std::to_string(number) + ": " + added.error().text);
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    app.slots = hosts.slots();
    return {};
}

} // namespace patchbay::launch
