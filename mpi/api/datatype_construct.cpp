// SPDX-License-Identifier: BSD-3-Clause
// Constructors of derived datatypes other than array types (MPI-5.0, 5.1.2 and 5.1.7), dup, commit and free.
#include "mpi/api/args.h"
#include "mpi/api/handles.h"
#include "object/recipe.h"

#include <new>

namespace patchbay::api {
namespace {

// The arguments of the plain constructors are int and MPI_Aint, those of the large ones MPI_Count.
template <class Count>
constexpr bool is_large = std::is_same_v<Count, MPI_Count>;

template <class Count>
Recipe recipe_of(int combiner, MPI_Datatype old) {
    Recipe recipe;
    recipe.combiner = combiner;
    recipe.large = is_large<Count>;
    recipe.types.push_back(Ref<Datatype>::share(to_object<Datatype>(old)));
    return recipe;
}

// Checks a component, which may be any supported type and need not be committed.
bool component(Arguments& args, const char* name, MPI_Datatype handle) noexcept {
    return args.type(name, handle) &&
        args.require(to_object<Datatype>(handle)->exists(), MPI_ERR_TYPE, name,
            MPI_Count(reinterpret_cast<std::uintptr_t>(handle)), "is an optional type that is not supported");
}

// Constructs a type from the recipe that `describe` returns.
template <class Describe>
int construct(const Arguments& args, MPI_Datatype* newtype, Describe&& describe) noexcept {
    try {
        Ref<Datatype> type;
        const int code = Datatype::create(describe(), &type);
        if (code == MPI_ERR_VALUE_TOO_LARGE) {
            return args.fail(code, "the size or the bounds of the new type do not fit into 64 bits");
        }
        if (code == MPI_SUCCESS) {
            *newtype = handle_of_new(args, type.detach());
        }
        return args.result(code);
    } catch (const std::bad_alloc&) {
        return args.result(MPI_ERR_NO_MEM);
    }
}

template <class Count>
bool block_lengths(Arguments& args, const char* name, Count count, const Count* lengths) noexcept {
    if (!args.array(name, lengths, count)) {
        return false;
    }
    for (Count i = 0; i < count; ++i) {
        if (!args.require(lengths[i] >= 0, MPI_ERR_ARG, name, lengths[i], "must not be negative")) {
            return false;
        }
    }
    return true;
}

template <class T, class Count>
std::span<const T> span_of(const T* values, Count count) noexcept {
    return {values, static_cast<std::size_t>(count)};
}

template <class Count>
int contiguous(const char* function, Count count, MPI_Datatype old, MPI_Datatype* newtype) noexcept {
    Arguments args(function);
    if (checking() &&
        !(args.count("count", count) && component(args, "oldtype", old) && args.pointer("newtype", newtype))) {
        return args.code();
    }
    return construct(args, newtype, [&] {
        Recipe recipe = recipe_of<Count>(MPI_COMBINER_CONTIGUOUS, old);
        recipe.add_count(count);
        return recipe;
    });
}

template <class Count>
int vector(
    const char* function, Count count, Count length, Count stride, MPI_Datatype old, MPI_Datatype* newtype) noexcept {
    Arguments args(function);
    if (checking() &&
        !(args.count("count", count) &&
            args.require(length >= 0, MPI_ERR_ARG, "blocklength", length, "must not be negative") &&
            component(args, "oldtype", old) && args.pointer("newtype", newtype))) {
        return args.code();
    }
    return construct(args, newtype, [&] {
        Recipe recipe = recipe_of<Count>(MPI_COMBINER_VECTOR, old);
        recipe.reserve(3, 0);
        recipe.add_count(count);
        recipe.add_count(length);
        recipe.add_count(stride);
        return recipe;
    });
}

template <class Count>
int hvector(const char* function, Count count, Count length, MPI_Aint stride, MPI_Datatype old,
    MPI_Datatype* newtype) noexcept {
    Arguments args(function);
    if (checking() &&
        !(args.count("count", count) &&
            args.require(length >= 0, MPI_ERR_ARG, "blocklength", length, "must not be negative") &&
            component(args, "oldtype", old) && args.pointer("newtype", newtype))) {
        return args.code();
    }
    return construct(args, newtype, [&] {
        Recipe recipe = recipe_of<Count>(MPI_COMBINER_HVECTOR, old);
        recipe.reserve(2, 1);
        recipe.add_count(count);
        recipe.add_count(length);
        recipe.add_address(stride);
        return recipe;
    });
}

// The displacements of indexed are counts of elements; those of hindexed are addresses in bytes.
template <class Count, class Displacement>
int indexed(const char* function, int combiner, Count count, const Count* lengths, const Displacement* displacements,
    MPI_Datatype old, MPI_Datatype* newtype) noexcept {
    Arguments args(function);
    if (checking() &&
        !(args.count("count", count) && block_lengths(args, "array_of_blocklengths", count, lengths) &&
            args.array("array_of_displacements", displacements, count) && component(args, "oldtype", old) &&
            args.pointer("newtype", newtype))) {
        return args.code();
    }
    return construct(args, newtype, [&] {
        Recipe recipe = recipe_of<Count>(combiner, old);
        const auto n = static_cast<std::size_t>(count);
        constexpr bool counts_elements = std::is_same_v<Displacement, Count>;
        recipe.reserve(1 + (counts_elements ? 2 * n : n), counts_elements ? 0 : n);
        recipe.add_count(count);
        recipe.add_counts(span_of(lengths, count));
        if constexpr (std::is_same_v<Displacement, Count>) {
            recipe.add_counts(span_of(displacements, count));
        } else {
            recipe.add_addresses(span_of(displacements, count));
        }
        return recipe;
    });
}

template <class Count, class Displacement>
int indexed_block(const char* function, int combiner, Count count, Count length, const Displacement* displacements,
    MPI_Datatype old, MPI_Datatype* newtype) noexcept {
    Arguments args(function);
    if (checking() &&
        !(args.count("count", count) &&
            args.require(length >= 0, MPI_ERR_ARG, "blocklength", length, "must not be negative") &&
            args.array("array_of_displacements", displacements, count) && component(args, "oldtype", old) &&
            args.pointer("newtype", newtype))) {
        return args.code();
    }
    return construct(args, newtype, [&] {
        Recipe recipe = recipe_of<Count>(combiner, old);
        const auto n = static_cast<std::size_t>(count);
        constexpr bool counts_elements = std::is_same_v<Displacement, Count>;
        recipe.reserve(2 + (counts_elements ? n : 0), counts_elements ? 0 : n);
        recipe.add_count(count);
        recipe.add_count(length);
        if constexpr (std::is_same_v<Displacement, Count>) {
            recipe.add_counts(span_of(displacements, count));
        } else {
            recipe.add_addresses(span_of(displacements, count));
        }
        return recipe;
    });
}

template <class Count>
bool components(Arguments& args, Count count, const MPI_Datatype* types) noexcept {
    if (!args.array("array_of_types", types, count)) {
        return false;
    }
    for (Count i = 0; i < count; ++i) {
        if (!component(args, "array_of_types", types[i])) {
            return false;
        }
    }
    return true;
}

template <class Count>
int structure(const char* function, Count count, const Count* lengths, const MPI_Aint* displacements,
    const MPI_Datatype* types, MPI_Datatype* newtype) noexcept {
    Arguments args(function);
    if (checking() &&
        !(args.count("count", count) && block_lengths(args, "array_of_blocklengths", count, lengths) &&
            args.array("array_of_displacements", displacements, count) && components(args, count, types) &&
            args.pointer("newtype", newtype))) {
        return args.code();
    }
    return construct(args, newtype, [&] {
        Recipe recipe;
        recipe.combiner = MPI_COMBINER_STRUCT;
        recipe.large = is_large<Count>;
        recipe.reserve(1 + static_cast<std::size_t>(count), static_cast<std::size_t>(count));
        recipe.add_count(count);
        recipe.add_counts(span_of(lengths, count));
        recipe.add_addresses(span_of(displacements, count));
        recipe.types.reserve(static_cast<std::size_t>(count));
        for (MPI_Datatype type : span_of(types, count)) {
            recipe.types.push_back(Ref<Datatype>::share(to_object<Datatype>(type)));
        }
        return recipe;
    });
}

template <class Count>
int resized(
    const char* function, MPI_Datatype old, MPI_Aint lower_bound, MPI_Aint extent, MPI_Datatype* newtype) noexcept {
    Arguments args(function);
    if (checking() && !(component(args, "oldtype", old) && args.pointer("newtype", newtype))) {
        return args.code();
    }
    return construct(args, newtype, [&] {
        Recipe recipe = recipe_of<Count>(MPI_COMBINER_RESIZED, old);
        recipe.add_address(lower_bound);
        recipe.add_address(extent);
        return recipe;
    });
}

// A duplicate is committed if its original is, and gets copies of the attributes (MPI-5.0, 5.1.10). If a copy callback
// returns an error, the program gets a null handle.
int dup(MPI_Datatype old, MPI_Datatype* newtype) noexcept {
    Arguments args("MPI_Type_dup");
    if (checking() && !(component(args, "oldtype", old) && args.pointer("newtype", newtype))) {
        return args.code();
    }
    try {
        Datatype& original = *to_object<Datatype>(old);
        *newtype = MPI_DATATYPE_NULL;
        Ref<Datatype> copy;
        int code = Datatype::create(recipe_of<int>(MPI_COMBINER_DUP, old), &copy);
        if (code == MPI_SUCCESS && original.committed) {
            code = copy->commit();
        }
        if (code == MPI_SUCCESS) {
            code = original.attributes.copy_to(copy->attributes, AttributeOwner::datatype, old, to_handle(copy.get()));
        }
        *newtype = code == MPI_SUCCESS ? handle_of_new(args, copy.detach()) : MPI_DATATYPE_NULL;
        return args.result(code);
    } catch (const std::bad_alloc&) {
        return args.result(MPI_ERR_NO_MEM);
    }
}

int commit(MPI_Datatype* datatype) noexcept {
    Arguments args("MPI_Type_commit");
    if (checking() && !(args.pointer("datatype", datatype) && component(args, "datatype", *datatype))) {
        return args.code();
    }
    return args.result(to_object<Datatype>(*datatype)->commit());
}

int free(MPI_Datatype* datatype) noexcept {
    Arguments args("MPI_Type_free");
    if (checking() && !(args.pointer("datatype", datatype) && args.type("datatype", *datatype))) {
        return args.code();
    }
    Datatype* type = to_object<Datatype>(*datatype);
    if (type->is_predefined()) {
        return args.fail(MPI_ERR_TYPE, "the argument datatype is a predefined type, which cannot be freed");
    }
    // If a deletion callback returns an error, the type is not freed.
    if (const int code = type->attributes.erase_all(AttributeOwner::datatype, *datatype); code != MPI_SUCCESS) {
        return args.result(code);
    }
    note_freed(*datatype);
    Ref<Datatype>::adopt(type).reset();
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

} // namespace
} // namespace patchbay::api

namespace api = patchbay::api;

int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::contiguous("MPI_Type_contiguous", count, oldtype, newtype);
}
int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::contiguous("MPI_Type_contiguous_c", count, oldtype, newtype);
}

