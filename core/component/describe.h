// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/component.h"
#include "core/component/descriptor.h"
#include "core/component/interface_hash.h"

#include <cstdint>
#include <new>
#include <span>

namespace [[gnu::visibility("default")]] patchbay {

// The descriptor of a component whose class is ComponentT (default-constructible). A component's file ends like this:
//     PATCHBAY_COMPONENT = patchbay::describe<MyBtl>(
//         "btl", patchbay::btl::interface_version, "my", "1.0.0", "what it does", params);
// where `params` is an array of ParamSpec at namespace scope, or is left out. `tool` are the tables of its performance
// variables and events: patchbay::ToolTables(variables, events), of arrays at namespace scope.
template <class ComponentT>
constexpr ComponentDescriptor describe(const char* framework, std::uint32_t framework_version, const char* name,
    const char* version, const char* summary, std::span<const ParamSpec> params = {}, const ToolTables& tool = {}) {
    return {sizeof(ComponentDescriptor), core_abi_version, toolchain_tag, interface_hash, interface_release, framework,
        framework_version, name, version, summary, params.data(), params.size(), tool,
        []() noexcept -> Component* { return new (std::nothrow) ComponentT; }};
}

} // namespace patchbay

// Declares the exported descriptor. In a build that links components into the library, the build renames the symbol.
#define PATCHBAY_COMPONENT                                                                                             \
    extern "C" [[gnu::visibility("default")]] const patchbay::ComponentDescriptor patchbay_component;                  \
    constinit const patchbay::ComponentDescriptor patchbay_component
