// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/toolchain.h"
#include "core/param/spec.h"
#include "core/tool/spec.h"

#include <cstddef>
#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {

class Component;

inline constexpr std::uint32_t core_abi_version = 8;

// The one symbol a plugin exports: `extern "C" const patchbay::ComponentDescriptor patchbay_component`.
// Plain C data, read before any code of the plugin runs.
struct ComponentDescriptor {
    std::uint32_t struct_size;       // sizeof(ComponentDescriptor) as the plugin saw it
    std::uint32_t core_abi;          // core_abi_version as the plugin saw it
    const char* toolchain;           // toolchain_tag as the plugin saw it
    const char* headers;             // interface_hash as the plugin saw it
    const char* release;             // interface_release as the plugin saw it
    const char* framework;           // "btl"
    std::uint32_t framework_version; // the framework's interface version as the plugin saw it
    const char* name;                // "sm"
    const char* version;             // the component's own version, for people: "1.0.0"
    const char* summary;             // one line for patchbay-info
    const ParamSpec* params;
    std::size_t param_count;
    ToolTables tool;                 // its performance variables and events
    Component* (*create)() noexcept; // a new component object, or nullptr when memory is exhausted
};

} // namespace patchbay