int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::vector("MPI_Type_vector", count, blocklength, stride, oldtype, newtype);
}
int PMPI_Type_vector_c(
    MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::vector("MPI_Type_vector_c", count, blocklength, stride, oldtype, newtype);
}

int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::hvector("MPI_Type_create_hvector", count, blocklength, stride, oldtype, newtype);
}
int PMPI_Type_create_hvector_c(
    MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::hvector("MPI_Type_create_hvector_c", count, blocklength, MPI_Aint(stride), oldtype, newtype);
}

int PMPI_Type_indexed(int count, const int array_of_blocklengths[], const int array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::indexed("MPI_Type_indexed", MPI_COMBINER_INDEXED, count, array_of_blocklengths, array_of_displacements,
        oldtype, newtype);
}
int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::indexed("MPI_Type_indexed_c", MPI_COMBINER_INDEXED, count, array_of_blocklengths,
        array_of_displacements, oldtype, newtype);
}

int PMPI_Type_create_hindexed(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::indexed("MPI_Type_create_hindexed", MPI_COMBINER_HINDEXED, count, array_of_blocklengths,
        array_of_displacements, oldtype, newtype);
}
int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::indexed("MPI_Type_create_hindexed_c", MPI_COMBINER_HINDEXED, count, array_of_blocklengths,
        array_of_displacements, oldtype, newtype);
}

