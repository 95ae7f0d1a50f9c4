// SPDX-License-Identifier: BSD-3-Clause
// The operations of the program. Those of a process on its own memory are carried out at once, under the lock with
// which those of others are.
#include "components/osc/pt2pt/module.h"
#include "frameworks/osc/combine.h"
#include "object/error_cause.h"
#include "object/typed_copy.h"

#include <cstring>
#include <new>

namespace patchbay::osc::pt2pt {

namespace {

std::uint8_t handle_of(const Op& op) noexcept {
    return std::uint8_t(op.predefined_handle());
}

bool changes_nothing(const Op& op) noexcept {
    return &op == to_object<Op>(MPI_NO_OP);
}

} // namespace

int Pt2pt::access_self(const Target& target, std::byte** memory) const noexcept {
    const int code = _memory.find(target.place, target.count, *target.type, memory);
    return code == MPI_SUCCESS ? code
                               : note_cause(code, "the operation accesses memory that is not exposed in the window");
}

// The request of an operation that is complete, or has failed.
int Pt2pt::complete_at_once(int code, Request** request) noexcept {
    if (code == MPI_SUCCESS && request != nullptr) {
        auto* made = new (std::nothrow) RmaRequest(_comm, _progress);
        if (made == nullptr) {
            return note_cause(MPI_ERR_NO_MEM, "osc/pt2pt: no memory for a request");
        }
        *request = made;
        made->end(MPI_SUCCESS);
    }
    return code;
}

int Pt2pt::put(const Origin& origin, const Target& target, Request** request) noexcept {
    if (target.rank != _window.rank) {
        return issue(Plan{.kind = Kind::put, .target = target, .origin = &origin}, request);
    }
    const Guard guard(_lock);
    std::byte* memory = nullptr;
    const int code = access_self(target, &memory);
    if (code == MPI_SUCCESS) {
        typed_copy(origin.buffer, origin.count, *origin.type, memory, target.count, *target.type);
    }
    return complete_at_once(code, request);
}

int Pt2pt::get(const Fetched& result, const Target& target, Request** request) noexcept {
    if (target.rank != _window.rank) {
        return issue(Plan{.kind = Kind::get, .target = target, .result = &result}, request);
    }
    const Guard guard(_lock);
    std::byte* memory = nullptr;
    const int code = access_self(target, &memory);
    if (code == MPI_SUCCESS) {
        typed_copy(memory, target.count, *target.type, result.buffer, result.count, *result.type);
    }
    return complete_at_once(code, request);
}

int Pt2pt::accumulate(const Origin& origin, const Target& target, const Op& op, Request** request) noexcept {
    if (target.rank != _window.rank) {
        return issue(Plan{.kind = Kind::accumulate, .target = target, .origin = &origin, .op = handle_of(op)}, request);
    }
    const Guard guard(_lock);
    std::byte* memory = nullptr;
    int code = access_self(target, &memory);
    if (code == MPI_SUCCESS) {
        code = combine(op, origin.buffer, origin.count, *origin.type, memory, target.count, *target.type);
    }
    return complete_at_once(code, request);
}

int Pt2pt::get_accumulate(
    const Origin& origin, const Fetched& result, const Target& target, const Op& op, Request** request) noexcept {
    const bool reads_only = changes_nothing(op);
    if (target.rank != _window.rank) {
        return issue(Plan{.kind = Kind::get_accumulate,
                         .target = target,
                         .origin = reads_only ? nullptr : &origin,
                         .result = &result,
                         .op = handle_of(op)},
            request);
    }
    const Guard guard(_lock);
    std::byte* memory = nullptr;
    int code = access_self(target, &memory);
    if (code == MPI_SUCCESS) {
        typed_copy(memory, target.count, *target.type, result.buffer, result.count, *result.type);
        if (!reads_only) {
            code = combine(op, origin.buffer, origin.count, *origin.type, memory, target.count, *target.type);
        }
    }
    return complete_at_once(code, request);
}

int Pt2pt::fetch_and_op(
    const void* origin, void* result, const Datatype& type, int rank, std::uint64_t place, const Op& op) noexcept {
    const Target target{rank, place, 1, &type};
    const Origin source{origin, 1, &type};
    const Fetched fetched{result, 1, &type};
    if (rank == _window.rank) {
        return get_accumulate(source, fetched, target, op, nullptr);
    }
    return issue(Plan{.kind = Kind::fetch_and_op,
                     .target = target,
                     .origin = changes_nothing(op) ? nullptr : &source,
                     .result = &fetched,
                     .op = handle_of(op)},
        nullptr);
}

int Pt2pt::compare_and_swap(const void* origin, const void* compare, void* result, const Datatype& type, int rank,
    std::uint64_t place) noexcept {
    const Target target{rank, place, 1, &type};
    const Origin source{origin, 1, &type};
    const Fetched fetched{result, 1, &type};
    if (rank != _window.rank) {
        return issue(Plan{.kind = Kind::compare_and_swap,
                         .target = target,
                         .origin = &source,
                         .result = &fetched,
                         .compare = compare},
            nullptr);
    }
    const Guard guard(_lock);
    std::byte* memory = nullptr;
    const int code = access_self(target, &memory);
    if (code == MPI_SUCCESS) {
        const auto bytes = std::size_t(type.size);
        const bool equal = std::memcmp(memory, compare, bytes) == 0;
        std::memcpy(result, memory, bytes);
        if (equal) {
            std::memcpy(memory, origin, bytes);
        }
    }
    return code;
}

} // namespace patchbay::osc::pt2pt
