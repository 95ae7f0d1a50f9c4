// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/tool/registry.h"

namespace patchbay {

// The events of the core itself. Its tables have neither framework nor component.
class CoreSource final : public ToolSource {
public:
    explicit CoreSource(ToolRegistry& tool);
    ~CoreSource() override;

    static ToolTables tables() noexcept;
    EventPoint& component_selected() noexcept { return _events[0]; }

    std::optional<std::uint64_t> read(std::size_t, const void*, std::size_t) noexcept override { return std::nullopt; }
    std::span<EventPoint> events() noexcept override { return _events; }

private:
    ToolRegistry& _tool;
    EventPoint _events[1];
};

} // namespace patchbay
