// SPDX-License-Identifier: BSD-3-Clause
#include "object/datatype.h"

#include "object/layout.h"
#include "object/recipe.h"
#include "object/recipe_blocks.h"

#include <algorithm>
#include <limits>
#include <new>
#include <ranges>
#include <utility>
#include <vector>

namespace patchbay {
namespace {

// A range of bytes, which may be empty.
struct Range {
    bool any = false;
    Wide low = 0;
    Wide high = 0;

    void include(Wide from, Wide to) {
        low = any ? std::min(low, from) : from;
        high = any ? std::max(high, to) : to;
        any = true;
    }
};

// Wherever it would be.
bool contains_nothing(const Piece& piece) noexcept {
    return piece.is_empty() || (piece.type->size == 0 && !piece.type->bounded);
}

// The properties of a type that follow from its typemap (MPI-5.0, 5.1.6 to 5.1.8).
struct Bounds {
    Wide size = 0;
    Range data;    // the true bounds
    Range markers; // the explicit bounds of components
    std::uint8_t alignment = 1;

    void add(const Piece& piece) {
        const Datatype& type = *piece.type;
        if (piece.is_empty()) {
            return;
        }
        alignment = std::max(alignment, type.alignment);
        Wide first = piece.displacement;
        Wide last = piece.displacement;
        Wide bytes = type.size;
        const auto repeat = [&](MPI_Count count, Wide stride) {
            const Wide across = stride * (count - 1);
            first += std::min(across, Wide(0));
            last += std::max(across, Wide(0));
            bytes *= count;
        };
        repeat(piece.length, type.extent);
        repeat(piece.repeat, piece.stride);
        for (std::size_t i = 0; i < piece.loops.size(); i += 2) {
            repeat(piece.loops[i], piece.loops[i + 1]);
        }
        size += bytes;
        if (contains_nothing(piece)) {
            return;
        }
        if (type.size > 0) {
            const Wide low = type.true_lower_bound;
            data.include(first + low, last + low + type.true_extent);
        }
        if (type.bounded) {
            const Wide low = type.lower_bound;
            markers.include(first + low, last + low + type.extent);
        }
    }
};

constexpr bool fits(Wide value) {
    return value >= std::numeric_limits<MPI_Aint>::min() && value <= std::numeric_limits<MPI_Aint>::max();
}

// The product of three factors may not even fit into a Wide.
bool overflows(const Piece& piece) {
    if (contains_nothing(piece)) {
        return false;
    }
    Wide size = Wide(piece.type->size) * piece.length;
    const auto repeats_too_far = [&](MPI_Count count, Wide stride) {
        Wide across = 0;
        return __builtin_mul_overflow(size, Wide(count), &size) || !fits(size) ||
            __builtin_mul_overflow(stride, Wide(count) - 1, &across) || !fits(across);
    };
    if (!fits(piece.displacement) || !fits(size) ||
        (piece.repeat != 1 && repeats_too_far(piece.repeat, piece.stride))) {
        return true;
    }
    for (std::size_t i = 0; i < piece.loops.size(); i += 2) {
        if (repeats_too_far(piece.loops[i], piece.loops[i + 1])) {
            return true;
        }
    }
    return false;
}

// Adds all blocks of a recipe that has lists of them, in numbers of 64 bits, where all have data and no explicit
// bounds, as most have. false: they have not, or a number does not fit; then nothing is added.
template <class Blocks>
bool add_blocks(const Blocks& blocks, Bounds& bounds) {
    MPI_Aint lowest = std::numeric_limits<MPI_Aint>::max(), highest = std::numeric_limits<MPI_Aint>::min(), size = 0;
    std::uint8_t alignment = 1;
    for (std::size_t i = 0; i < blocks.count; ++i) {
        const MPI_Aint length = blocks.lengths[i];
        if (length == 0) {
            continue;
        }
        const Datatype& type = blocks.types[i];
        MPI_Aint place = 0, along = 0, bytes = 0, low = 0, high = 0;
        if (type.bounded || type.size == 0 ||
            __builtin_mul_overflow(MPI_Aint(blocks.places[i]), blocks.scale, &place) ||
            __builtin_mul_overflow(type.extent, length - 1, &along) ||
            __builtin_mul_overflow(type.size, length, &bytes) || __builtin_add_overflow(size, bytes, &size) ||
            __builtin_add_overflow(place, type.true_lower_bound, &place) ||
            __builtin_add_overflow(place, std::min<MPI_Aint>(along, 0), &low) ||
            __builtin_add_overflow(place, std::max<MPI_Aint>(along, 0), &high) ||
            __builtin_add_overflow(high, type.true_extent, &high)) {
            return false;
        }
        lowest = std::min(lowest, low);
        highest = std::max(highest, high);
        alignment = std::max(alignment, type.alignment);
    }
    if (size == 0) {
        return false;
    }
    bounds.alignment = alignment;
    bounds.size = size;
    bounds.data = {true, lowest, highest};
    return true;
}

int measure(const Recipe& recipe, Bounds& bounds) {
    bool overflow = false;
    if (!with_blocks(recipe, [&](const auto& blocks) { return add_blocks(blocks, bounds); })) {
        for_each_piece(recipe, [&](const Piece& piece) {
            overflow = overflow || overflows(piece);
            if (!overflow) {
                bounds.add(piece);
            }
        });
    }
    const bool fine = !overflow && fits(bounds.size) && fits(bounds.data.low) && fits(bounds.data.high) &&
        fits(bounds.data.high - bounds.data.low) && fits(bounds.markers.low) &&
        fits(bounds.markers.high - bounds.markers.low);
    return fine ? MPI_SUCCESS : MPI_ERR_VALUE_TOO_LARGE;
}

int set_bounds(Datatype& type, const Recipe& recipe) {
    Bounds bounds;
    if (const int code = measure(recipe, bounds); code != MPI_SUCCESS) {
        return code;
    }
    type.size = static_cast<MPI_Count>(bounds.size);
    type.true_lower_bound = static_cast<MPI_Aint>(bounds.data.low);
    type.true_extent = static_cast<MPI_Aint>(bounds.data.high - bounds.data.low);
    type.alignment = bounds.alignment;
    type.bounded = bounds.markers.any;
    if (recipe.combiner == MPI_COMBINER_RESIZED) {
        type.bounded = true;
        type.lower_bound = recipe.address(0, 0);
        type.extent = recipe.address(1, 0);
    } else if (recipe.combiner == combiner_loops) {
        type.bounded = true;
        type.lower_bound = 0;
        type.extent = recipe.counts[1];
    } else if (bounds.markers.any) {
        type.lower_bound = static_cast<MPI_Aint>(bounds.markers.low);
        type.extent = static_cast<MPI_Aint>(bounds.markers.high - bounds.markers.low);
    } else {
        // The extent is rounded up to the alignment, as a C compiler rounds the size of a struct.
        const Wide alignment = bounds.alignment;
        const Wide extent = (Wide(type.true_extent) + alignment - 1) / alignment * alignment;
        if (!fits(extent)) {
            return MPI_ERR_VALUE_TOO_LARGE;
        }
        type.lower_bound = type.true_lower_bound;
        type.extent = static_cast<MPI_Aint>(extent);
    }
    return MPI_SUCCESS;
}

// The predefined type that this recipe renames.
BasicIndex renamed(const Recipe& recipe) {
    switch (recipe.combiner) {
    case MPI_COMBINER_DUP:
        return recipe.types.front()->basic;
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER:
        return recipe.body->basic;
    default:
        return 0;
    }
}

} // namespace

Datatype::Datatype(std::unique_ptr<const Recipe> recipe)
    : Object(ObjectKind::datatype),
      basic(renamed(*recipe)),
      _recipe(std::move(recipe)) {}

Datatype::Datatype(const BasicType& type)
    : Object(ObjectKind::datatype),
      size(type.exists() ? type.size : MPI_UNDEFINED),
      extent(type.extent),
      true_extent(type.is_pair() ? type.second_offset + basic_type(type.second).size : type.size),
      committed(type.exists()),
      dense(type.exists() && type.size == type.extent),
      basic(static_cast<BasicIndex>(type.handle & 0xff)),
      alignment(type.alignment),
      name(std::string("MPI_") + type.name),
      _recipe(std::make_unique<const Recipe>()) {
    set_predefined(type.handle);
}

Datatype::~Datatype() = default;

int Datatype::create(Recipe&& recipe, Ref<Datatype>* result) noexcept {
    try {
        auto type = Ref<Datatype>::adopt(new Datatype(std::make_unique<const Recipe>(std::move(recipe))));
        const int code = set_bounds(*type, type->recipe());
        if (code == MPI_SUCCESS) {
            *result = std::move(type);
        }
        return code;
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    }
}

// Without recursion: a type may be the last user of another one, to any depth.
void Datatype::destroy(Datatype* type) noexcept {
    thread_local Datatype* dying = nullptr;
    thread_local bool is_under_way = false;
    type->_next_dying = std::exchange(dying, type);
    if (is_under_way) {
        return;
    }
    is_under_way = true;
    while (dying != nullptr) {
        delete std::exchange(dying, dying->_next_dying);
    }
    is_under_way = false;
}

int Datatype::commit() noexcept {
    if (committed) {
        return MPI_SUCCESS;
    }
    try {
        const Layout& data = layout();
        const bool one_block = data.roots() == 1 && data.nodes()[data.first_root()].is_block() &&
            data.nodes()[data.first_root()].count == 1;
        dense = size == extent && (one_block || size == 0);
        committed = true;
        return MPI_SUCCESS;
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    }
}

int Datatype::clone(Ref<Datatype>* result) noexcept {
    if (is_predefined()) {
        *result = Ref<Datatype>::share(this);
        return MPI_SUCCESS;
    }
    try {
        Ref<Datatype> copy;
        const int code = create(Recipe(*_recipe), &copy);
        if (code != MPI_SUCCESS) {
            return code;
        }
        if (committed) {
            copy->set_layout(_layout); // no other thread knows the copy
            copy->dense = dense;
            copy->committed = true;
        }
        *result = std::move(copy);
        return MPI_SUCCESS;
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    }
}

// Builds the layouts of what this type consists of, the innermost first: a layout is made of those of its components,
// and types may be nested to any depth.
template <class Build>
void Datatype::build_components(std::atomic<const Layout*> Datatype::*built, const Build& build) const {
    const auto is_missing = [built](const Ref<Datatype>& type) {
        return (type.get()->*built).load(std::memory_order_acquire) == nullptr;
    };
    const auto is_deep = [&](const Ref<Datatype>& type) {
        return is_missing(type) && std::ranges::any_of(type->_recipe->components(), is_missing);
    };
    if (std::ranges::none_of(_recipe->components(), is_deep)) [[likely]] {
        return;
    }
    std::vector<const Datatype*> pending{this};
    while (!pending.empty()) {
        const Datatype* const last = pending.back();
        const std::size_t before = pending.size();
        for (const Ref<Datatype>& type : last->_recipe->components()) {
            if (is_missing(type)) {
                pending.push_back(type.get());
            }
        }
        if (pending.size() == before) {
            pending.pop_back();
            if (last != this) {
                build(*last);
            }
        }
    }
}

const Layout& Datatype::build_layout() const {
    build_components(&Datatype::_built, [](const Datatype& type) { type.layout(); });
    const std::lock_guard lock(mutex);
    if (_layout == nullptr) {
        constexpr auto view = Layout::View::bytes;
        if (_recipe->combiner == MPI_COMBINER_NAMED) {
            set_layout(std::make_shared<const Layout>(view, basic_type(basic)));
        } else if (const Datatype* same = _recipe->same_data()) {
            same->layout();
            set_layout(same->_layout);
        } else {
            set_layout(std::make_shared<const Layout>(view, *_recipe));
        }
    }
    return *_layout;
}

void Datatype::set_layout(std::shared_ptr<const Layout> layout) const noexcept {
    _layout = std::move(layout);
    _built.store(_layout.get(), std::memory_order_release);
}

const Layout& Datatype::build_typed_layout() const {
    build_components(&Datatype::_built_typed, [](const Datatype& type) { type.typed_layout(); });
    const std::lock_guard lock(mutex);
    if (_typed == nullptr) {
        constexpr auto view = Layout::View::typed;
        if (_recipe->combiner == MPI_COMBINER_NAMED) {
            _typed = std::make_shared<const Layout>(view, basic_type(basic));
        } else if (const Datatype* same = _recipe->same_data()) {
            same->typed_layout();
            _typed = same->_typed;
        } else {
            _typed = std::make_shared<const Layout>(view, *_recipe);
        }
        _built_typed.store(_typed.get(), std::memory_order_release);
    }
    return *_typed;
}

MPI_Count Datatype::elements_in(std::uint64_t bytes) const {
    if (size <= 0) {
        return bytes == 0 ? 0 : MPI_UNDEFINED;
    }
    const Layout& types = typed_layout();
    const auto element_size = static_cast<std::uint64_t>(size);
    std::size_t rest = 0;
    const std::uint64_t last = types.items_in(bytes % element_size, &rest);
    std::uint64_t whole = 0;
    const bool overflow = __builtin_mul_overflow(bytes / element_size, types.items(), &whole) ||
        __builtin_add_overflow(whole, last, &whole) ||
        whole > static_cast<std::uint64_t>(std::numeric_limits<MPI_Count>::max());
    return rest != 0 || overflow ? MPI_UNDEFINED : static_cast<MPI_Count>(whole);
}

std::optional<MPI_Count> Datatype::bytes_of_elements(MPI_Count elements) const {
    if (size <= 0) {
        return 0;
    }
    const Layout& types = typed_layout();
    const auto count = static_cast<std::uint64_t>(elements);
    MPI_Count bytes = 0;
    const bool overflow = __builtin_mul_overflow(count / types.items(), size, &bytes) ||
        __builtin_add_overflow(bytes, types.bytes_of(count % types.items()), &bytes);
    return overflow ? std::nullopt : std::optional(bytes);
}

} // namespace patchbay
