// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/recipe.h"

#include <gtest/gtest.h>

namespace patchbay::test {

inline Ref<Datatype> named(MPI_Datatype handle) {
    return Ref<Datatype>::share(to_object<Datatype>(handle));
}

// A recipe as a constructor with large counts writes it.
inline Recipe large(int combiner, std::vector<MPI_Count> counts, std::vector<Ref<Datatype>> types) {
    Recipe recipe;
    recipe.combiner = combiner;
    recipe.large = true;
    recipe.counts = std::move(counts);
    recipe.types = std::move(types);
    return recipe;
}

inline Ref<Datatype> create(Recipe recipe) {
    Ref<Datatype> type;
    EXPECT_EQ(Datatype::create(std::move(recipe), &type), MPI_SUCCESS);
    return type;
}

inline Ref<Datatype> create(int combiner, std::vector<MPI_Count> counts, std::vector<Ref<Datatype>> types) {
    return create(large(combiner, std::move(counts), std::move(types)));
}

} // namespace patchbay::test
