// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype.h"

#include <span>

namespace [[gnu::visibility("default")]] patchbay {

// Array types are nested vectors inside, with the bounds of the whole array (MPI-5.0, 5.1.3 and 5.1.4). These make that
// inside: what a recipe calls its body. `order` is MPI_ORDER_C or MPI_ORDER_FORTRAN; arguments have been checked.
// Return an MPI code: MPI_ERR_VALUE_TOO_LARGE, MPI_ERR_NO_MEM.
int make_subarray_body(std::span<const MPI_Count> sizes, std::span<const MPI_Count> subsizes,
    std::span<const MPI_Count> starts, int order, Datatype& element, Ref<Datatype>* result) noexcept;

// One dimension of a distributed array.
struct DistributedDimension {
    MPI_Count size = 0;   // of the whole array
    int distribution = 0; // MPI_DISTRIBUTE_*
    int argument = 0;     // block size or MPI_DISTRIBUTE_DFLT_DARG
    int processes = 1;    // of the grid
    int coordinate = 0;   // of the process whose part this is

    // The block size that holds: the argument or its default.
    MPI_Count block() const noexcept;
};

// Sets the coordinates of `rank` in the grid, whose processes are numbered in C order whatever the array's order is.
void place_in_grid(std::span<DistributedDimension> dimensions, int rank) noexcept;

int make_darray_body(
    std::span<const DistributedDimension> dimensions, int order, Datatype& element, Ref<Datatype>* result) noexcept;

} // namespace patchbay
