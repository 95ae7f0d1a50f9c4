// SPDX-License-Identifier: BSD-3-Clause
// MPI_Type_get_envelope and MPI_Type_get_contents (MPI-5.0, 5.1.13).
#include "mpi/api/args.h"
#include "mpi/api/handles.h"
#include "object/recipe.h"

#include <algorithm>
#include <limits>
#include <new>

namespace patchbay::api {
namespace {

// The recipe of a type of a large constructor has MPI_Count arguments, which the plain calls cannot return.
bool fits_plain_call(Arguments& args, const Recipe& recipe) noexcept {
    return args.require(recipe.counts.empty(), MPI_ERR_TYPE, "datatype", static_cast<MPI_Count>(recipe.counts.size()),
        "has arguments of type MPI_Count, which only the _c function can return");
}

int envelope(MPI_Datatype datatype, int* integers, int* addresses, int* types, int* combiner) noexcept {
    Arguments args("MPI_Type_get_envelope");
    if (checking() &&
        !(args.type("datatype", datatype) && args.pointer("num_integers", integers) &&
            args.pointer("num_addresses", addresses) && args.pointer("num_datatypes", types) &&
            args.pointer("combiner", combiner))) {
        return args.code();
    }
    const Recipe& recipe = to_object<Datatype>(datatype)->recipe();
    if (!fits_plain_call(args, recipe)) {
        return args.code();
    }
    // The array lengths were int arguments, but there may be several arrays, and a few single arguments.
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
    if (recipe.integers.size() > most) {
        return args.fail(MPI_ERR_VALUE_TOO_LARGE, "the number of integer arguments does not fit into an int");
    }
    *integers = static_cast<int>(recipe.integers.size());
    *addresses = static_cast<int>(recipe.addresses.size());
    *types = static_cast<int>(recipe.types.size());
    *combiner = recipe.combiner;
    return MPI_SUCCESS;
}

int envelope_c(MPI_Datatype datatype, MPI_Count* integers, MPI_Count* addresses, MPI_Count* counts, MPI_Count* types,
    int* combiner) noexcept {
    Arguments args("MPI_Type_get_envelope_c");
    if (checking() &&
        !(args.type("datatype", datatype) && args.pointer("num_integers", integers) &&
            args.pointer("num_addresses", addresses) && args.pointer("num_large_counts", counts) &&
            args.pointer("num_datatypes", types) && args.pointer("combiner", combiner))) {
        return args.code();
    }
    const Recipe& recipe = to_object<Datatype>(datatype)->recipe();
    *integers = static_cast<MPI_Count>(recipe.integers.size());
    *addresses = static_cast<MPI_Count>(recipe.addresses.size());
    *counts = static_cast<MPI_Count>(recipe.counts.size());
    *types = static_cast<MPI_Count>(recipe.types.size());
    *combiner = recipe.combiner;
    return MPI_SUCCESS;
}

// Checks that the array of the program has room for `needed` values.
bool room(Arguments& args, const char* name, MPI_Count given, std::size_t needed, const char* array_name,
    const void* array) noexcept {
    return args.require(given >= static_cast<MPI_Count>(needed), MPI_ERR_ARG, name, given,
               "is less than MPI_Type_get_envelope says") &&
        args.array(array_name, array, static_cast<MPI_Count>(needed));
}

struct Contents {
    MPI_Count max_integers;
    MPI_Count max_addresses;
    MPI_Count max_counts;
    MPI_Count max_types;
    int* integers;
    MPI_Aint* addresses;
    MPI_Count* counts;
    MPI_Datatype* types;
};

// A predefined type is returned as it is; another one as a new type, which the caller owns (MPI-5.0, 5.1.13).
int hand_out(const Arguments& args, const Recipe& recipe, MPI_Datatype* types) noexcept {
    std::size_t made = 0;
    int code = MPI_SUCCESS;
    for (; made < recipe.types.size() && code == MPI_SUCCESS; ++made) {
        const Ref<Datatype>& component = recipe.types[made];
        if (component->is_predefined()) {
            types[made] = to_handle(component.get());
            continue;
        }
        Ref<Datatype> copy;
        code = component->clone(&copy);
        types[made] = code == MPI_SUCCESS ? handle_of_new(args, copy.detach()) : MPI_DATATYPE_NULL;
    }
    if (code != MPI_SUCCESS) {
        for (std::size_t i = 0; i + 1 < made; ++i) {
            Datatype* type = to_object<Datatype>(types[i]);
            if (!type->is_predefined()) {
                note_freed(types[i]);
                Ref<Datatype>::adopt(type).reset();
            }
        }
    }
    return code;
}

int contents(const char* function, MPI_Datatype datatype, const Contents& out, bool plain) noexcept {
    Arguments args(function);
    if (checking() && !args.type("datatype", datatype)) {
        return args.code();
    }
    const Recipe& recipe = to_object<Datatype>(datatype)->recipe();
    if (recipe.combiner == MPI_COMBINER_NAMED) {
        return args.fail(MPI_ERR_TYPE, "the argument datatype is a named predefined type, which has no contents");
    }
    if (plain && !fits_plain_call(args, recipe)) {
        return args.code();
    }
    if (checking() &&
        !(room(args, "max_integers", out.max_integers, recipe.integers.size(), "array_of_integers", out.integers) &&
            room(args, "max_addresses", out.max_addresses, recipe.addresses.size(), "array_of_addresses",
                out.addresses) &&
            room(args, "max_large_counts", out.max_counts, recipe.counts.size(), "array_of_large_counts", out.counts) &&
            room(args, "max_datatypes", out.max_types, recipe.types.size(), "array_of_datatypes", out.types))) {
        return args.code();
    }
    std::copy(recipe.integers.begin(), recipe.integers.end(), out.integers);
    std::copy(recipe.addresses.begin(), recipe.addresses.end(), out.addresses);
    std::copy(recipe.counts.begin(), recipe.counts.end(), out.counts);
    return args.result(hand_out(args, recipe, out.types));
}

} // namespace
} // namespace patchbay::api

namespace api = patchbay::api;

int PMPI_Type_get_envelope(
    MPI_Datatype datatype, int* num_integers, int* num_addresses, int* num_datatypes, int* combiner) {
    return api::envelope(datatype, num_integers, num_addresses, num_datatypes, combiner);
}
int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count* num_integers, MPI_Count* num_addresses,
    MPI_Count* num_large_counts, MPI_Count* num_datatypes, int* combiner) {
    return api::envelope_c(datatype, num_integers, num_addresses, num_large_counts, num_datatypes, combiner);
}

int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
    int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[]) {
    const api::Contents out{max_integers, max_addresses, 0, max_datatypes, array_of_integers, array_of_addresses,
        nullptr, array_of_datatypes};
    return api::contents("MPI_Type_get_contents", datatype, out, true);
}
int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
    MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[],
    MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[]) {
    const api::Contents out{max_integers, max_addresses, max_large_counts, max_datatypes, array_of_integers,
        array_of_addresses, array_of_large_counts, array_of_datatypes};
    return api::contents("MPI_Type_get_contents_c", datatype, out, false);
}
