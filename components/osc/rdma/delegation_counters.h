// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/tool/registry.h"
#include "core/tool/source.h"

#include <atomic>
#include <cstdint>
#include <optional>

namespace patchbay::osc::rdma {

// What MPI_T tells of delegated operations, over all windows of the process. Any thread.
class DelegationCounters final : public ToolSource {
public:
    enum Variable : std::size_t { delegated, retracted, served };

    DelegationCounters() noexcept
        : ToolSource("osc", "rdma") {}
    ~DelegationCounters() override { close(); }
    // Throws std::bad_alloc.
    void open(ToolRegistry& registry) {
        registry.add(*this);
        _registry = &registry;
    }
    void close() noexcept {
        if (_registry != nullptr) {
            _registry->remove(*this);
            _registry = nullptr;
        }
    }
    void add(Variable variable) noexcept { _values[variable].fetch_add(1, std::memory_order_relaxed); }

    std::optional<std::uint64_t> read(std::size_t variable, const void*, std::size_t) noexcept override {
        return _values[variable].load(std::memory_order_relaxed);
    }

private:
    ToolRegistry* _registry = nullptr;
    std::atomic<std::uint64_t> _values[3] = {};
};

inline constexpr VariableSpec tool_variables[] = {
    {"delegated", VariableClass::counter, "operations of this process that the process of the target has carried out"},
    {"retracted", VariableClass::counter,
        "operations that were left to the process of the target, and carried out by this one because it was late"},
    {"served", VariableClass::counter, "operations of others that this process has carried out on its window memory"},
};

} // namespace patchbay::osc::rdma
