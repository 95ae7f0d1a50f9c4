// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/core.h"
#include "mpi/tool/enumeration.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::tool {

// A parameter as a control variable (MPI-5.0, 15.3.6).
struct ControlVariable {
    const Param* param;
    std::string description; // the same in every call
    MPI_Datatype datatype;
    MPI_T_enum enumeration;
    // What the first call of MPI_T_cvar_get_info has returned; 0: there was none. A tool may rely on it: a variable
    // that was in use then, because the library was initialized, stays read-only.
    int reported_scope = 0;
};

// What an MPI_T_cvar_handle refers to.
struct ControlHandle {
    std::size_t index;
    int count; // elements of the buffer for MPI_T_cvar_read
};

// All control variables, sorted by name so that the indices depend on the installed components only. The caller locks.
class ControlVariables {
public:
    // Takes all parameters that are defined.
    void open(Core& core, Enumerations& enumerations);
    void close() noexcept;

    std::size_t size() const noexcept { return _variables.size(); }
    const ControlVariable& operator[](std::size_t index) const noexcept { return _variables[index]; }
    std::optional<std::size_t> find(std::string_view name) const noexcept;
    int scope(std::size_t index) noexcept;

    ControlHandle* allocate(std::size_t index);
    ControlHandle* find(MPI_T_cvar_handle handle) const noexcept;
    void free(ControlHandle* handle) noexcept;

    void read(const ControlHandle& handle, void* buffer) const noexcept;
    // Returns an MPI_T code. The value has effect where the parameter is read next: at the latest when the library is
    // initialized, which is the next time for most parameters.
    int write(const ControlHandle& handle, const void* buffer);

private:
    // Strings are read into a buffer of this size, or of a larger one if the value is longer.
    static constexpr int string_count = 4096;

    bool in_use(const Param& param) const noexcept;
    void apply(const Param& param) const;

    Core* _core = nullptr;
    std::vector<ControlVariable> _variables;
    std::vector<std::unique_ptr<ControlHandle>> _handles;
};

} // namespace patchbay::tool
