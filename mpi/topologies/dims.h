// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>

namespace [[gnu::visibility("default")]] patchbay {

// MPI_Dims_create: chooses the elements of `dims` that are 0 so that the product of all is `nodes`. The chosen ones are
// as close to each other as possible, that is, the largest one exceeds the smallest one as little as possible, and do
// not increase. Where several choices are as close, the one with the largest last elements is taken. Returns false,
// and leaves `dims` as it is, if there are no such numbers. `nodes` is positive, and no element is negative.
bool create_dims(int nodes, std::span<int> dims);

} // namespace patchbay
