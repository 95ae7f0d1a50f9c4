// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/outstanding.h"

#include "frameworks/coll/coll.h"
#include "frameworks/coll/operation.h"
#include "object/error_cause.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

namespace patchbay::coll {

namespace {

// The highest value of all members. MPI_Allreduce on an intercommunicator returns that of the other group, and a second
// one that of the own group.
int highest(Communicator& comm, std::int32_t value, std::int32_t* result) noexcept {
    const Datatype& type = *to_object<Datatype>(MPI_INT32_T);
    const Op& op = *to_object<Op>(MPI_MAX);
    Module& module = (*comm.coll)[Function::allreduce];
    int code = module.allreduce(&value, result, 1, type, op, comm);
    if (comm.is_inter && code == MPI_SUCCESS) {
        const std::int32_t others = *result;
        code = module.allreduce(&others, result, 1, type, op, comm);
        *result = std::max(*result, others);
    }
    return code;
}

} // namespace

Outstanding::~Outstanding() {
    for (Operation* operation : _kept) {
        if (operation != nullptr) {
            operation->leave_kept();
        }
    }
}

Operation* Outstanding::take_kept(const Module& module, const Call& call) noexcept {
    std::lock_guard lock(_lock);
    const auto end = std::ranges::find(_kept, nullptr);
    const auto found = std::find_if(_kept.begin(), end, [&](Operation* kept) { return kept->is_for(module, call); });
    if (found == end) {
        return nullptr;
    }
    Operation* const operation = *found;
    *std::move(found + 1, end, found) = nullptr;
    return operation;
}

Operation* Outstanding::keep(Operation& operation) noexcept {
    std::lock_guard lock(_lock);
    Operation* const oldest = _kept.back();
    std::move_backward(_kept.begin(), _kept.end() - 1, _kept.end());
    _kept.front() = &operation;
    return oldest;
}

bool Outstanding::add(Operation& operation) noexcept {
    std::lock_guard lock(_lock);
    operation.sequence = _next++;
    operation.set_tag(nonblocking_tag(operation.sequence));
    operation.next = nullptr;
    operation.previous = _newest;
    (_newest != nullptr ? _newest->next : _oldest) = &operation;
    _newest = &operation;
    if (_waiting != nullptr || operation.sequence - _oldest->sequence >= sequence_tags) {
        _waiting = _waiting != nullptr ? _waiting : &operation;
        return false;
    }
    return true;
}

void Outstanding::remove(Operation& operation) noexcept {
    std::lock_guard lock(_lock);
    (operation.previous != nullptr ? operation.previous->next : _oldest) = operation.next;
    (operation.next != nullptr ? operation.next->previous : _newest) = operation.previous;
}

Operation* Outstanding::next_to_start() noexcept {
    std::lock_guard lock(_lock);
    if (_waiting == nullptr || _waiting->sequence - _oldest->sequence >= sequence_tags) [[likely]] {
        return nullptr;
    }
    return std::exchange(_waiting, _waiting->next);
}

std::uint32_t Outstanding::lowest_free(std::uint32_t from) noexcept {
    std::lock_guard lock(_lock);
    while (from < sequence_tags && _slots->test(from)) {
        ++from;
    }
    return from;
}

// Each turn finds the lowest slot that may be free in all members, and asks whether it is.
int Outstanding::agree(Communicator& comm, std::uint32_t* slot) noexcept {
    for (std::uint32_t from = 0;;) {
        std::int32_t lowest = 0;
        if (const int code = highest(comm, std::int32_t(lowest_free(from)), &lowest); code != MPI_SUCCESS) {
            return code;
        }
        *slot = std::uint32_t(lowest);
        if (*slot == sequence_tags) {
            return note_cause(MPI_ERR_OTHER,
                "too many persistent collective operations on the communicator (16384); free some with "
                "MPI_Request_free");
        }
        std::int32_t used = 0;
        if (const int code = highest(comm, lowest_free(*slot) != *slot, &used); code != MPI_SUCCESS || used == 0) {
            return code;
        }
        from = *slot + 1;
    }
}

int Outstanding::take_persistent_tag(Communicator& comm, int* tag) noexcept {
    if (!_slots) {
        _slots.reset(new (std::nothrow) Slots);
        if (!_slots) {
            return MPI_ERR_NO_MEM;
        }
    }
    std::uint32_t slot = _persistent;
    if (slot < sequence_tags) {
        ++_persistent;
    } else if (const int code = agree(comm, &slot); code != MPI_SUCCESS) {
        return code;
    }
    std::lock_guard lock(_lock);
    _slots->set(slot);
    *tag = persistent_tag(slot);
    return MPI_SUCCESS;
}

void Outstanding::give_back_persistent_tag(int tag) noexcept {
    if (std::uint32_t(first_persistent_tag - tag) + 1 == _persistent) {
        --_persistent;
    }
}

void Outstanding::free_persistent_tag(int tag) noexcept {
    std::lock_guard lock(_lock);
    _slots->reset(std::size_t(first_persistent_tag - tag));
}

} // namespace patchbay::coll
