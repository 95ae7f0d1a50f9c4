// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/component/descriptor.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace [[gnu::visibility("default")]] patchbay {

// A component's descriptor and, for one in a shared library, the right to have that mapped.
class Plugin {
public:
    // Opens a file and checks its descriptor before anything of it is called. `framework_version` is checked when
    // given. Errc::invalid: an incompatible; the text names file, both versions and the cause, or the loader's own
    // words.
    static Result<Plugin> open(const std::string& file, const std::string& framework, const std::string& name,
        std::optional<std::uint32_t> framework_version);
    static Result<Plugin> linked_in(
        const ComponentDescriptor& descriptor, std::optional<std::uint32_t> framework_version);

    const ComponentDescriptor& descriptor() const noexcept { return *_descriptor; }
    const std::string& file() const noexcept { return _file; } // "(built in)" for a static one
    // Errc::invalid: the component's table of parameters is wrong. For a component whose parameters could not be
    // defined: otherwise the user has given one a wrong value.
    Status check_params() const;

private:
    Plugin(std::shared_ptr<void> library, const ComponentDescriptor* descriptor, std::string file)
        : _library(std::move(library)),
          _descriptor(descriptor),
          _file(std::move(file)) {}

    std::shared_ptr<void> _library;
    const ComponentDescriptor* _descriptor;
    std::string _file;
};

} // namespace patchbay
