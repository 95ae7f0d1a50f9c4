// SPDX-License-Identifier: BSD-3-Clause
#include "launch/job_name.h"

#include "core/base/random.h"

namespace patchbay::launch {

std::string make_namespace() {
    constexpr std::size_t digits = 128 / 4;
    return "patchbay-" + random_hex(digits); // without a '.', at which PMIx splits the name of a server
}

} // namespace patchbay::launch
