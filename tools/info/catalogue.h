// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/repository.h"
#include "core/core.h"
#include "mpi/instance/instance.h"
#include "mpi/instance/process_state.h"
#include "tools/info/options.h"
#include "tools/info/tool_interface.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::info {

// The versions of the library that is loaded, which may differ from the one with which this program was built.
struct Versions {
    std::string library;  // "0.1.0"
    std::string full;     // library_version()
    std::string standard; // "5.0"
    std::string abi;      // "1.0"
    std::uint32_t core_abi;
    std::string toolchain;
    std::string headers; // interface_hash
    std::string prefix;
    std::vector<std::pair<std::string, std::uint32_t>> frameworks; // name, version of the interface
};

// The text of MPI_Get_library_version.
std::string library_version();

enum class Fitness { usable, left_out, incompatible };
const char* to_string(Fitness fitness);

struct ComponentEntry {
    std::string framework;
    std::string name;
    std::string version; // empty when it cannot be read
    std::string summary;
    std::string file;
    Fitness fitness;
    std::string reason; // of what is not usable
};

// The installed components, and the parameters that MPI_T lists. Reads the descriptor of every component and opens no
// framework.
class Catalogue {
public:
    explicit Catalogue(Core& core)
        : _core(core),
          _instance(core, _process_state, MPI_THREAD_SINGLE) {}

    // Defines every parameter. A value of the wrong type is returned as an error; all can be listed nevertheless.
    Status read();
    // Values that have the right type, but fail MPI_Init: lists with a name that there is not.
    std::vector<Error> wrong_lists();

    Versions versions();
    std::vector<ComponentEntry> components();
    // Errc::not_found: no such framework or component, with the nearest name.
    Result<std::vector<const Param*>> params(const Options::Scope& scope) const;
    std::vector<const Param*> all_params() const;
    // The rest of what MPI_T lists.
    const ToolInterface& tool_interface() const noexcept { return _tool_interface; }

private:
    ComponentEntry describe(const Repository::Installed& installed);
    FrameworkBase* framework(const std::string& name);

    Core& _core;
    ToolInterface _tool_interface;
    ProcessState _process_state;
    Instance _instance; // never initialized: it has the frameworks and the parameters of the library
};

// The group of a parameter: its framework, or "core" for those that have none.
std::string group_of(const Param& param);

} // namespace patchbay::info
