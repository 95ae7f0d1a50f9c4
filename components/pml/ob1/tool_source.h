// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/tool/registry.h"

namespace patchbay::pml::ob1 {

class Ob1;

// The values of the variables in tool_tables.h for one module, and where it raises its event.
class Ob1ToolSource final : public ToolSource {
public:
    // Throws std::bad_alloc. `registry`: nullptr where no tool can look.
    Ob1ToolSource(Ob1& module, ToolRegistry* registry);
    ~Ob1ToolSource() override;

    std::optional<std::uint64_t> read(std::size_t variable, const void* object, std::size_t element) noexcept override;
    void count(std::size_t variable, bool on) noexcept override;
    void track(std::size_t variable, Watermark& mark, bool on) noexcept override;
    std::span<EventPoint> events() noexcept override;

private:
    Ob1& _module;
    ToolRegistry* const _registry;
    std::uint32_t _counted = 0; // the variables that are counted on request now, one bit each
};

} // namespace patchbay::pml::ob1
