// SPDX-License-Identifier: BSD-3-Clause
#include "core/component/repository.h"

#include "core/base/install_prefix.h"
#include "core/base/strings.h"
#include "core/log.h"
#include "core/param/registry.h"
#include "core/tool/registry.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <memory>
#include <tuple>
#include <utility>

namespace patchbay {

namespace {

constexpr std::string_view file_prefix = "mca_";
constexpr std::string_view file_suffix = ".so";

// "mca_btl_sm.so" is {"btl", "sm"}: a framework's name has no underscore, a component's may have.
std::optional<std::pair<std::string, std::string>> parse_file_name(std::string_view file) {
    if (!file.starts_with(file_prefix) || !file.ends_with(file_suffix)) {
        return std::nullopt;
    }
    file.remove_prefix(file_prefix.size());
    file.remove_suffix(std::min(file.size(), file_suffix.size()));
    const std::size_t underscore = file.find('_');
    if (underscore == 0 || underscore == std::string_view::npos || underscore + 1 == file.size()) {
        return std::nullopt;
    }
    return std::pair(std::string(file.substr(0, underscore)), std::string(file.substr(underscore + 1)));
}

Status join_errors(const std::vector<Error>& errors) {
    if (errors.empty()) {
        return {};
    }
    Error all{errors.front().code, {}};
    for (const Error& error : errors) {
        all.text += (all.text.empty() ? "" : "\n") + error.text;
    }
    return all;
}

std::string real_path(const std::string& path) {
    const std::unique_ptr<char, void (*)(void*)> resolved(realpath(path.c_str(), nullptr), std::free);
    return resolved == nullptr ? path : std::string(resolved.get());
}

Result<Plugin> load_installed(const Repository::Installed& installed, std::optional<std::uint32_t> framework_version) {
    return installed.linked_in != nullptr
        ? Plugin::linked_in(*installed.linked_in, framework_version)
        : Plugin::open(installed.file, installed.framework, installed.name, framework_version);
}

// A file that cannot be read has no parameters; opening its framework gives the error.
void define_params(const Repository::Installed& installed, ParamRegistry& params, std::vector<Error>& errors) {
    const auto plugin = load_installed(installed, std::nullopt);
    if (!plugin) {
        return;
    }
    const ComponentDescriptor& descriptor = plugin.value().descriptor();
    if (Status defined = params.define(installed.framework, installed.name, descriptor.params, descriptor.param_count);
        !defined && plugin.value().check_params()) {
        errors.push_back(defined.error());
    }
}

} // namespace

ComponentPlaces ComponentPlaces::of_process(std::span<const ComponentDescriptor* const> linked_in) {
    ComponentPlaces places;
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
        places.user_directories.push_back(std::string(home) + "/.patchbay/components");
    }
    places.linked_in = linked_in;
    places.install_directories.push_back(install_component_directory());
    return places;
}

Status Repository::scan(const ComponentPlaces& places, ParamRegistry& params) {
    std::vector<std::string> seen;
    const auto scan_each = [&](const std::vector<std::string>& directories, bool wanted) {
        for (const std::string& directory : directories) {
            const std::string real = real_path(directory);
            if (std::find(seen.begin(), seen.end(), real) == seen.end()) {
                seen.push_back(real);
                scan_directory(directory, wanted);
            }
        }
    };
    scan_each(places.wanted_directories, true);
    scan_each(places.user_directories, false);
    for (const ComponentDescriptor* descriptor : places.linked_in) {
        add({descriptor->framework, descriptor->name, "(built in)", descriptor});
    }
    scan_each(places.install_directories, false);
    std::sort(_installed.begin(), _installed.end(), [](const Installed& a, const Installed& b) {
        return std::tie(a.framework, a.name) < std::tie(b.framework, b.name);
    });
    std::vector<Error> errors;
    for (const std::string& framework : frameworks()) {
        if (Status defined = define_selection_param(framework, params); !defined) {
            errors.push_back(defined.error());
        }
    }
    return join_errors(errors);
}

Status Repository::define_selection_param(std::string_view framework, ParamRegistry& params) {
    const std::string help = "components of framework " + std::string(framework) +
        " that may be used: 'a,b' only these, '^a,b' all but these, empty all";
    const ParamSpec spec[] = {{"", ParamType::list, "", help.c_str()}};
    return params.define(framework, "", spec);
}

void Repository::scan_directory(const std::string& directory, bool wanted) {
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(opendir(directory.c_str()), closedir);
    if (stream == nullptr) {
        const int cause = errno;
        if (wanted || (cause != ENOENT && cause != ENOTDIR)) {
            // What one process lacks, the others may have.
            const bool is_own = cause == EMFILE || cause == ENFILE || cause == ENOMEM;
            (is_own ? log_warn : log_warn_job)("cannot read component directory " + directory + ": " +
                std::strerror(cause) + (wanted ? "; it is named by the parameter component_path" : ""));
        }
        return;
    }
    // readdir's order is the file system's; messages and choices must not depend on it.
    std::vector<std::string> files;
    while (const dirent* entry = readdir(stream.get())) {
        files.emplace_back(entry->d_name);
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
        if (auto names = parse_file_name(file)) {
            add({std::move(names->first), std::move(names->second), directory + "/" + file});
        }
    }
}

void Repository::add(Installed found) {
    for (const Installed& earlier : _installed) {
        if (earlier.framework == found.framework && earlier.name == found.name) {
            log_warn_job("component " + found.name + " of framework " + found.framework +
                " is installed twice: " + earlier.file + " is used, " + found.file + " is not");
            return;
        }
    }
    _installed.push_back(std::move(found));
}

std::vector<std::string> Repository::frameworks() const {
    std::vector<std::string> result;
    for (const Installed& installed : _installed) {
        if (result.empty() || result.back() != installed.framework) {
            result.push_back(installed.framework);
        }
    }
    return result;
}

std::vector<std::string> Repository::components(std::string_view framework) const {
    std::vector<std::string> result;
    for (const Installed& installed : _installed) {
        if (installed.framework == framework) {
            result.push_back(installed.name);
        }
    }
    return result;
}

Result<Plugin> Repository::load(
    std::string_view framework, std::string_view component, std::optional<std::uint32_t> framework_version) const {
    for (const Installed& installed : _installed) {
        if (installed.framework == framework && installed.name == component) {
            return load_installed(installed, framework_version);
        }
    }
    return Error{Errc::not_found,
        "framework " + std::string(framework) + " has no component '" + std::string(component) + "'" +
            suggestion(component, components(framework))};
}

Status Repository::define_params_for(std::string_view parameter, ParamRegistry& params) const {
    std::vector<Error> errors;
    for (const Installed& installed : _installed) {
        if (parameter.starts_with(installed.framework + "_" + installed.name + "_")) {
            define_params(installed, params, errors);
        }
    }
    return join_errors(errors);
}

Status Repository::define_all_params(ParamRegistry& params) const {
    std::vector<Error> errors;
    for (const Installed& installed : _installed) {
        define_params(installed, params, errors);
    }
    return join_errors(errors);
}

void Repository::define_all_tool_tables(ToolRegistry& tool) const {
    for (const Installed& installed : _installed) {
        if (const auto plugin = load_installed(installed, std::nullopt)) {
            tool.define(installed.framework, installed.name, plugin.value().descriptor().tool);
        }
    }
}

} // namespace patchbay
