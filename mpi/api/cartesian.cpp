// SPDX-License-Identifier: BSD-3-Clause
// Cartesian topologies (MPI-5.0, 8.5.1, 8.5.2, 8.5.5 to 8.5.8).
#include "mpi/api/topology_args.h"
#include "mpi/topologies/dims.h"
#include "mpi/topologies/topologies.h"

#include <fmt/core.h>

#include <algorithm>

namespace patchbay::api {

namespace {

const Grid& grid_of(const Arguments& args) noexcept {
    return *args.comm()->topology->grid();
}

bool check_dimensions(Arguments& args, int ndims, const int* dims) noexcept {
    return not_negative(args, MPI_ERR_DIMS, "ndims", ndims) && args.array("dims", dims, ndims);
}

// The arguments that describe a grid of at most as many processes as the communicator has.
bool check_grid(Arguments& args, int ndims, const int* dims, const int* periods) noexcept {
    if (!(check_dimensions(args, ndims, dims) && args.array("periods", periods, ndims))) {
        return false;
    }
    MPI_Count size = 1;
    for (int i = 0; i < ndims; ++i) {
        if (!args.require(dims[i] > 0, MPI_ERR_DIMS, "an element of dims", dims[i], "must be positive")) {
            return false;
        }
        size *= dims[i];
        if (!args.require(size <= args.comm()->size, MPI_ERR_DIMS, "the product of dims", size,
                "must not be greater than the size of the communicator")) {
            return false;
        }
    }
    return true;
}

Grid make_grid(int ndims, const int* dims, const int* periods) {
    const auto count = std::size_t(ndims);
    return Grid(std::span(dims, count), std::span(periods, count));
}

// An array that gets one element per dimension has room for `length` ones.
bool check_room(Arguments& args, const char* name, int length) noexcept {
    return args.require(length >= grid_of(args).dimensions(), MPI_ERR_ARG, name, length,
        "must not be less than the number of dimensions");
}

bool check_coordinates(Arguments& args, const int* coords) noexcept {
    const Grid& grid = grid_of(args);
    if (!args.array("coords", coords, grid.dimensions())) {
        return false;
    }
    for (int dimension = 0; dimension < grid.dimensions(); ++dimension) {
        if (!args.require(grid.contains(dimension, coords[dimension]), MPI_ERR_ARG, "an element of coords",
                coords[dimension], "must be within its dimension, which is not periodic")) {
            return false;
        }
    }
    return true;
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Topo_test(MPI_Comm comm, int* status) {
    api::Arguments args("MPI_Topo_test", comm);
    if (api::checking() && !(args.communicator() && args.pointer("status", status))) {
        return args.code();
    }
    *status = args.comm()->topology != nullptr ? args.comm()->topology->kind() : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int PMPI_Dims_create(int nnodes, int ndims, int dims[]) {
    api::Arguments args("MPI_Dims_create");
    if (api::checking()) {
        if (!(args.require(nnodes > 0, MPI_ERR_ARG, "nnodes", nnodes, "must be positive") &&
                api::check_dimensions(args, ndims, dims))) {
            return args.code();
        }
        for (int i = 0; i < ndims; ++i) {
            if (!api::not_negative(args, MPI_ERR_DIMS, "an element of dims", dims[i])) {
                return args.code();
            }
        }
    }
    if (ndims == 0) {
        return MPI_SUCCESS; // there is nothing to choose
    }
    bool possible = false;
    const int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        possible = create_dims(nnodes, std::span(dims, std::size_t(ndims)));
        return MPI_SUCCESS;
    });
    if (code == MPI_SUCCESS && !possible) {
        return args.fail(
            MPI_ERR_DIMS, fmt::format("no product of dims is {}, because of those elements that are not 0", nnodes));
    }
    return args.result(code);
}

int PMPI_Cart_create(
    MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm* comm_cart) {
    api::Arguments args("MPI_Cart_create", comm_old);
    if (api::checking() &&
        !(api::begins(args, "comm_cart", comm_cart) && api::check_grid(args, ndims, dims, periods))) {
        return args.code();
    }
    return api::give_communicator(args, comm_cart, [&](Communicator** made) {
        return create_cart(*args.comm(), api::make_grid(ndims, dims, periods), reorder != 0, made);
    });
}

int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int* newrank) {
    api::Arguments args("MPI_Cart_map", comm);
    if (api::checking() &&
        !(args.intracommunicator() && args.pointer("newrank", newrank) &&
            api::check_grid(args, ndims, dims, periods))) {
        return args.code();
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        *newrank = map_to(*args.comm(), api::make_grid(ndims, dims, periods).size());
        return MPI_SUCCESS;
    }));
}

