// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype.h"

#include <span>

namespace [[gnu::visibility("default")]] patchbay {

// An array type consists of nested vectors, with the bounds of the whole array (MPI-5.0, 5.1.3 and 5.1.4). These
// functions construct the nested vectors, which are the body of the recipe. `order` is MPI_ORDER_C or
// MPI_ORDER_FORTRAN; the arguments have been checked. They return an MPI code: MPI_ERR_VALUE_TOO_LARGE, MPI_ERR_NO_MEM.
int make_subarray_body(std::span<const MPI_Count> sizes, std::span<const MPI_Count> subsizes,
    std::span<const MPI_Count> starts, int order, Datatype& element, Ref<Datatype>* result) noexcept;

// One dimension of a distributed array.
struct DistributedDimension {
    MPI_Count size = 0;   // of the whole array
    int distribution = 0; // MPI_DISTRIBUTE_*
    int argument = 0;     // block size or MPI_DISTRIBUTE_DFLT_DARG
    int processes = 1;    // of the grid
    int coordinate = 0;   // in the grid, of the process whose part is described

    // The block size: the argument or its default.
    MPI_Count block() const noexcept;
};

// Sets the coordinates of `rank` in the grid. The processes of the grid are numbered in C order, also where the array
// has Fortran order.
void set_grid_coordinates(std::span<DistributedDimension> dimensions, int rank) noexcept;

int make_darray_body(
    std::span<const DistributedDimension> dimensions, int order, Datatype& element, Ref<Datatype>* result) noexcept;

} // namespace patchbay
