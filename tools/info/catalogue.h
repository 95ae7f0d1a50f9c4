// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/core.h"
#include "mpi/instance/instance.h"
#include "mpi/instance/process_state.h"
#include "tools/info/options.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::info {

// What the library says of itself; asked of the library that is loaded, not of the one this tool was built with.
struct Versions {
    std::string library;  // "0.1.0"
    std::string full;     // library_version()
    std::string standard; // "5.0"
    std::string abi;      // "1.0"
    std::uint32_t core_abi;
    std::string toolchain;
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

// What is installed and how it is set up. Looks at every component's descriptor, opens no framework, starts nothing.
class Catalogue {
public:
    explicit Catalogue(Core& core)
        : _core(core),
          _instance(core, _process_state, MPI_THREAD_SINGLE) {}

    // Makes every parameter known. What is ill-typed is an error to report; everything can be listed all the same.
    Status read();

    Versions versions();
    std::vector<ComponentEntry> components();
    // Errc::not_found: no such framework or component, with the nearest name.
    Result<std::vector<const Param*>> params(const Options::Scope& scope) const;
    std::vector<const Param*> all_params() const;

private:
    ComponentEntry describe(const Repository::Installed& installed);
    FrameworkBase* framework(const std::string& name);

    Core& _core;
    ProcessState _process_state;
    Instance _instance; // never brought up: it knows the frameworks and the library's own parameters
};

// The group of a parameter: its framework, or "core" for those that have none.
std::string group_of(const Param& param);

} // namespace patchbay::info
