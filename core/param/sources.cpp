// SPDX-License-Identifier: BSD-3-Clause
#include "core/param/sources.h"

#include "core/base/install_prefix.h"
#include "core/base/strings.h"

#include <algorithm>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sstream>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace patchbay {

namespace {

using RawParams = std::map<std::string, RawParam, std::less<>>;
namespace options = boost::program_options;

// The file's text; an empty one when there is no such file.
Result<std::string> read_text(const std::string& file) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (errno == ENOENT || errno == ENOTDIR) {
            return std::string();
        }
        return Error{Errc::system, "cannot open parameter file " + file + ": " + std::strerror(errno)};
    }
    std::string text;
    char buffer[4096];
    ssize_t got = 0;
    while ((got = ::read(fd, buffer, sizeof(buffer))) > 0 || (got < 0 && errno == EINTR)) {
        text.append(buffer, std::size_t(std::max<ssize_t>(got, 0)));
    }
    const int read_errno = errno;
    ::close(fd);
    if (got < 0) {
        return Error{Errc::system, "cannot read parameter file " + file + ": " + std::strerror(read_errno)};
    }
    return text;
}

// One line at a time, because the parser does not tell from which line an option came.
Status read_line(const std::string& line, ParamSource source, const std::string& where, RawParams& found) {
    static constexpr const char* form = ": expected 'name = value', got '";
    if (trim(line).starts_with('[')) {
        return Error{Errc::invalid, where + form + line + "' (there are no sections)"};
    }
    try {
        std::istringstream in(line);
        const auto parsed = options::parse_config_file<char>(in, options::options_description(), true);
        for (const auto& option : parsed.options) {
            found.insert_or_assign(option.string_key, RawParam{join(option.value, ","), source, "file " + where});
        }
    } catch (const options::error&) {
        return Error{Errc::invalid, where + form + line + "'"};
    }
    return {};
}

Status read_file(const std::string& file, ParamSource source, RawParams& result) {
    if (file.empty()) {
        return {};
    }
    auto text = read_text(file);
    if (!text) {
        return text.error();
    }
    std::istringstream lines(*text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        RawParams found;
        if (Status read = read_line(line, source, file + ":" + std::to_string(number), found); !read) {
            return read;
        }
        for (auto& [name, raw] : found) {
            const auto earlier = result.find(name);
            if (earlier != result.end() && earlier->second.source == source) {
                return Error{Errc::invalid,
                    raw.origin + " sets " + name + " a second time, after " + earlier->second.origin +
                        "; remove one of the two"};
            }
            result.insert_or_assign(name, std::move(raw));
        }
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
    if (Status read = read_file(places.system_file, ParamSource::system_file, result); !read) {
        return read.error();
    }
    if (Status read = read_file(places.user_file, ParamSource::user_file, result); !read) {
        return read.error();
    }
    read_environment(places.environment, result);
    return result;
}

} // namespace patchbay
