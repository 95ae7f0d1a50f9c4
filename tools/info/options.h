// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

#include <string>
#include <utility>
#include <vector>

namespace patchbay::info {

// The sections to print. Without any: versions and components.
struct Options {
    // Parameters of a framework or group, or of one of its components only (empty or "all": all of it). Group "all" is
    // every one, and a group may be the name of one parameter.
    struct Scope {
        std::string group;
        std::string component;
    };
    std::vector<Scope> params;
    std::vector<std::pair<std::string, std::string>> mca; // parameters to look with, as mpirun would set them
    bool components = false;
    bool names = false;
    bool unimplemented = false;
    bool pvars = false;
    bool events = false;
    bool categories = false;
    bool explain = false;
    bool json = false;
    bool version = false;
    bool help = false;

    bool nothing_chosen() const noexcept {
        return params.empty() && !components && !names && !unimplemented && !explain && !pvars && !events &&
            !categories;
    }
};

// Errc::invalid: the command line is wrong; the text contains the nearest option.
Result<Options> parse_options(const std::vector<std::string>& words);

std::string help_text();

} // namespace patchbay::info
