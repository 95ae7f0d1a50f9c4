// SPDX-License-Identifier: BSD-3-Clause
// Array types (MPI-5.0, 5.1.3 and 5.1.4) and types by precision, size or pair (MPI-5.0, 19.1.5 and 6.9.4).
#include "object/datatype_arrays.h"

#include "mpi/api/args.h"
#include "mpi/api/handles.h"
#include "object/datatype_f90.h"
#include "object/recipe.h"

#include <fmt/core.h>

#include <new>
#include <numeric>
#include <vector>

namespace patchbay::api {
namespace {

template <class Count>
constexpr bool is_large = std::is_same_v<Count, MPI_Count>;

bool element_type(Arguments& args, MPI_Datatype handle) noexcept {
    return args.type("oldtype", handle) &&
        args.require(to_object<Datatype>(handle)->exists(), MPI_ERR_TYPE, "oldtype",
            MPI_Count(reinterpret_cast<std::uintptr_t>(handle)), "is an optional type that is not supported");
}

bool array_order(Arguments& args, int order) noexcept {
    return args.require(order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN, MPI_ERR_ARG, "order", order,
        "must be MPI_ORDER_C or MPI_ORDER_FORTRAN");
}

int made(const Arguments& args, int code, Ref<Datatype>& type, MPI_Datatype* newtype) noexcept {
    if (code == MPI_ERR_VALUE_TOO_LARGE) {
        return args.fail(code, "the size or the bounds of the new type do not fit into 64 bits");
    }
    if (code == MPI_SUCCESS) {
        *newtype = handle_of_new(args, type.detach());
    }
    return args.result(code);
}

template <class Count>
std::vector<MPI_Count> widened(const Count* values, int n) {
    return {values, values + n};
}

template <class Count>
bool subarray_dimension(Arguments& args, Count size, Count subsize, Count start) noexcept {
    return args.require(size >= 1, MPI_ERR_ARG, "array_of_sizes", size, "must be at least 1") &&
        args.require(subsize >= 1 && subsize <= size, MPI_ERR_ARG, "array_of_subsizes", subsize,
            "must be at least 1 and at most the size of its dimension") &&
        args.require(start >= 0 && start <= size - subsize, MPI_ERR_ARG, "array_of_starts", start,
            "must not be negative, and the subarray must end inside the array");
}

template <class Count>
int subarray(const char* function, int ndims, const Count* sizes, const Count* subsizes, const Count* starts, int order,
    MPI_Datatype old, MPI_Datatype* newtype) noexcept {
    Arguments args(function);
    if (checking()) {
        if (!(args.require(ndims >= 1, MPI_ERR_ARG, "ndims", ndims, "must be positive") &&
                args.pointer("array_of_sizes", sizes) && args.pointer("array_of_subsizes", subsizes) &&
                args.pointer("array_of_starts", starts) && array_order(args, order) && element_type(args, old) &&
                args.pointer("newtype", newtype))) {
            return args.code();
        }
        for (int i = 0; i < ndims; ++i) {
            if (!subarray_dimension(args, sizes[i], subsizes[i], starts[i])) {
                return args.code();
            }
        }
    }
    try {
        Datatype& element = *to_object<Datatype>(old);
        Recipe recipe;
        recipe.combiner = MPI_COMBINER_SUBARRAY;
        recipe.large = is_large<Count>;
        recipe.types.push_back(Ref<Datatype>::share(&element));
        const auto n = static_cast<std::size_t>(ndims);
        recipe.integers.reserve(is_large<Count> ? 2 : 2 + 3 * n);
        recipe.counts.reserve(is_large<Count> ? 3 * n : 0);
        recipe.integers.push_back(ndims);
        for (const Count* values : {sizes, subsizes, starts}) {
            recipe.add_counts(std::span<const Count>(values, n));
        }
        recipe.integers.push_back(order);
        int code = make_subarray_body(
            widened(sizes, ndims), widened(subsizes, ndims), widened(starts, ndims), order, element, &recipe.body);
        Ref<Datatype> type;
        if (code == MPI_SUCCESS) {
            code = Datatype::create(std::move(recipe), &type);
        }
        return made(args, code, type, newtype);
    } catch (const std::bad_alloc&) {
        return args.result(MPI_ERR_NO_MEM);
    }
}

bool darray_dimension(Arguments& args, const DistributedDimension& d) noexcept {
    if (!(args.require(d.size >= 1, MPI_ERR_ARG, "array_of_gsizes", d.size, "must be at least 1") &&
            args.require(d.processes >= 1, MPI_ERR_ARG, "array_of_psizes", d.processes, "must be at least 1"))) {
        return false;
    }
    if (d.distribution == MPI_DISTRIBUTE_NONE) {
        return args.require(d.processes == 1, MPI_ERR_ARG, "array_of_psizes", d.processes,
            "must be 1 where a dimension is not distributed");
    }
    return args.require(d.distribution == MPI_DISTRIBUTE_BLOCK || d.distribution == MPI_DISTRIBUTE_CYCLIC, MPI_ERR_ARG,
               "array_of_distribs", d.distribution, "is not a distribution") &&
        args.require(d.argument == MPI_DISTRIBUTE_DFLT_DARG || d.argument >= 1, MPI_ERR_ARG, "array_of_dargs",
            d.argument, "must be positive or MPI_DISTRIBUTE_DFLT_DARG") &&
        args.require(d.distribution == MPI_DISTRIBUTE_CYCLIC || d.block() > (d.size - 1) / d.processes, MPI_ERR_ARG,
            "array_of_dargs", d.argument, "is too small: the blocks of all processes do not cover the array");
}

bool grid(Arguments& args, int size, int rank, std::span<const DistributedDimension> dimensions) noexcept {
    MPI_Count processes = 1;
    for (const DistributedDimension& d : dimensions) {
        if (!darray_dimension(args, d)) {
            return false;
        }
        processes *= d.processes;
        if (processes > size) {
            break;
        }
    }
    return args.require(processes == size, MPI_ERR_ARG, "size", size, "must be the product of array_of_psizes") &&
        args.require(rank >= 0 && rank < size, MPI_ERR_ARG, "rank", rank, "must be a rank below size");
}

template <class Count>
int darray(const char* function, int size, int rank, int ndims, const Count* gsizes, const int* distribs,
    const int* dargs, const int* psizes, int order, MPI_Datatype old, MPI_Datatype* newtype) noexcept {
    Arguments args(function);
    if (checking() &&
        !(args.require(ndims >= 1, MPI_ERR_ARG, "ndims", ndims, "must be positive") &&
            args.pointer("array_of_gsizes", gsizes) && args.pointer("array_of_distribs", distribs) &&
            args.pointer("array_of_dargs", dargs) && args.pointer("array_of_psizes", psizes) &&
            array_order(args, order) && element_type(args, old) && args.pointer("newtype", newtype))) {
        return args.code();
    }
    try {
        std::vector<DistributedDimension> dimensions;
        for (int i = 0; i < ndims; ++i) {
            dimensions.push_back({gsizes[i], distribs[i], dargs[i], psizes[i], 0});
        }
        if (checking() && !grid(args, size, rank, dimensions)) {
            return args.code();
        }
        set_grid_coordinates(dimensions, rank);
        Datatype& element = *to_object<Datatype>(old);
        Recipe recipe;
        recipe.combiner = MPI_COMBINER_DARRAY;
        recipe.large = is_large<Count>;
        recipe.types.push_back(Ref<Datatype>::share(&element));
        recipe.integers = {size, rank, ndims};
        const auto n = static_cast<std::size_t>(ndims);
        recipe.add_counts(std::span<const Count>(gsizes, n));
        for (const int* values : {distribs, dargs, psizes}) {
            recipe.integers.insert(recipe.integers.end(), values, values + n);
        }
        recipe.integers.push_back(order);
        int code = make_darray_body(dimensions, order, element, &recipe.body);
        Ref<Datatype> type;
        if (code == MPI_SUCCESS) {
            code = Datatype::create(std::move(recipe), &type);
        }
        return made(args, code, type, newtype);
    } catch (const std::bad_alloc&) {
        return args.result(MPI_ERR_NO_MEM);
    }
}

int by_precision(
    const char* function, int (*find)(int, int, Datatype**), int precision, int range, MPI_Datatype* newtype) noexcept {
    Arguments args(function);
    if (checking() && !args.pointer("newtype", newtype)) {
        return args.code();
    }
    Datatype* type = nullptr;
    const int code = find(precision, range, &type);
    if (code == MPI_ERR_ARG) {
        return args.fail(code, fmt::format("no type has the precision p = {} and the range r = {}", precision, range));
    }
    if (code == MPI_SUCCESS) {
        *newtype = to_handle(type);
    }
    return args.result(code);
}

} // namespace
} // namespace patchbay::api

