// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/tool/registry.h"
#include "mpi/tool/enumeration.h"
#include "object/communicator.h"
#include "object/session_id.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace patchbay::tool {

struct PerformanceVariable {
    std::size_t number; // in the registry
    const ToolRegistry::Variable* what;
    MPI_Datatype datatype;
    MPI_T_enum enumeration;

    bool continuous() const noexcept { return what->counting == Counting::always; }
    // Totals and watermarks can be set; both are kept for each handle, so that a read and a reset are one step.
    bool is_total() const noexcept { return patchbay::is_total(what->variable_class); }
    bool is_watermark() const noexcept { return what->variable_class == VariableClass::high_watermark; }
    bool read_only() const noexcept { return !is_total() && !is_watermark(); }
};

// The object that a handle is bound to. It may be freed before the handle.
struct BoundObject {
    const void* object = nullptr;
    std::uint64_t serial = 0; // of a communicator, as its index
    std::uint16_t index = 0;
    SessionId session; // of a session
};

struct PerformanceSession;

// What an MPI_T_pvar_handle refers to: the variable as its tool sees it.
struct PerformanceHandle {
    PerformanceSession* session;
    const PerformanceVariable* variable;
    BoundObject bound;
    bool started = false;
    // A total is `kept`, and what has come since `base` while the handle is started. Otherwise `kept` is what the
    // variable was when the handle was stopped. By element.
    std::vector<std::uint64_t> base;
    std::vector<std::uint64_t> kept;
    Watermark mark{0};
};

// What an MPI_T_pvar_session refers to.
struct PerformanceSession {
    std::vector<std::unique_ptr<PerformanceHandle>> handles;
};

// All performance variables, sorted by name. The caller locks, and has called check_thread() before. Functions that
// return an int return an MPI_T code.
class PerformanceVariables {
public:
    void open(ToolRegistry& registry, Enumerations& enumerations);
    void close() noexcept;

    std::size_t size() const noexcept { return _variables.size(); }
    const PerformanceVariable& operator[](std::size_t index) const noexcept { return _variables[index]; }
    std::optional<std::size_t> find(std::string_view name, int variable_class) const noexcept;

    PerformanceSession* create_session();
    PerformanceSession* find(MPI_T_pvar_session session) const noexcept;
    void free(PerformanceSession* session) noexcept;

    // `object`: the address of an MPI handle; only of a bound variable.
    int allocate(PerformanceSession& session, std::size_t index, void* object, PerformanceHandle** handle);
    static PerformanceHandle* find(const PerformanceSession& session, MPI_T_pvar_handle handle) noexcept;
    void free(PerformanceHandle* handle) noexcept;

    int start(PerformanceHandle& handle);
    int stop(PerformanceHandle& handle);
    int read(PerformanceHandle& handle, void* buffer);
    int write(PerformanceHandle& handle, const void* buffer);
    int reset(PerformanceHandle& handle);
    // In one step: nothing that happens meanwhile is lost.
    int read_and_reset(PerformanceHandle& handle, void* buffer);

private:
    // nullopt: the object does not exist any more.
    std::optional<std::uint64_t> present(const PerformanceHandle& handle, std::size_t element) const noexcept;
    void stop_counting(PerformanceHandle& handle) noexcept;
    int set(PerformanceHandle& handle, const std::vector<std::uint64_t>& values);

    ToolRegistry* _registry = nullptr;
    std::vector<PerformanceVariable> _variables;
    std::vector<std::unique_ptr<PerformanceSession>> _sessions;
};

} // namespace patchbay::tool
