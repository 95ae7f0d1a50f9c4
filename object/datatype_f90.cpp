// SPDX-License-Identifier: BSD-3-Clause
#include "object/datatype_f90.h"

#include "object/recipe.h"

#include <map>
#include <mutex>
#include <new>
#include <tuple>

namespace patchbay {
namespace {

struct RealKind {
    int precision; // decimal digits
    int range;     // decimal exponent
    MPI_Datatype real;
    MPI_Datatype complex;
};

// In the order in which selected_real_kind prefers them: the lowest sufficient precision first.
const RealKind real_kinds[] = {
    {6, 37, MPI_REAL4, MPI_COMPLEX8},
    {15, 307, MPI_REAL8, MPI_COMPLEX16},
    {18, 4931, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
    {33, 4931, MPI_REAL16, MPI_COMPLEX32},
};

struct IntegerKind {
    int range;
    MPI_Datatype type;
};

const IntegerKind integer_kinds[] = {
    {2, MPI_INTEGER1},
    {4, MPI_INTEGER2},
    {9, MPI_INTEGER4},
    {18, MPI_INTEGER8},
    {38, MPI_INTEGER16},
};

const RealKind* real_kind(int precision, int range) {
    if (precision == MPI_UNDEFINED && range == MPI_UNDEFINED) {
        return nullptr;
    }
    for (const RealKind& kind : real_kinds) {
        if (precision <= kind.precision && range <= kind.range) { // MPI_UNDEFINED is less than all of them
            return &kind;
        }
    }
    return nullptr;
}

// The types that have been constructed, by combiner and arguments. They exist as long as the library is loaded, because
// a program cannot free them. There are few of them.
class Registry {
public:
    int find_or_make(int combiner, std::initializer_list<int> arguments, MPI_Datatype body, Datatype** result) {
        const std::lock_guard lock(_mutex);
        const Key key{combiner, *arguments.begin(), *(arguments.end() - 1)};
        Ref<Datatype>& type = _types[key];
        if (!type) {
            Recipe recipe;
            recipe.combiner = combiner;
            recipe.integers = arguments;
            recipe.body = Ref<Datatype>::share(to_object<Datatype>(body));
            int code = Datatype::create(std::move(recipe), &type);
            if (code == MPI_SUCCESS) {
                code = type->commit();
            }
            if (code != MPI_SUCCESS) {
                type.reset();
                return code;
            }
            type->set_predefined(reinterpret_cast<std::uintptr_t>(type.get()));
        }
        *result = type.get();
        return MPI_SUCCESS;
    }

private:
    using Key = std::tuple<int, int, int>;
    std::mutex _mutex;
    std::map<Key, Ref<Datatype>> _types;
};

int find_or_make(int combiner, std::initializer_list<int> arguments, MPI_Datatype body, Datatype** result) noexcept {
    try {
        static auto& registry = *new Registry; // never destroyed: a program may use the types in its static destructors
        return registry.find_or_make(combiner, arguments, body, result);
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    }
}

} // namespace

int f90_real(int precision, int range, Datatype** result) noexcept {
    const RealKind* kind = real_kind(precision, range);
    return kind == nullptr ? MPI_ERR_ARG : find_or_make(MPI_COMBINER_F90_REAL, {precision, range}, kind->real, result);
}

int f90_complex(int precision, int range, Datatype** result) noexcept {
    const RealKind* kind = real_kind(precision, range);
    return kind == nullptr ? MPI_ERR_ARG
                           : find_or_make(MPI_COMBINER_F90_COMPLEX, {precision, range}, kind->complex, result);
}

int f90_integer(int range, Datatype** result) noexcept {
    for (const IntegerKind& kind : integer_kinds) {
        if (range <= kind.range) {
            return find_or_make(MPI_COMBINER_F90_INTEGER, {range}, kind.type, result);
        }
    }
    return MPI_ERR_ARG;
}

Datatype* type_of_size(int type_class, int size) noexcept {
    static const std::pair<int, MPI_Datatype> types[] = {
        {MPI_TYPECLASS_INTEGER, MPI_INTEGER1},
        {MPI_TYPECLASS_INTEGER, MPI_INTEGER2},
        {MPI_TYPECLASS_INTEGER, MPI_INTEGER4},
        {MPI_TYPECLASS_INTEGER, MPI_INTEGER8},
        {MPI_TYPECLASS_INTEGER, MPI_INTEGER16},
        {MPI_TYPECLASS_REAL, MPI_REAL2},
        {MPI_TYPECLASS_REAL, MPI_REAL4},
        {MPI_TYPECLASS_REAL, MPI_REAL8},
        {MPI_TYPECLASS_REAL, MPI_REAL16},
        {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX4},
        {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX8},
        {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX16},
        {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX32},
        {MPIX_TYPECLASS_LOGICAL, MPI_LOGICAL1},
        {MPIX_TYPECLASS_LOGICAL, MPI_LOGICAL2},
        {MPIX_TYPECLASS_LOGICAL, MPI_LOGICAL4},
        {MPIX_TYPECLASS_LOGICAL, MPI_LOGICAL8},
        {MPIX_TYPECLASS_LOGICAL, MPI_LOGICAL16},
    };
    for (const auto& [of_class, handle] : types) {
        Datatype* type = to_object<Datatype>(handle);
        if (of_class == type_class && type->exists() && type->size == size) {
            return type;
        }
    }
    return nullptr;
}

Datatype* pair_type(const Datatype& value, const Datatype& index) noexcept {
    for (Datatype* type : Predefined<Datatype>::table) {
        if (type == nullptr) {
            continue;
        }
        const BasicType& basic = basic_type(type->basic);
        if (basic.is_pair() && basic.first == value.basic && basic.second == index.basic) {
            return type;
        }
    }
    return nullptr;
}

} // namespace patchbay
