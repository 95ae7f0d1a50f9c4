// SPDX-License-Identifier: BSD-3-Clause
#include "core/component/plugin.h"

#include "core/component/interface_hash.h"
#include "core/component/plugin_file.h"
#include "core/param/registry.h"

#include <algorithm>
#include <array>
#include <boost/dll/shared_library.hpp>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <string_view>
#include <utility>

namespace patchbay {

namespace {

constexpr const char* descriptor_symbol = "patchbay_component";

Error incompatible(const std::string& file, const std::string& cause) {
    return {Errc::invalid, "component " + file + " cannot be used: " + cause};
}

// dlopen() ends its text with that of the system.
bool is_for_lack_of_resources(std::string_view text) {
    const std::array causes{EMFILE, ENFILE, ENOMEM};
    return std::ranges::any_of(causes, [&](int cause) { return text.ends_with(std::strerror(cause)); });
}

std::string versions(const char* what, const std::string& theirs, const std::string& ours) {
    return "it was built for " + std::string(what) + " " + theirs + ", this library has " + ours +
        "; build it again against this installation";
}

std::string_view or_unnamed(const char* text) {
    return text == nullptr ? "(unnamed)" : text;
}

// Last, so that a version that explains the difference is named instead.
Status check_headers(const ComponentDescriptor& descriptor, const std::string& file) {
    if (or_unnamed(descriptor.headers) == interface_hash) {
        return {};
    }
    return incompatible(file,
        "it was built with other headers: " + std::string(or_unnamed(descriptor.headers)) + " of Patchbay MPI " +
            std::string(or_unnamed(descriptor.release)) + ", this library has " + interface_hash + " of Patchbay MPI " +
            interface_release + "; build it again against this installation (pkg-config patchbay-plugin)");
}

// In an order in which each field is read only when those before it say that it is where we look for it.
Status check_layout(const ComponentDescriptor& descriptor, const std::string& file) {
    if (descriptor.struct_size < offsetof(ComponentDescriptor, toolchain)) {
        return incompatible(file, "its descriptor has only " + std::to_string(descriptor.struct_size) + " bytes");
    }
    if (descriptor.core_abi != core_abi_version) {
        return incompatible(
            file, versions("core ABI", std::to_string(descriptor.core_abi), std::to_string(core_abi_version)));
    }
    if (descriptor.struct_size != sizeof(ComponentDescriptor)) {
        return incompatible(file,
            versions("a descriptor size of", std::to_string(descriptor.struct_size),
                std::to_string(sizeof(ComponentDescriptor))));
    }
    if (or_unnamed(descriptor.toolchain) != toolchain_tag) {
        return incompatible(file, versions("toolchain", std::string(or_unnamed(descriptor.toolchain)), toolchain_tag));
    }
    return {};
}

Status check_contents(
    const ComponentDescriptor& descriptor, const std::string& file, std::optional<std::uint32_t> framework_version) {
    if (framework_version && descriptor.framework_version != *framework_version) {
        return incompatible(file,
            versions(("framework " + std::string(or_unnamed(descriptor.framework)) + " version").c_str(),
                std::to_string(descriptor.framework_version), std::to_string(*framework_version)));
    }
    const ToolTables& tool = descriptor.tool;
    if (descriptor.create == nullptr || (descriptor.params == nullptr && descriptor.param_count != 0) ||
        (tool.variables == nullptr && tool.variable_count != 0) || (tool.events == nullptr && tool.event_count != 0)) {
        return incompatible(file, "its descriptor has no factory, or a table is missing");
    }
    return check_headers(descriptor, file);
}

Status check_names(const ComponentDescriptor& descriptor, const std::string& file, const std::string& framework,
    const std::string& name) {
    if (or_unnamed(descriptor.framework) != framework || or_unnamed(descriptor.name) != name) {
        return incompatible(file,
            "its descriptor says framework " + std::string(or_unnamed(descriptor.framework)) + ", component " +
                std::string(or_unnamed(descriptor.name)) + ", its file name says " + framework + ", " + name);
    }
    return {};
}

} // namespace

Result<Plugin> Plugin::open(const std::string& file, const std::string& framework, const std::string& name,
    std::optional<std::uint32_t> framework_version) {
    if (const char* wrong = fault_of_plugin_file(file); wrong != nullptr) {
        return incompatible(file, wrong);
    }
    auto library = std::make_shared<boost::dll::shared_library>();
    boost::dll::fs::error_code error;
    library->load(file, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local, error);
    if (error) {
        const char* cause = dlerror();
        Error refused = incompatible(file, cause == nullptr ? error.message() : cause);
        if (is_for_lack_of_resources(refused.text)) {
            refused.code = Errc::out_of_memory;
        }
        return refused;
    }
    if (!library->has(descriptor_symbol)) {
        return incompatible(file, "it has no symbol " + std::string(descriptor_symbol) + "; it is no component");
    }
    const auto& descriptor = library->get<const ComponentDescriptor>(descriptor_symbol);
    if (Status fits = check_layout(descriptor, file); !fits) {
        return fits.error();
    }
    if (Status fits = check_names(descriptor, file, framework, name); !fits) {
        return fits.error();
    }
    if (Status fits = check_contents(descriptor, file, framework_version); !fits) {
        return fits.error();
    }
    return Plugin(std::move(library), &descriptor, file);
}

Status Plugin::check_params() const {
    const Status table = ParamRegistry::check_table(
        _descriptor->framework, _descriptor->name, _descriptor->params, _descriptor->param_count);
    return table ? table : incompatible(_file, table.error().text);
}

Result<Plugin> Plugin::linked_in(
    const ComponentDescriptor& descriptor, std::optional<std::uint32_t> framework_version) {
    const std::string file = "(built in)";
    if (Status fits = check_layout(descriptor, file); !fits) {
        return fits.error();
    }
    if (Status fits = check_contents(descriptor, file, framework_version); !fits) {
        return fits.error();
    }
    return Plugin(nullptr, &descriptor, file);
}

} // namespace patchbay
