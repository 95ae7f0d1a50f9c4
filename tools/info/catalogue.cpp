// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/catalogue.h"

#include "core/base/install_prefix.h"
#include "core/base/strings.h"
#include "core/component/interface_hash.h"
#include "include/mpi.h"
#include "mpi/check/checks.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace patchbay::info {

namespace {

std::string dotted(int major, int minor) {
    return std::to_string(major) + "." + std::to_string(minor);
}

// "Patchbay MPI 0.1.0, MPI 5.0, ..." has the version as its third word.
std::string version_in(const std::string& full) {
    const auto words = split(full, ' ');
    return words.size() < 3 ? full : words[2].substr(0, words[2].find(','));
}

Error not_found(const std::string& what, const std::string& wanted, const std::vector<std::string>& known) {
    const std::string near = suggestion(wanted, known);
    return {Errc::not_found, what + (near.empty() ? "; there are: " + join(known, ", ") : near)};
}

} // namespace

const char* to_string(Fitness fitness) {
    switch (fitness) {
    case Fitness::usable:
        return "usable";
    case Fitness::left_out:
        return "left out";
    case Fitness::incompatible:
        return "incompatible";
    }
    return "?";
}

std::string group_of(const Param& param) {
    return param.framework().empty() ? "core" : param.framework();
}

std::string library_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    return MPI_Get_library_version(text, &length) == MPI_SUCCESS ? std::string(text, std::size_t(length)) : "unknown";
}

Status Catalogue::read() {
    const Status own = _instance.define_params();
    const Status components = _core.components.define_all_params(_core.params);
    return own ? components : own;
}

std::vector<Error> Catalogue::wrong_lists() {
    std::vector<Error> wrong;
    for (const FrameworkBase* framework : _instance.frameworks()) {
        if (const auto list = framework->job_list(_core, _core.components.components(framework->name())); !list) {
            wrong.push_back(list.error());
        }
    }
    if (const auto checks = check::Checks::of(_core.params); !checks) {
        wrong.push_back(checks.error());
    }
    return wrong;
}

Versions Catalogue::versions() {
    Versions versions{};
    versions.full = library_version();
    versions.library = version_in(versions.full);
    int major = 0;
    int minor = 0;
    if (MPI_Get_version(&major, &minor) == MPI_SUCCESS) {
        versions.standard = dotted(major, minor);
    }
    if (MPI_Abi_get_version(&major, &minor) == MPI_SUCCESS) {
        versions.abi = dotted(major, minor);
    }
    versions.core_abi = core_abi_version;
    versions.toolchain = toolchain_tag;
    versions.headers = interface_hash;
    versions.prefix = install_prefix();
    for (const FrameworkBase* framework : _instance.frameworks()) {
        versions.frameworks.emplace_back(framework->name(), framework->version());
    }
    return versions;
}

FrameworkBase* Catalogue::framework(const std::string& name) {
    for (FrameworkBase* framework : _instance.frameworks()) {
        if (framework->name() == name) {
            return framework;
        }
    }
    return nullptr;
}

std::vector<ComponentEntry> Catalogue::components() {
    std::vector<ComponentEntry> entries;
    for (const Repository::Installed& installed : _core.components.installed()) {
        entries.push_back(describe(installed));
    }
    return entries;
}

ComponentEntry Catalogue::describe(const Repository::Installed& installed) {
    ComponentEntry entry{installed.framework, installed.name, "", "", installed.file, Fitness::usable, ""};
    const FrameworkBase* of = framework(installed.framework);
    const auto version = of == nullptr ? std::nullopt : std::optional(of->version());
    const auto plugin = _core.components.load(installed.framework, installed.name, version);
    if (!plugin) {
        entry.fitness = Fitness::incompatible;
        entry.reason = plugin.error().text;
        return entry;
    }
    entry.version = plugin.value().descriptor().version;
    entry.summary = plugin.value().descriptor().summary;
    if (Status table = plugin.value().check_params(); !table) {
        entry.fitness = Fitness::incompatible;
        entry.reason = table.error().text;
        return entry;
    }
    if (of == nullptr) {
        entry.fitness = Fitness::incompatible;
        entry.reason = "this library has no framework " + installed.framework;
        return entry;
    }
    const Param& selection = _core.params.at(installed.framework);
    const auto list = SelectionList::parse(selection.text());
    if (list && !list.value().admits(installed.name)) {
        entry.fitness = Fitness::left_out;
        entry.reason = "left out by " + installed.framework + "=" + selection.text() + " [" + selection.origin() + "]";
    }
    return entry;
}

std::vector<const Param*> Catalogue::all_params() const {
    std::vector<const Param*> result;
    const std::vector<std::string> listed = _tool_interface.control_variables(); // sorted
    for (std::size_t i = 0; i < _core.params.count(); ++i) {
        if (std::binary_search(listed.begin(), listed.end(), _core.params.by_index(i).name())) {
            result.push_back(&_core.params.by_index(i));
        }
    }
    // Groups by name, the core's first; in a group what belongs to no component first, then in the order of its table.
    std::stable_sort(result.begin(), result.end(), [](const Param* a, const Param* b) {
        return std::tie(a->framework(), a->component()) < std::tie(b->framework(), b->component());
    });
    return result;
}

Result<std::vector<const Param*>> Catalogue::params(const Options::Scope& scope) const {
    const bool whole_group = scope.component.empty() || scope.component == "all";
    if (scope.group == "all") {
        return whole_group
            ? Result<std::vector<const Param*>>(all_params())
            : Error{Errc::not_found, "'all' has no component '" + scope.component + "': name its framework"};
    }
    std::vector<const Param*> result;
    std::set<std::string> groups;
    const Param* of_this_name = nullptr;
    for (const Param* param : all_params()) {
        groups.insert(group_of(*param));
        if (group_of(*param) == scope.group && (whole_group || param->component() == scope.component)) {
            result.push_back(param);
        }
        of_this_name = param->name() == scope.group ? param : of_this_name;
    }
    if (!groups.contains(scope.group)) {
        if (of_this_name != nullptr && scope.component.empty()) {
            return std::vector<const Param*>{of_this_name};
        }
        const std::vector<std::string> known(groups.begin(), groups.end());
        return not_found("there is no framework '" + scope.group + "'", scope.group, known);
    }
    const auto installed = _core.components.components(scope.group);
    if (!whole_group && std::find(installed.begin(), installed.end(), scope.component) == installed.end()) {
        const std::string what = scope.group + " has no component '" + scope.component + "'";
        return installed.empty() ? Error{Errc::not_found, what + ", but parameters of its own only"}
                                 : not_found("framework " + what, scope.component, installed);
    }
    return result;
}

} // namespace patchbay::info
