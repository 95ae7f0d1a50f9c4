// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/effort.h"

namespace patchbay::coll {

std::optional<Effort> parse_effort(const std::string& value) noexcept {
    if (value.size() != 1 || value[0] < '0' || value[0] > '3') {
        return std::nullopt;
    }
    return Effort(value[0] - '0');
}

std::string init_name(Function function) {
    std::string name = function_name(function);
    name[0] = char(name[0] - 'a' + 'A');
    return "MPI_" + name + "_init";
}

} // namespace patchbay::coll
