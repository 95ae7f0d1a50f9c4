// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/attribute.h"
#include "object/datatype_basic.h"
#include "object/handle.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace [[gnu::visibility("default")]] patchbay {

class Layout;  // where the data lies, as loops over blocks (object/layout.h)
struct Recipe; // combiner and arguments, for envelope/contents (object/recipe.h)

// A datatype (MPI-5.0, 5): immutable after construction but for commit, name and attributes.
class Datatype final : public Object {
public:
    // Makes the type a recipe describes; uncommitted, one reference for the caller. MPI_ERR_VALUE_TOO_LARGE: its size
    // or its bounds do not fit their types; MPI_ERR_NO_MEM.
    static int create(Recipe&& recipe, Ref<Datatype>* result) noexcept;
    // Another object that is the same type: made by the same call, committed if this one is, without its name and
    // attributes. What MPI_Type_get_contents hands out. A predefined type is its own clone. MPI_ERR_NO_MEM.
    int clone(Ref<Datatype>* result) noexcept;
    // With the last reference. Attributes have been deleted before, by MPI_Type_free.
    static void destroy(Datatype*) noexcept;

    // Read on the hot path.
    MPI_Count size = 0;  // bytes of data per element, MPI_UNDEFINED for an optional type we lack
    MPI_Aint extent = 0; // distance between elements
    MPI_Aint lower_bound = 0;
    MPI_Aint true_lower_bound = 0;
    MPI_Aint true_extent = 0;
    bool committed = false;
    // Any number of elements is one block of bytes starting at buffer + true_lower_bound: size == extent, in order.
    // Known from commit on.
    bool dense = false;
    // The predefined type this one is or merely renames (dup, MPI_Type_create_f90_*); 0 for all others.
    BasicIndex basic = 0;
    // Its bounds were set by hand somewhere inside (MPI_Type_create_resized, subarray, darray): such bounds hold
    // against those that follow from the data (MPI-5.0, 5.1.6).
    bool bounded = false;
    std::uint8_t alignment = 1; // largest of the basic types inside

    // An optional type this platform lacks.
    bool exists() const noexcept { return size != MPI_UNDEFINED; }
    // Builds the layout. MPI_SUCCESS or MPI_ERR_NO_MEM.
    int commit() noexcept;

    // The layout in bytes; neighbours of different basic types are one block. Built by commit, never changes. May
    // throw std::bad_alloc before that.
    const Layout& layout() const {
        std::call_once(_layout_once, [this] { build_layout(); });
        return *_layout;
    }
    // The layout by basic types, in the order of the typemap. Built on first need. May throw std::bad_alloc.
    const Layout& typed_layout() const {
        std::call_once(_typed_once, [this] { build_typed_layout(); });
        return *_typed;
    }
    const Recipe& recipe() const noexcept { return *_recipe; }

    // How many values of basic types a message of `bytes` bytes holds, as MPI_Get_elements counts them: MPI_UNDEFINED
    // where it ends inside one, or the number does not fit. May throw std::bad_alloc.
    MPI_Count elements_in(std::uint64_t bytes) const;
    // How many bytes the first `elements` values of basic types take: the inverse. May throw std::bad_alloc.
    std::uint64_t bytes_of_elements(MPI_Count elements) const;

    std::mutex mutex; // name
    std::string name;
    AttributeMap attributes;

    explicit Datatype(std::unique_ptr<const Recipe> recipe);
    // A predefined type; committed.
    explicit Datatype(const BasicType& type);
    ~Datatype();

private:
    void build_layout() const;
    void build_typed_layout() const;

    mutable std::once_flag _layout_once;
    mutable std::once_flag _typed_once;
    // Shared with types that differ in their bounds only.
    mutable std::shared_ptr<const Layout> _layout;
    mutable std::shared_ptr<const Layout> _typed;
    std::unique_ptr<const Recipe> _recipe;
};

} // namespace patchbay
