// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/sm/atomic_update.h"

#include "object/convertor.h"
#include "object/handle.h"

#include <algorithm>
#include <array>
#include <sys/uio.h>

namespace patchbay::osc::sm {

namespace {

bool is_integer(const BasicType& type) noexcept {
    return type.machine >= Machine::i8 && type.machine <= Machine::u64;
}

// One that is at an odd place: a kernel needs aligned operands.
template <class Number>
Number update_plainly(const AtomicOp& op, std::byte* place, const std::byte* operand) noexcept {
    const auto former = load_number<Number>(place);
    Number changed = former;
    op.apply<Number>(&changed, operand);
    std::memcpy(place, &changed, sizeof changed);
    return former;
}

// `operands` and `former`, which may be null, have the elements of the block one behind the other.
template <class Number>
void update_block(
    const AtomicOp& op, std::span<std::byte> block, const std::byte* operands, std::byte* former) noexcept {
    for (std::size_t at = 0; at < block.size(); at += sizeof(Number)) {
        std::byte* const place = block.data() + at;
        const Number old = is_atomic_place(place, sizeof(Number)) ? op.apply<Number>(place, operands + at)
                                                                  : update_plainly<Number>(op, place, operands + at);
        if (former != nullptr) {
            std::memcpy(former + at, &old, sizeof old);
        }
    }
}

} // namespace

bool AtomicOp::find(const Op& op, BasicIndex type, AtomicOp& found) noexcept {
    if (&op == to_object<Op>(MPI_NO_OP)) {
        found = {Kind::read};
    } else if (&op == to_object<Op>(MPI_REPLACE)) {
        found = {Kind::replace};
    } else if (&op == to_object<Op>(MPI_SUM) && is_integer(basic_type(type))) {
        found = {Kind::add};
    } else {
        found = {Kind::kernel, op.kernel(type)};
        return found.kernel != nullptr;
    }
    return true;
}

// Some elements at a time, by way of arrays where the buffers of the caller are none.
void update_elements(const AtomicOp& op, std::size_t element_bytes, const Origin& origin, const Fetched* result,
    void* memory, MPI_Count count, const Datatype& type) noexcept {
    constexpr std::size_t most = 2048; // a multiple of each size
    alignas(64) std::array<std::byte, most> packed;
    alignas(64) std::array<std::byte, most> former;
    Convertor from;
    Convertor into;
    if (op.kind != AtomicOp::Kind::read) {
        from = Convertor(*origin.type, origin.count, origin.buffer);
    }
    if (result != nullptr) {
        into = Convertor(*result->type, result->count, result->buffer);
    }
    const std::byte* const operands = from.contiguous();
    std::byte* const results = into.contiguous();
    Convertor places(type, count, memory);
    while (places.remaining() > 0) {
        const std::size_t start = places.position();
        iovec block;
        if (places.next_blocks({&block, 1}, most) == 0) {
            return;
        }
        if (op.kind != AtomicOp::Kind::read && operands == nullptr) {
            from.pack(packed.data(), block.iov_len);
        }
        std::byte* const kept = result == nullptr ? nullptr : results != nullptr ? results + start : former.data();
        const std::span<std::byte> elements(static_cast<std::byte*>(block.iov_base), block.iov_len);
        with_number(element_bytes, [&](auto number) {
            update_block<decltype(number)>(op, elements, operands != nullptr ? operands + start : packed.data(), kept);
        });
        if (kept == former.data()) {
            into.unpack(former.data(), block.iov_len);
        }
    }
}

} // namespace patchbay::osc::sm
