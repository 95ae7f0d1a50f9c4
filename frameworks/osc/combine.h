// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype.h"
#include "object/op.h"

namespace [[gnu::visibility("default")]] patchbay {
namespace osc {

// The predefined type of which the data of `type` consists, or of the first data where it is of several. 0: it has
// none. Allocates nothing.
BasicIndex element_type(const Datatype& type) noexcept;

// The update of an accumulate at the target, for components that carry it out in the memory of one process: every
// element of a predefined type at `memory` becomes (origin op element), or the origin's with MPI_REPLACE; with
// MPI_NO_OP nothing changes. Both sides have as many elements of the same predefined type, which may be a pair type.
// `origin` and `memory` may have different layouts. Allocates nothing. The caller serialises the calls for one place.
// Returns an MPI code: MPI_ERR_OP if the op is not defined for the type.
int combine(const Op& op, const void* origin, MPI_Count origin_count, const Datatype& origin_type, void* memory,
    MPI_Count count, const Datatype& type) noexcept;

} // namespace osc
} // namespace patchbay
