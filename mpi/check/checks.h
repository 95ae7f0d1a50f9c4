// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/base/strings.h"
#include "core/param/registry.h"

#include <string>

namespace patchbay::check {

// What parameter mpi_check asks for (docs/checking.md).
struct Checks {
    bool types = false;
    bool collectives = false;
    bool buffers = false;
    bool leaks = false;
    bool windows = false;
    bool threads = false;

    // Whether something stands before the pml, and before the collectives.
    bool of_messages() const noexcept { return types || buffers || leaks; }
    bool of_collectives() const noexcept { return collectives || leaks || buffers; }
    bool of_windows() const noexcept { return types || collectives || buffers || windows; }

    // Errc::invalid: the list has a name that stands for no check. May throw std::bad_alloc.
    static Result<Checks> of(const ParamRegistry& params) {
        Checks checks;
        const Param& list = params.at("mpi_check");
        for (const std::string& name : list.as_list()) {
            if (name == "all") {
                checks = {true, true, true, true, true, true};
            } else if (name == "types") {
                checks.types = true;
            } else if (name == "collectives") {
                checks.collectives = true;
            } else if (name == "buffers") {
                checks.buffers = true;
            } else if (name == "leaks") {
                checks.leaks = true;
            } else if (name == "windows") {
                checks.windows = true;
            } else if (name == "threads") {
                checks.threads = true;
            } else if (name != "none") {
                const std::string near =
                    suggestion(name, {"types", "collectives", "buffers", "leaks", "windows", "threads", "all", "none"});
                return Error{Errc::invalid,
                    "parameter mpi_check: '" + name +
                        "' is no check; there are types, collectives, buffers, leaks, windows, threads, "
                        "all and none" +
                        near + " [" + list.origin() + "]"};
            }
        }
        return checks;
    }
};

} // namespace patchbay::check
