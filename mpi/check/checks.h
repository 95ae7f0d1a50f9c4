// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/base/strings.h"
#include "core/param/registry.h"

#include <string>
#include <utility>
#include <vector>

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
        static constexpr std::pair<const char*, bool Checks::*> names[] = {{"types", &Checks::types},
            {"collectives", &Checks::collectives}, {"buffers", &Checks::buffers}, {"leaks", &Checks::leaks},
            {"windows", &Checks::windows}, {"threads", &Checks::threads}};
        Checks checks;
        const Param& list = params.at("mpi_check");
        for (const std::string& name : list.as_list()) {
            std::vector<std::string> known;
            bool found = name == "none";
            for (const auto& [of_check, check] : names) {
                const bool wanted = name == of_check || name == "all";
                checks.*check = checks.*check || wanted;
                found = found || wanted;
                known.emplace_back(of_check);
            }
            if (!found) {
                known.emplace_back("all");
                const std::string all = join(known, ", ") + " and none";
                known.emplace_back("none");
                return Error{Errc::invalid,
                    "parameter mpi_check: '" + name + "' is no check; there are " + all + suggestion(name, known) +
                        " [" + list.origin() + "]"};
            }
        }
        return checks;
    }
};

} // namespace patchbay::check