int PMPI_Type_create_indexed_block(
    int count, int blocklength, const int array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::indexed_block("MPI_Type_create_indexed_block", MPI_COMBINER_INDEXED_BLOCK, count, blocklength,
        array_of_displacements, oldtype, newtype);
}
int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::indexed_block("MPI_Type_create_indexed_block_c", MPI_COMBINER_INDEXED_BLOCK, count, blocklength,
        array_of_displacements, oldtype, newtype);
}

int PMPI_Type_create_hindexed_block(
    int count, int blocklength, const MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::indexed_block("MPI_Type_create_hindexed_block", MPI_COMBINER_HINDEXED_BLOCK, count, blocklength,
        array_of_displacements, oldtype, newtype);
}
int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::indexed_block("MPI_Type_create_hindexed_block_c", MPI_COMBINER_HINDEXED_BLOCK, count, blocklength,
        array_of_displacements, oldtype, newtype);
}

int PMPI_Type_create_struct(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
    const MPI_Datatype array_of_types[], MPI_Datatype* newtype) {
    return api::structure(
        "MPI_Type_create_struct", count, array_of_blocklengths, array_of_displacements, array_of_types, newtype);
}
int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
    const MPI_Count array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype* newtype) {
    return api::structure(
        "MPI_Type_create_struct_c", count, array_of_blocklengths, array_of_displacements, array_of_types, newtype);
}

int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype* newtype) {
    return api::resized<int>("MPI_Type_create_resized", oldtype, lb, extent, newtype);
}
int PMPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype* newtype) {
    return api::resized<MPI_Count>("MPI_Type_create_resized_c", oldtype, MPI_Aint(lb), MPI_Aint(extent), newtype);
}

int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return api::dup(oldtype, newtype);
}
int PMPI_Type_commit(MPI_Datatype* datatype) {
    return api::commit(datatype);
}
int PMPI_Type_free(MPI_Datatype* datatype) {
    return api::free(datatype);
}
