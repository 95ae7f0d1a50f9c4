// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/component/plugin.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class ParamRegistry;
class ToolRegistry;

// Where components may be: as mca_<framework>_<component>.so in directories, or linked in. Earlier places win: a user
// can replace each component without touching the installation.
struct ComponentPlaces {
    std::vector<std::string> wanted_directories; // from the parameter component_path; one that is missing is reported
    std::vector<std::string> user_directories;   // ~/.patchbay/components
    std::span<const ComponentDescriptor* const> linked_in;
    std::vector<std::string> install_directories; // <prefix>/lib/patchbay

    // Those of a process: its user's directory and that of the installation.
    static ComponentPlaces of_process(std::span<const ComponentDescriptor* const> linked_in);
};

// Which components are installed. Finding them reads directories only; a file is opened when its framework is, or when
// its parameter table is asked for. Unchanging after scan(), hence safe from any thread.
class Repository {
public:
    struct Installed {
        std::string framework;
        std::string name;
        std::string file;                               // "(built in)" for one that is linked in
        const ComponentDescriptor* linked_in = nullptr; // null for a file
    };

    Repository() = default;
    Repository(const Repository&) = delete;
    Repository& operator=(const Repository&) = delete;

    // Also defines each framework's selection parameter (`btl`). A component that is in two places is reported once.
    Status scan(const ComponentPlaces& places, ParamRegistry& params);

    // The parameter that holds a framework's selection list; scan() does it for every framework that has components.
    static Status define_selection_param(std::string_view framework, ParamRegistry& params);

    const std::vector<Installed>& installed() const noexcept { return _installed; } // by framework, then by name
    std::vector<std::string> frameworks() const;
    std::vector<std::string> components(std::string_view framework) const;

    // Errc::not_found, with the nearest name; Errc::invalid for an incompatible.
    Result<Plugin> load(
        std::string_view framework, std::string_view component, std::optional<std::uint32_t> framework_version) const;

    // Defines the parameters of components that are not open: those whose name starts `parameter`, or all. What cannot
    // be read is left out; returns the ill-typed values.
    Status define_params_for(std::string_view parameter, ParamRegistry& params) const;
    Status define_all_params(ParamRegistry& params) const;
    // Defines the performance variables and events of all components that can be read.
    void define_all_tool_tables(ToolRegistry& tool) const;

private:
    void add(Installed found);
    void scan_directory(const std::string& directory, bool wanted);

    std::vector<Installed> _installed;
};

} // namespace patchbay
