// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/osc/combine.h"

#include "object/convertor.h"
#include "object/handle.h"
#include "object/recipe.h"
#include "object/typed_copy.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <sys/uio.h>

namespace patchbay::osc {

namespace {

// A place for some elements that is aligned for every predefined type.
constexpr std::size_t chunk_bytes = 4096;
struct alignas(64) Chunk {
    std::array<std::byte, chunk_bytes> bytes;
};

// The blocks of a buffer in order, some of them at a time.
class Blocks {
public:
    Blocks(const Datatype& type, MPI_Count count, const void* buffer) noexcept
        : _convertor(type, count, buffer) {}

    // What is left of the present block; empty: the buffer has ended.
    std::span<std::byte> rest() noexcept {
        if (_rest.empty() && _next == _filled) {
            _filled = _convertor.next_blocks(_vectors, _convertor.remaining());
            _next = 0;
        }
        if (_rest.empty() && _next < _filled) {
            const iovec& block = _vectors[_next++];
            _rest = {static_cast<std::byte*>(block.iov_base), block.iov_len};
        }
        return _rest;
    }
    void take(std::size_t bytes) noexcept { _rest = _rest.subspan(bytes); }

private:
    Convertor _convertor;
    std::array<iovec, 32> _vectors;
    std::size_t _filled = 0;
    std::size_t _next = 0;
    std::span<std::byte> _rest;
};

bool is_aligned(const void* place, std::size_t alignment) noexcept {
    return reinterpret_cast<std::uintptr_t>(place) % alignment == 0;
}

// Elements that need not be aligned: those of a derived type may be anywhere.
void combine_block(
    Op::Kernel kernel, const BasicType& basic, const std::byte* origin, std::byte* memory, std::size_t bytes) noexcept {
    if (is_aligned(origin, basic.alignment) && is_aligned(memory, basic.alignment)) [[likely]] {
        kernel(origin, memory, MPI_Count(bytes / basic.size));
        return;
    }
    Chunk from;
    Chunk to;
    const std::size_t whole = chunk_bytes / basic.size * basic.size;
    for (std::size_t done = 0; done < bytes;) {
        const std::size_t n = std::min(whole, bytes - done);
        std::memcpy(from.bytes.data(), origin + done, n);
        std::memcpy(to.bytes.data(), memory + done, n);
        kernel(from.bytes.data(), to.bytes.data(), MPI_Count(n / basic.size));
        std::memcpy(memory + done, to.bytes.data(), n);
        done += n;
    }
}

// Elements without holes: each block of a layout consists of whole ones.
void combine_blocks(Op::Kernel kernel, const BasicType& basic, Blocks&& origin, Blocks&& memory) noexcept {
    for (;;) {
        const std::span<std::byte> from = origin.rest();
        const std::span<std::byte> to = memory.rest();
        const std::size_t bytes = std::min(from.size(), to.size());
        if (bytes == 0) {
            return;
        }
        combine_block(kernel, basic, from.data(), to.data(), bytes);
        origin.take(bytes);
        memory.take(bytes);
    }
}

// Pairs in derived types, by way of arrays of pairs: in the layout the members of a pair are elements of their own.
void combine_pairs(Op::Kernel kernel, const Datatype& pair, Convertor&& origin, Convertor&& memory) noexcept {
    Chunk packed;
    Chunk from;
    Chunk to;
    const auto size = std::size_t(pair.size);
    const auto extent = std::size_t(pair.extent);
    std::size_t left = std::min(origin.total(), memory.total()) / size;
    while (left > 0) {
        const std::size_t n = std::min(left, chunk_bytes / extent);
        const std::size_t position = memory.position();
        origin.pack(packed.bytes.data(), n * size);
        Convertor(pair, MPI_Count(n), from.bytes.data()).unpack(packed.bytes.data(), n * size);
        memory.pack(packed.bytes.data(), n * size);
        Convertor(pair, MPI_Count(n), to.bytes.data()).unpack(packed.bytes.data(), n * size);
        kernel(from.bytes.data(), to.bytes.data(), MPI_Count(n));
        Convertor(pair, MPI_Count(n), to.bytes.data()).pack(packed.bytes.data(), n * size);
        memory.seek(position);
        memory.unpack(packed.bytes.data(), n * size);
        left -= n;
    }
}

// The component type whose data is the first data of a derived type.
const Datatype* first_component(const Recipe& recipe) noexcept {
    if (const Datatype* same = recipe.same_data()) {
        return same;
    }
    if (recipe.combiner != MPI_COMBINER_STRUCT) {
        return recipe.types.empty() ? nullptr : recipe.types.front().get();
    }
    for (std::size_t i = 0; i < recipe.types.size(); ++i) {
        if (recipe.count(1 + i) > 0 && recipe.types[i]->size > 0) {
            return recipe.types[i].get();
        }
    }
    return nullptr;
}

} // namespace

BasicIndex element_type(const Datatype& type) noexcept {
    const Datatype* component = &type;
    while (component != nullptr && component->basic == 0) {
        component = component->size > 0 ? first_component(component->recipe()) : nullptr;
    }
    return component != nullptr ? component->basic : BasicIndex(0);
}

int combine(const Op& op, const void* origin, MPI_Count origin_count, const Datatype& origin_type, void* memory,
    MPI_Count count, const Datatype& type) noexcept {
    const bool both_predefined = (origin_type.basic != 0) & (type.basic != 0);
    if (op.is_accumulate_only()) {
        return to_handle(&op) == MPI_NO_OP ? MPI_SUCCESS
                                           : typed_copy(origin, origin_count, origin_type, memory, count, type);
    }
    const BasicIndex element = type.basic != 0 ? type.basic : element_type(type);
    const Op::Kernel kernel = op.kernel(element);
    if (kernel == nullptr) [[unlikely]] {
        return MPI_ERR_OP;
    }
    const BasicType& basic = basic_type(element);
    if (both_predefined && is_aligned(origin, basic.alignment) && is_aligned(memory, basic.alignment)) [[likely]] {
        kernel(origin, memory, std::min(origin_count, count));
    } else if (basic.size == basic.extent) {
        combine_blocks(kernel, basic, Blocks(origin_type, origin_count, origin), Blocks(type, count, memory));
    } else {
        combine_pairs(kernel, *to_object<Datatype>(reinterpret_cast<MPI_Datatype>(std::uintptr_t(basic.handle))),
            Convertor(origin_type, origin_count, origin), Convertor(type, count, memory));
    }
    return MPI_SUCCESS;
}

} // namespace patchbay::osc
