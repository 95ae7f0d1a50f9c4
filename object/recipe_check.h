// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/recipe.h"

namespace patchbay {

// For a recipe that did not come from a constructor of this process (object/type_description.h).

// Whether a constructor of MPI would accept these arguments: as many as it takes, and with its restrictions. The
// combiners of MPI_Type_create_f90_* and MPI_COMBINER_NAMED are not among those that it accepts. `body` is not looked
// at.
bool is_valid(const Recipe& recipe) noexcept;

// Builds the body of a valid recipe of an array type; nothing for other types. Returns an MPI code.
int add_body(Recipe& recipe);

} // namespace patchbay
