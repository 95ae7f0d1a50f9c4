// SPDX-License-Identifier: BSD-3-Clause
#include "object/datatype.h"
#include "object/recipe.h"

#include <array>
#include <new>
#include <utility>

namespace patchbay {
namespace {

// Memory for an object that is constructed when the library is loaded, before one of its functions can be called, and
// that is never destroyed: predefined handles stay valid between MPI_Finalize and the next initialization.
union Slot {
    constexpr Slot()
        : nothing{} {}
    ~Slot() {}
    char nothing;
    Datatype type;
};

constexpr std::size_t handle_count = HandleTraits<Datatype>::count;
constinit std::array<Slot, basic_type_count> slots;

struct Maker {
    Maker() {
        std::size_t made = 0;
        for (std::size_t i = 1; i < handle_count; ++i) {
            const BasicType& type = basic_type(static_cast<BasicIndex>(i));
            if (type.handle != 0) {
                Predefined<Datatype>::table[i] = new (&slots[made++].type) Datatype(type);
            }
        }
    }
};
const Maker maker;

} // namespace

template <>
constinit Datatype* Predefined<Datatype>::table[handle_count] = {};

} // namespace patchbay