using namespace patchbay;

int PMPI_Type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[],
    const int array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::subarray(
        "MPI_Type_create_subarray", ndims, array_of_sizes, array_of_subsizes, array_of_starts, order, oldtype, newtype);
}
int PMPI_Type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[], const MPI_Count array_of_subsizes[],
    const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::subarray("MPI_Type_create_subarray_c", ndims, array_of_sizes, array_of_subsizes, array_of_starts, order,
        oldtype, newtype);
}

int PMPI_Type_create_darray(int size, int rank, int ndims, const int array_of_gsizes[], const int array_of_distribs[],
    const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::darray("MPI_Type_create_darray", size, rank, ndims, array_of_gsizes, array_of_distribs, array_of_dargs,
        array_of_psizes, order, oldtype, newtype);
}
int PMPI_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count array_of_gsizes[],
    const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[], int order,
    MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::darray("MPI_Type_create_darray_c", size, rank, ndims, array_of_gsizes, array_of_distribs,
        array_of_dargs, array_of_psizes, order, oldtype, newtype);
}

int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype* newtype) {
    return api::by_precision("MPI_Type_create_f90_real", f90_real, p, r, newtype);
}
int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype* newtype) {
    return api::by_precision("MPI_Type_create_f90_complex", f90_complex, p, r, newtype);
}
int PMPI_Type_create_f90_integer(int r, MPI_Datatype* newtype) {
    const auto find = [](int, int range, Datatype** result) { return f90_integer(range, result); };
    return api::by_precision("MPI_Type_create_f90_integer", find, 0, r, newtype);
}

int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype* datatype) {
    api::Arguments args("MPI_Type_match_size");
    if (api::checking() && !args.pointer("datatype", datatype)) {
        return args.code();
    }
    Datatype* type = type_of_size(typeclass, size);
    if (type == nullptr) {
        return args.fail(
            MPI_ERR_ARG, fmt::format("there is no predefined type for typeclass {} and size {}", typeclass, size));
    }
    *datatype = to_handle(type);
    return MPI_SUCCESS;
}

int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype* pair_type) {
    api::Arguments args("MPI_Type_get_value_index");
    if (api::checking() &&
        !(args.type("value_type", value_type) && args.type("index_type", index_type) &&
            args.pointer("pair_type", pair_type))) {
        return args.code();
    }
    Datatype* type = patchbay::pair_type(*to_object<Datatype>(value_type), *to_object<Datatype>(index_type));
    *pair_type = type != nullptr ? to_handle(type) : MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}
