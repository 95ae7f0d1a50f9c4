// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/attribute.h"
#include "object/datatype_basic.h"
#include "object/handle.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace [[gnu::visibility("default")]] patchbay {

class Layout;  // the displacements of the data, as loops over blocks (object/layout.h)
struct Recipe; // combiner and arguments, for MPI_Type_get_contents (object/recipe.h)

// A datatype (MPI-5.0, 5). After construction only its commit state, name and attributes change.
class Datatype final : public Object {
public:
    // Constructs the type that a recipe describes. The type is not committed. MPI_ERR_VALUE_TOO_LARGE: its size or its
    // bounds do not fit their types; MPI_ERR_NO_MEM.
    static int create(Recipe&& recipe, Ref<Datatype>* result) noexcept;
    // Constructs an equal type for MPI_Type_get_contents: from the same recipe, committed if this type is committed,
    // without its name and attributes. The clone of a predefined type is that type itself. MPI_ERR_NO_MEM.
    int clone(Ref<Datatype>* result) noexcept;
    // Called with the last reference. MPI_Type_free has deleted the attributes before.
    static void destroy(Datatype*) noexcept;

    // These are read on the hot path.
    MPI_Count size = 0;  // bytes of data per element; MPI_UNDEFINED for an optional type that is not supported
    MPI_Aint extent = 0; // distance between elements
    MPI_Aint lower_bound = 0;
    MPI_Aint true_lower_bound = 0;
    MPI_Aint true_extent = 0;
    bool committed = false;
    // Whether any number of elements is one block of bytes that begins at buffer + true_lower_bound. Valid after
    // commit.
    bool dense = false;
    // The index of this type if it is predefined, or of the type that it renames (dup, MPI_Type_create_f90_*);
    // otherwise 0.
    BasicIndex basic = 0;
    // Whether this type or a component has explicit bounds (MPI_Type_create_resized, subarray, darray). They take
    // precedence over the bounds that follow from the data (MPI-5.0, 5.1.6).
    bool bounded = false;
    std::uint8_t alignment = 1; // the largest one of the basic types in it

    // false: this is an optional type that this platform does not support.
    bool exists() const noexcept { return size != MPI_UNDEFINED; }
    // Builds the layout. MPI_SUCCESS or MPI_ERR_NO_MEM.
    int commit() noexcept;

    // The layout in bytes, where adjacent data of different basic types form one block. Commit builds it, and it does
    // not change. May throw std::bad_alloc before commit.
    const Layout& layout() const {
        const Layout* const built = _built.load(std::memory_order_acquire);
        if (built != nullptr) [[likely]] {
            return *built;
        }
        return build_layout();
    }
    // The layout by basic types, in the order of the typemap. Built on first use. May throw std::bad_alloc.
    const Layout& typed_layout() const {
        if (const Layout* const built = _built_typed.load(std::memory_order_acquire)) {
            return *built;
        }
        return build_typed_layout();
    }
    const Recipe& recipe() const noexcept { return *_recipe; }

    // The number of values of basic types in a message of `bytes` bytes, as MPI_Get_elements counts them.
    // MPI_UNDEFINED: the message ends within a value, or the number does not fit. May throw std::bad_alloc.
    MPI_Count elements_in(std::uint64_t bytes) const;
    // The inverse: the number of bytes of the first `elements` values of basic types; nullopt: it does not fit. May
    // throw std::bad_alloc.
    std::optional<MPI_Count> bytes_of_elements(MPI_Count elements) const;

    // Protects name, and is held while a layout is built. Not std::call_once, which ends its first call by a futex
    // system call although no thread waits. The types that this one consists of are locked within it.
    mutable std::mutex mutex;
    std::string name;
    AttributeMap attributes;

    explicit Datatype(std::unique_ptr<const Recipe> recipe);
    // Constructs a predefined type, which is committed.
    explicit Datatype(const BasicType& type);
    ~Datatype();

private:
    const Layout& build_layout() const; // unless another thread has
    const Layout& build_typed_layout() const;
    template <class Build>
    void build_components(std::atomic<const Layout*> Datatype::*built, const Build& build) const;
    void set_layout(std::shared_ptr<const Layout> layout) const noexcept;

    mutable std::atomic<const Layout*> _built = nullptr;       // what _layout points to, once it is there
    mutable std::atomic<const Layout*> _built_typed = nullptr; // what _typed points to
    // The layouts are shared with types that differ in their bounds only.
    mutable std::shared_ptr<const Layout> _layout;
    mutable std::shared_ptr<const Layout> _typed;
    std::unique_ptr<const Recipe> _recipe;
    Datatype* _next_dying = nullptr;
};

} // namespace patchbay
