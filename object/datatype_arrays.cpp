// SPDX-License-Identifier: BSD-3-Clause
#include "object/datatype_arrays.h"

#include "object/recipe.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

namespace patchbay {
namespace {

// Builds an array type from its fastest dimension to its slowest, as loops over elements of one type. Only where the
// end of the array cuts off a block, what has been built so far becomes a type. After an error, all further calls have
// no effect.
class ArrayBuilder {
public:
    explicit ArrayBuilder(Datatype& element)
        : _type(Ref<Datatype>::share(&element)),
          _stride(element.extent) {}

    // Adds a dimension of `size` elements, of which the part has `count` from index `start` on. An element is the type
    // that has been built so far.
    void take_block(MPI_Count start, MPI_Count count, MPI_Count size) {
        repeat(count, _stride);
        step(start, size);
    }

    // Adds a dimension of `size` elements, of which the part has every `period`-th block of `block` elements; the first
    // block begins at index `start`, and the end of the array may cut off the last one.
    void take_cyclic(MPI_Count start, MPI_Count block, MPI_Count period, MPI_Count size) {
        const MPI_Count span = std::max<MPI_Count>(size - start, 0);
        const MPI_Count whole = span / period + (span % period >= block ? 1 : 0);
        const MPI_Count rest = span % period >= block ? 0 : span % period;
        const Wide distance = Wide(_stride) * period;
        if (rest > 0) {
            close_loops();
            const Ref<Datatype> element = _type;
            repeat(rest, _stride);
            close_loops();
            const Ref<Datatype> last = std::exchange(_type, element);
            repeat(block, _stride);
            repeat(whole, distance);
            close_loops();
            _type = join(_type, last, distance * whole);
        } else {
            repeat(block, _stride);
            repeat(whole, distance);
        }
        step(start, size);
    }

    // Gives the part its displacement, and the bounds of the whole array.
    int finish(Ref<Datatype>* result) {
        if (!fits(_displacement) || !fits(_stride)) {
            fail(MPI_ERR_VALUE_TOO_LARGE);
        }
        *result = looped(_displacement);
        return _code;
    }

private:
    static bool fits(Wide value) { return value == Wide(static_cast<MPI_Aint>(value)); }

    void fail(int code) {
        if (_code == MPI_SUCCESS) {
            _code = code;
        }
    }

    static Recipe large(int combiner, std::vector<Ref<Datatype>> types) {
        Recipe recipe;
        recipe.combiner = combiner;
        recipe.large = true;
        recipe.types = std::move(types);
        return recipe;
    }

    Ref<Datatype> make(Recipe recipe) {
        Ref<Datatype> type;
        if (_code == MPI_SUCCESS) {
            fail(Datatype::create(std::move(recipe), &type));
        }
        return type;
    }

    void repeat(MPI_Count count, Wide stride) {
        if (!fits(stride)) {
            fail(MPI_ERR_VALUE_TOO_LARGE);
        }
        if (count != 1) {
            _loops.insert(_loops.end(), {count, static_cast<MPI_Count>(stride)});
        }
    }

    // The type of the loops, whose extent is the distance between neighbours in the next dimension.
    Ref<Datatype> looped(Wide displacement) {
        Recipe recipe = large(combiner_loops, {std::move(_type)});
        recipe.counts.reserve(2 + _loops.size());
        recipe.counts = {static_cast<MPI_Count>(displacement), static_cast<MPI_Count>(_stride)};
        recipe.counts.insert(recipe.counts.end(), _loops.begin(), _loops.end());
        _loops.clear();
        return make(std::move(recipe));
    }
    void close_loops() {
        if (!_loops.empty() && _code == MPI_SUCCESS) {
            _type = looped(0);
        }
    }

    Ref<Datatype> join(const Ref<Datatype>& first, const Ref<Datatype>& second, Wide displacement) {
        if (!fits(displacement)) {
            fail(MPI_ERR_VALUE_TOO_LARGE);
        }
        Recipe recipe = large(MPI_COMBINER_STRUCT, {first, second});
        recipe.counts = {2, 1, 1, 0, static_cast<MPI_Count>(displacement)};
        return make(std::move(recipe));
    }

    void step(MPI_Count start, MPI_Count size) {
        Wide offset = 0;
        if (__builtin_mul_overflow(_stride, Wide(start), &offset) || !fits(offset) ||
            __builtin_mul_overflow(_stride, Wide(size), &_stride) || !fits(_stride)) {
            fail(MPI_ERR_VALUE_TOO_LARGE);
            return;
        }
        _displacement += offset;
    }

    Ref<Datatype> _type;           // of the elements of the loops
    std::vector<MPI_Count> _loops; // as in combiner_loops
    Wide _stride;                  // distance between neighbours in the next dimension
    Wide _displacement = 0;
    int _code = MPI_SUCCESS;
};

// Visits the dimensions from the fastest to the slowest.
template <class Visit>
void for_each_dimension(std::size_t count, int order, Visit&& visit) {
    for (std::size_t i = 0; i < count; ++i) {
        visit(order == MPI_ORDER_FORTRAN ? i : count - 1 - i);
    }
}

} // namespace

int make_subarray_body(std::span<const MPI_Count> sizes, std::span<const MPI_Count> subsizes,
    std::span<const MPI_Count> starts, int order, Datatype& element, Ref<Datatype>* result) noexcept {
    try {
        ArrayBuilder builder(element);
        for_each_dimension(
            sizes.size(), order, [&](std::size_t i) { builder.take_block(starts[i], subsizes[i], sizes[i]); });
        return builder.finish(result);
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    }
}

MPI_Count DistributedDimension::block() const noexcept {
    if (argument != MPI_DISTRIBUTE_DFLT_DARG) {
        return argument;
    }
    return distribution == MPI_DISTRIBUTE_CYCLIC ? 1 : size / processes + (size % processes != 0 ? 1 : 0);
}

void set_grid_coordinates(std::span<DistributedDimension> dimensions, int rank) noexcept {
    for (auto d = dimensions.rbegin(); d != dimensions.rend(); ++d) {
        d->coordinate = rank % d->processes;
        rank /= d->processes;
    }
}

int make_darray_body(
    std::span<const DistributedDimension> dimensions, int order, Datatype& element, Ref<Datatype>* result) noexcept {
    try {
        ArrayBuilder builder(element);
        for_each_dimension(dimensions.size(), order, [&](std::size_t i) {
            const DistributedDimension& d = dimensions[i];
            if (d.distribution == MPI_DISTRIBUTE_NONE) {
                builder.take_block(0, d.size, d.size);
                return;
            }
            const MPI_Count block = d.block();
            const MPI_Count start = std::min(block * d.coordinate, d.size);
            if (d.distribution == MPI_DISTRIBUTE_BLOCK) {
                builder.take_block(start, std::min(block, d.size - start), d.size);
            } else {
                builder.take_cyclic(start, block, block * d.processes, d.size);
            }
        });
        return builder.finish(result);
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    }
}

} // namespace patchbay
