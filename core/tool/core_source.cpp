// SPDX-License-Identifier: BSD-3-Clause
#include "core/tool/core_source.h"

#include <iterator>

namespace patchbay {

namespace {

constexpr EventElement selected_elements[] = {
    {"component", EventElement::Type::integer},
    {"priority", EventElement::Type::count},
};

constexpr EventSpec event_table[] = {
    {"component_selected",
        "a framework has selected a component, for the job or for a communicator: component (an item of the "
        "enumeration), priority",
        selected_elements, std::size(selected_elements)},
};

} // namespace

ToolTables CoreSource::tables() noexcept {
    ToolTables tables;
    tables.events = event_table;
    tables.event_count = std::size(event_table);
    return tables;
}

CoreSource::CoreSource(ToolRegistry& tool)
    : ToolSource("", ""),
      _tool(tool) {
    _tool.add(*this);
}

CoreSource::~CoreSource() {
    _tool.remove(*this);
}

} // namespace patchbay
