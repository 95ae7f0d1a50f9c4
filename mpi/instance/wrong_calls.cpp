// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/wrong_calls.h"

#include <algorithm>

namespace patchbay {

WrongCalls::WrongCalls() noexcept = default;
WrongCalls::~WrongCalls() = default;

bool WrongCalls::is_new(const CallSite& site) {
    const std::lock_guard lock(_mutex);
    const bool known = std::find(_sites.begin(), _sites.end(), site) != _sites.end();
    if (!known) {
        _sites.push_back(site);
    }
    return !known;
}

} // namespace patchbay
