// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/threads/reduction.h"

#include "core/base/copy.h"
#include "core/base/round_up.h"
#include "object/error_cause.h"
#include "object/handle.h"

#include <algorithm>
#include <cstring>

namespace patchbay::coll::threads {

namespace {

constexpr std::size_t cache_line = 64;
// What is reduced at a time stays in the first-level cache until it is in the buffers of all.
constexpr std::size_t block_bytes = 4096;

const std::byte* at(const void* buffer, std::size_t offset) noexcept {
    return static_cast<const std::byte*>(buffer) + offset;
}
std::byte* at(void* buffer, std::size_t offset) noexcept {
    return static_cast<std::byte*>(buffer) + offset;
}

MPI_Count bytes_of(const Slot& slot) noexcept {
    return slot.by_address ? slot.buffers.count * slot.buffers.type->size : slot.bytes;
}

// Which of the two errors it is.
[[gnu::cold]] int unequal(const Slot& other) noexcept {
    return !other.by_address && other.bytes == Slot::nothing
        ? note_cause(MPI_ERR_OTHER, has_no_data)
        : note_cause(MPI_ERR_COUNT, "another member of the communicator gave another count");
}

// Whether all members show as many bytes as this one. Every member that waits for all sees the same slots, so that all
// of them go on, or none.
int check_equal(const Place& place) noexcept {
    const Slot& own = place.of(place.rank());
    for (int rank = 0; rank < place.size(); ++rank) {
        const Slot& other = place.of(rank);
        if (other.by_address != own.by_address || bytes_of(other) != bytes_of(own)) [[unlikely]] {
            return unequal(other);
        }
    }
    return MPI_SUCCESS;
}

// A kernel has its first operand on the left, so the last rank is the first to be taken.
void join_block(
    const Place& place, std::size_t offset, MPI_Count count, std::size_t element, Op::Kernel kernel, int to) noexcept {
    alignas(cache_line) std::byte block[block_bytes];
    const std::size_t bytes = std::size_t(count) * element;
    const int owner = to != all ? to : place.rank();
    const Buffers& target = place.of(owner).buffers;
    // A receive buffer that is an operand, too, is written at the end.
    const bool in_place = target.send == target.recv;
    std::byte* const result = in_place ? block : at(target.recv, offset);
    copy_bytes(result, at(place.of(place.size() - 1).buffers.send, offset), bytes);
    for (int rank = place.size() - 2; rank >= 0; --rank) {
        kernel(at(place.of(rank).buffers.send, offset), result, count);
    }
    for (int rank = 0; rank < place.size(); ++rank) {
        if (to != all && rank != to) {
            continue;
        }
        std::byte* const copy = at(place.of(rank).buffers.recv, offset);
        if (copy != result) {
            copy_bytes(copy, result, bytes);
        }
    }
}

// This member's part of the vector, in cache lines of its own where the buffers are aligned.
void join_part(const Place& place, const Operand& operand, int to) noexcept {
    const std::size_t element = std::size_t(operand.type.size);
    const MPI_Count count = operand.count;
    const MPI_Count unit = MPI_Count(std::max<std::size_t>(1, cache_line / element));
    const MPI_Count share = (count + place.size() - 1) / place.size();
    const MPI_Count part = round_up(share, unit);
    const MPI_Count first = std::min(count, place.rank() * part);
    const MPI_Count end = std::min(count, first + part);
    const MPI_Count block = MPI_Count(std::max<std::size_t>(1, block_bytes / element));
    for (MPI_Count next = first; next < end; next += block) {
        join_block(place, std::size_t(next) * element, std::min(block, end - next), element, operand.kernel, to);
    }
}

} // namespace

void show_operand(Place& place, const Operand& operand, void* result, Progress& progress) noexcept {
    Slot& own = place.begin(progress);
    const std::size_t bytes = operand.bytes();
    own.by_address = bytes > Slot::room;
    if (!own.by_address) {
        own.bytes = std::uint8_t(bytes);
        if (bytes > 0) {
            std::memcpy(own.data, operand.data, bytes);
        }
    } else if (is_short(bytes, place)) {
        std::byte* const copy = place.block();
        copy_bytes(copy, operand.data, bytes);
        // The type of the operand may be gone when the others look.
        own.buffers = {copy, nullptr, MPI_Count(bytes), to_object<Datatype>(MPI_BYTE)};
    } else {
        own.buffers = {operand.data, result, operand.count, &operand.type};
    }
    place.show(false);
}

int join_slots(Place& place, const Operand& operand, void* result, Progress& progress) noexcept {
    place.wait_for_all(progress);
    const std::size_t bytes = operand.bytes();
    if (const int code = check_equal(place); code != MPI_SUCCESS || bytes == 0) {
        return code;
    }
    const auto shown = [&place](int rank) {
        const Slot& slot = place.of(rank);
        return slot.by_address ? static_cast<const std::byte*>(slot.buffers.send) : slot.data;
    };
    copy_bytes(result, shown(place.size() - 1), bytes);
    for (int rank = place.size() - 2; rank >= 0; --rank) {
        operand.kernel(shown(rank), result, operand.count);
    }
    return MPI_SUCCESS;
}

int join_buffers(Place& place, const Operand& operand, int to, Progress& progress) noexcept {
    place.wait_for_all(progress);
    if (const int code = check_equal(place); code != MPI_SUCCESS) {
        return code;
    }
    if (to != all && place.of(to).buffers.recv == nullptr) [[unlikely]] {
        return note_cause(MPI_ERR_NO_MEM, "no memory for the operands of this process");
    }
    join_part(place, operand, to);
    return MPI_SUCCESS;
}

} // namespace patchbay::coll::threads
