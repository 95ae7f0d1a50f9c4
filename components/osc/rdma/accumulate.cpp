// SPDX-License-Identifier: BSD-3-Clause
// Accumulates: by processor atomics where Members::granularity() says so, otherwise under the lock of the target for
// them (README.md says why).
#include "components/common/atomic_update.h"
#include "components/osc/rdma/errors.h"
#include "components/osc/rdma/module.h"
#include "frameworks/osc/combine.h"
#include "object/error_cause.h"
#include "object/typed_copy.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace patchbay::osc::rdma {

namespace {
constexpr std::size_t chunk_bytes = 16 * 1024;

const Datatype& basic_object(BasicIndex index) noexcept {
    return *to_object<Datatype>(reinterpret_cast<MPI_Datatype>(std::uintptr_t(basic_type(index).handle)));
}

bool is_op(const Op& op, MPI_Op handle) noexcept {
    return &op == to_object<Op>(handle);
}

// The next `bytes` bytes of one stream into the other.
void move_values(Convertor& from, Convertor& into, std::size_t bytes) noexcept {
    if (std::byte* const block = into.contiguous()) {
        from.pack(block + into.position(), bytes);
        into.seek(into.position() + bytes);
    } else if (const std::byte* const source = from.contiguous()) {
        into.unpack(source + from.position(), bytes);
        from.seek(from.position() + bytes);
    } else {
        std::array<std::byte, 1024> values;
        while (bytes > 0) {
            const std::size_t some = from.pack(values.data(), std::min(bytes, values.size()));
            into.unpack(values.data(), some);
            bytes -= some;
        }
    }
}
} // namespace

// A process that holds the exclusive lock of the member is alone already, but for its own threads.
bool RdmaModule::is_alone_with(int rank) noexcept {
    const Hold held = _members[rank].hold.load(std::memory_order_relaxed);
    return held == Hold::exclusive || held == Hold::exclusive_unchecked;
}

// Calls `step` with the elements of `rank` locked.
template <class Step>
int RdmaModule::with_update_lock(int rank, const Step& step) noexcept {
    return _update_lock.with(rank, is_alone_with(rank), step);
}

int RdmaModule::accumulate(const Origin& origin, const Target& target, const Op& op, Request** request) noexcept {
    const int code = update(origin, nullptr, target, op);
    return code == MPI_SUCCESS && request != nullptr ? complete_request(request) : code;
}

int RdmaModule::get_accumulate(
    const Origin& origin, const Fetched& result, const Target& target, const Op& op, Request** request) noexcept {
    const int code = update(origin, &result, target, op);
    return code == MPI_SUCCESS && request != nullptr ? complete_request(request) : code;
}

