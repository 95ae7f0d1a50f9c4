// SPDX-License-Identifier: BSD-3-Clause
#include "core/param/sources.h"

#include "core/base/install_prefix.h"
#include "core/base/read_file.h"
#include "core/base/strings.h"
#include "core/log.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

extern char** environ;

namespace patchbay {

namespace {

using RawParams = std::map<std::string, RawParam, std::less<>>;

// `name = value`, an empty line, or a comment.
Status read_line(std::string_view line, ParamSource source, const std::string& where, RawParams& result) {
    const std::string_view content = trim(line.substr(0, line.find('#')));
    if (content.empty()) {
        return {};
    }
    const std::size_t equals = content.find('=');
    const std::string name(trim(content.substr(0, equals)));
    const bool is_section = content.starts_with('[');
    if (equals == std::string_view::npos || name.empty() || is_section) {
        return Error{Errc::invalid,
            where + ": expected 'name = value', got '" + std::string(line) + "'" +
                (is_section ? " (there are no sections)" : "")};
    }
    RawParam raw{std::string(trim(content.substr(equals + 1))), source, "file " + where};
    const auto earlier = result.find(name);
    if (earlier != result.end() && earlier->second.source == source) {
        return Error{Errc::invalid,
            raw.origin + " sets " + name + " a second time, after " + earlier->second.origin +
                "; remove one of the two"};
    }
    result.insert_or_assign(name, std::move(raw));
    return {};
}

// A file that does not exist sets nothing. Nor does one in a home directory that this user may not read, which is that
// of another user under sudo or in a service: whether there is a file cannot be found out.
Status read_params(const std::string& file, ParamSource source, RawParams& result) {
    if (file.empty()) {
        return {};
    }
    auto text = read_file(file);
    if (!text && source == ParamSource::user_file && text.error().code == Errc::not_available) {
        log_warn_job("cannot read parameter file " + file + ": " + text.error().text + "; going on without it");
        return {};
    }
    if (!text) {
        return text.error().code == Errc::not_found
            ? Status()
            : Status(Error{Errc::system, "cannot read parameter file " + file + ": " + text.error().text});
    }
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf"; // some editors write it
    std::string_view rest = *text;
    rest.remove_prefix(rest.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
    for (int number = 1; !rest.empty(); ++number) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string where = file + ":" + std::to_string(number);
        if (Status read = read_line(rest.substr(0, end), source, where, result); !read) {
            return read;
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return {};
}

void read_environment(const std::vector<std::string>& environment, RawParams& result) {
    std::vector<std::string> from_command_line;
    for (const std::string& entry : environment) {
        if (entry.starts_with(param_cmdline_env) && entry.compare(param_cmdline_env.size(), 1, "=") == 0) {
            from_command_line = split(std::string_view(entry).substr(param_cmdline_env.size() + 1), ',');
        }
    }
    for (const std::string& entry : environment) {
        const std::size_t equals = entry.find('=');
        if (!entry.starts_with(param_env_prefix) || equals == std::string::npos) {
            continue;
        }
        const std::string variable = entry.substr(0, equals);
        if (variable == param_cmdline_env) {
            continue;
        }
        const std::string name = variable.substr(param_env_prefix.size());
        const bool on_command_line =
            std::find(from_command_line.begin(), from_command_line.end(), name) != from_command_line.end();
        result.insert_or_assign(name,
            on_command_line
                ? RawParam{entry.substr(equals + 1), ParamSource::command_line, "command line (--mca " + name + ")"}
                : RawParam{entry.substr(equals + 1), ParamSource::environment, "environment " + variable});
    }
}

} // namespace

ParamSources ParamSources::of_process() {
    ParamSources places;
    const std::string prefix = install_prefix();
    if (!prefix.empty()) {
        places.system_file = prefix + "/etc/patchbay-mca-params.conf";
    }
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
        places.user_file = std::string(home) + "/.patchbay/mca-params.conf";
    }
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        if (std::string_view(*entry).starts_with(param_env_prefix)) {
            places.environment.emplace_back(*entry);
        }
    }
    return places;
}

Result<RawParams> read_param_sources(const ParamSources& places) {
    RawParams result;
    if (Status read = read_params(places.system_file, ParamSource::system_file, result); !read) {
        return read.error();
    }
    if (Status read = read_params(places.user_file, ParamSource::user_file, result); !read) {
        return read.error();
    }
    read_environment(places.environment, result);
    return result;
}

} // namespace patchbay