int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
    api::Arguments args("MPI_Cart_sub", comm);
    if (api::checking() &&
        !(api::begins(args, "newcomm", newcomm) && api::cartesian(args) &&
            args.array("remain_dims", remain_dims, api::grid_of(args).dimensions()))) {
        return args.code();
    }
    const std::span remain(remain_dims, std::size_t(api::grid_of(args).dimensions()));
    return api::give_communicator(
        args, newcomm, [&](Communicator** made) { return create_subgrid(*args.comm(), remain, made); });
}

int PMPI_Cartdim_get(MPI_Comm comm, int* ndims) {
    api::Arguments args("MPI_Cartdim_get", comm);
    if (api::checking() && !(api::cartesian(args) && args.pointer("ndims", ndims))) {
        return args.code();
    }
    *ndims = api::grid_of(args).dimensions();
    return MPI_SUCCESS;
}

int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
    api::Arguments args("MPI_Cart_get", comm);
    if (api::checking() &&
        !(api::cartesian(args) && api::check_room(args, "maxdims", maxdims) &&
            args.array("dims", dims, api::grid_of(args).dimensions()) &&
            args.array("periods", periods, api::grid_of(args).dimensions()) &&
            args.array("coords", coords, api::grid_of(args).dimensions()))) {
        return args.code();
    }
    const Grid& grid = api::grid_of(args);
    for (int dimension = 0; dimension < grid.dimensions(); ++dimension) {
        dims[dimension] = grid.sizes()[std::size_t(dimension)];
        periods[dimension] = grid.is_periodic(dimension);
    }
    grid.find_coordinates(args.comm()->rank, std::span(coords, std::size_t(grid.dimensions())));
    return MPI_SUCCESS;
}

int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int* rank) {
    api::Arguments args("MPI_Cart_rank", comm);
    if (api::checking() &&
        !(api::cartesian(args) && api::check_coordinates(args, coords) && args.pointer("rank", rank))) {
        return args.code();
    }
    const Grid& grid = api::grid_of(args);
    *rank = grid.rank_of(std::span(coords, std::size_t(grid.dimensions())));
    return MPI_SUCCESS;
}

int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
    api::Arguments args("MPI_Cart_coords", comm);
    if (api::checking() &&
        !(api::cartesian(args) && api::rank_of_member(args, "rank", rank) &&
            api::check_room(args, "maxdims", maxdims) &&
            args.array("coords", coords, api::grid_of(args).dimensions()))) {
        return args.code();
    }
    const Grid& grid = api::grid_of(args);
    grid.find_coordinates(rank, std::span(coords, std::size_t(grid.dimensions())));
    return MPI_SUCCESS;
}

int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
    api::Arguments args("MPI_Cart_shift", comm);
    if (api::checking() &&
        !(api::cartesian(args) &&
            args.require(direction >= 0 && direction < api::grid_of(args).dimensions(), MPI_ERR_DIMS, "direction",
                direction, "must be a dimension of the grid, counted from 0") &&
            args.pointer("rank_source", rank_source) && args.pointer("rank_dest", rank_dest))) {
        return args.code();
    }
    const Grid& grid = api::grid_of(args);
    const int own = args.comm()->rank;
    *rank_source = grid.neighbor(own, direction, -std::int64_t(disp));
    *rank_dest = grid.neighbor(own, direction, disp);
    return MPI_SUCCESS;
}