int RdmaModule::update(const Origin& origin, const Fetched* result, const Target& target, const Op& op) noexcept {
    int code = ready(target.rank);
    if (code == MPI_SUCCESS && _members.granularity() != 0 &&
        common::update_singly(origin, result, mapped_at(target.rank, target.place), target, op, &code,
            [&](const auto& step) { return with_update_lock(target.rank, step); })) {
        return code;
    }
    Reach reach;
    bool scattered = false;
    if (code == MPI_SUCCESS) {
        code = locate(target, reach, &scattered);
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    const Datatype& element = basic_object(element_type(*target.type));
    if (!is_op(op, MPI_REPLACE) && !is_op(op, MPI_NO_OP) && !op.accepts(element)) {
        return note_cause(MPI_ERR_OP, "the operation is not defined for the type");
    }
    if (!scattered && reach.mapped != nullptr) {
        std::byte* const memory = reach.at(target.place + (_dynamic ? 0 : place_bias));
        return with_update_lock(target.rank, [&] { return update_mapped(memory, origin, result, target, op); });
    }
    std::size_t done = 0;
    if (_delegations != nullptr) {
        const Delegated outcome = delegate_update(origin, result, target, op, element, &done);
        if (outcome != Delegated::not_done) {
            return complete_delegated(outcome, target.rank);
        }
    }
    if (done > 0) [[unlikely]] {
        return update_rest(origin, result, target, op, element, reach, done);
    }
    return update_directly(origin, result, target, op, element, scattered ? nullptr : &reach);
}

// Behind the first `done` bytes, which are whole elements; all buffers are arrays of them.
int RdmaModule::update_rest(const Origin& origin, const Fetched* result, const Target& target, const Op& op,
    const Datatype& element, const Reach& reach, std::size_t done) noexcept {
    const MPI_Count rest = target.count * target.type->size / element.size - MPI_Count(done) / element.size;
    const auto* operands = static_cast<const std::byte*>(origin.buffer);
    operands += is_op(op, MPI_NO_OP) ? 0 : origin.type->true_lower_bound + MPI_Aint(done);
    Fetched results{};
    if (result != nullptr) {
        results = {static_cast<std::byte*>(result->buffer) + result->type->true_lower_bound + done, rest, &element};
    }
    const std::uint64_t place = target.place + std::uint64_t(target.type->true_lower_bound) + done;
    return update_directly({operands, rest, &element}, result != nullptr ? &results : nullptr,
        {target.rank, place, rest, &element}, op, element, &reach);
}

// `reach`: null where the blocks are in several regions.
int RdmaModule::update_directly(const Origin& origin, const Fetched* result, const Target& target, const Op& op,
    const Datatype& element, const Reach* reach) noexcept {
    const bool has_origin = !is_op(op, MPI_NO_OP);
    Convertor from;
    Convertor into;
    if (has_origin) {
        from = Convertor(*origin.type, origin.count, origin.buffer);
    }
    if (result != nullptr) {
        into = Convertor(*result->type, result->count, result->buffer);
    }
    const Update what{op, has_origin ? &from : nullptr, result != nullptr ? &into : nullptr, element};
    Convertor there = places_of(target);
    return with_update_lock(target.rank, [&] { return update_chunks(target.rank, reach, there, what); });
}

int RdmaModule::update_mapped(
    std::byte* memory, const Origin& origin, const Fetched* result, const Target& target, const Op& op) noexcept {
    if (result != nullptr) {
        typed_copy(memory, target.count, *target.type, result->buffer, result->count, *result->type);
    }
    if (is_op(op, MPI_NO_OP)) {
        return MPI_SUCCESS;
    }
    return combine(op, origin.buffer, origin.count, *origin.type, memory, target.count, *target.type);
}

// Reads elements of the target into scratch memory, changes them there, and writes them back before the lock is
// released. In the scratch memory elements are as far apart as in an array, so that a pair has its gap.
int RdmaModule::update_chunks(int rank, const Reach* reach, Convertor& there, const Update& what) noexcept {
    alignas(64) std::array<std::byte, chunk_bytes> old_values;
    alignas(64) std::array<std::byte, chunk_bytes> operands;
    const auto size = std::size_t(what.element.size);
    const auto extent = std::size_t(what.element.extent);
    const bool replaces = is_op(what.op, MPI_REPLACE);
    while (there.remaining() > 0) {
        const std::size_t count = std::min(there.remaining() / size, chunk_bytes / extent);
        const std::size_t start = there.position();
        Convertor array(what.element, MPI_Count(count), old_values.data());
        Convertor operand(what.element, MPI_Count(count), operands.data());
        int code = MPI_SUCCESS;
        if (what.result != nullptr || !replaces) {
            code = access(rank, reach, Direction::get, array, there, count * size, nullptr);
            code = code == MPI_SUCCESS ? flush(rank) : code;
        }
        array.seek(0);
        if (code == MPI_SUCCESS && what.result != nullptr) {
            move_values(array, *what.result, count * size);
        }
        if (code == MPI_SUCCESS && what.origin != nullptr) {
            move_values(*what.origin, operand, count * size);
            code = combine(what.op, operands.data(), MPI_Count(count), what.element, old_values.data(),
                MPI_Count(count), what.element);
            there.seek(start);
            array.seek(0);
            code =
                code == MPI_SUCCESS ? access(rank, reach, Direction::put, array, there, count * size, nullptr) : code;
            code = code == MPI_SUCCESS ? flush(rank) : code;
        }
        if (code != MPI_SUCCESS) {
            return code;
        }
        there.seek(start + count * size);
    }
    return MPI_SUCCESS;
}

// One element: `change` makes the new value of what it is passed, and says whether there is one; `delegate` leaves the
// operation to the target.
template <class Change, class Delegate>
int RdmaModule::update_element(void* result, const Datatype& type, int rank, std::uint64_t place, const Change& change,
    const Delegate& delegate) noexcept {
    const Target target{rank, place, 1, &type};
    int code = ready(rank);
    Reach reach;
    bool scattered = false;
    if (code == MPI_SUCCESS) {
        code = locate(target, reach, &scattered);
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    // A pair may be in two regions, as its hole is not used: then there is no part of the window that has all of it.
    const Reach* const part = scattered ? nullptr : &reach;
    if (!scattered && reach.mapped != nullptr) {
        std::byte* const memory = reach.at(place + (_dynamic ? 0 : place_bias));
        return with_update_lock(rank, [&] {
            typed_copy(memory, 1, type, result, 1, type);
            return change(memory) < 0 ? int(MPI_ERR_OP) : int(MPI_SUCCESS);
        });
    }
    if (_delegations != nullptr) {
        const Delegated outcome = delegate();
        if (outcome != Delegated::not_done) {
            return complete_delegated(outcome, rank);
        }
    }
    return with_update_lock(rank, [&] {
        alignas(16) std::array<std::byte, 32> value;
        Convertor array(type, 1, value.data());
        Convertor there = places_of(target);
        int error = access(rank, part, Direction::get, array, there, array.total(), nullptr);
        error = error == MPI_SUCCESS ? flush(rank) : error;
        if (error != MPI_SUCCESS) {
            return error;
        }
        typed_copy(value.data(), 1, type, result, 1, type);
        const int changed = change(value.data());
        if (changed <= 0) {
            return changed < 0 ? int(MPI_ERR_OP) : int(MPI_SUCCESS);
        }
        array.seek(0);
        there.seek(0);
        error = access(rank, part, Direction::put, array, there, array.total(), nullptr);
        return error == MPI_SUCCESS ? flush(rank) : error;
    });
}

int RdmaModule::fetch_and_op(
    const void* origin, void* result, const Datatype& type, int rank, std::uint64_t place, const Op& op) noexcept {
    if (_members.granularity() != 0 && common::is_atomic_element(type, mapped_at(rank, place))) {
        const int code = ready(rank);
        return code == MPI_SUCCESS ? common::fetch_singly(origin, result, type, mapped_at(rank, place), op) : code;
    }
    const auto change = [&](std::byte* value) noexcept {
        if (is_op(op, MPI_NO_OP)) {
            return 0;
        }
        return combine(op, origin, 1, type, value, 1, type) == MPI_SUCCESS ? 1 : -1;
    };
    return update_element(result, type, rank, place, change,
        [&]() noexcept { return delegate_fetch(origin, result, type, rank, place, op); });
}

int RdmaModule::compare_and_swap(const void* origin, const void* compare, void* result, const Datatype& type, int rank,
    std::uint64_t place) noexcept {
    if (_members.granularity() != 0 && common::is_atomic_element(type, mapped_at(rank, place))) {
        const int code = ready(rank);
        return code == MPI_SUCCESS ? common::swap_singly(origin, compare, result, type, mapped_at(rank, place)) : code;
    }
    const auto change = [&](std::byte* value) noexcept {
        if (std::memcmp(value, compare, std::size_t(type.size)) != 0) {
            return 0;
        }
        std::memcpy(value, origin, std::size_t(type.size));
        return 1;
    };
    return update_element(result, type, rank, place, change,
        [&]() noexcept { return delegate_swap(origin, compare, result, type, rank, place); });
}

} // namespace patchbay::osc::rdma
