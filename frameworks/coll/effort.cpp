// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/effort.h"

namespace patchbay::coll {

std::string init_name(Function function) {
    std::string name = function_name(function);
    name[0] = char(name[0] - 'a' + 'A');
    return "MPI_" + name + "_init";
}

} // namespace patchbay::coll
