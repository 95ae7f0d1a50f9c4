// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/tuned/joined_exchange.h"
#include "components/coll/tuned/symmetric.h"
#include "frameworks/coll/slots.h"
#include "frameworks/coll/typed_buffer.h"
#include "object/op.h"

#include <array>
#include <type_traits>

namespace patchbay::coll::tuned {

// The result of a reduction for a run of consecutive ranks, of which this member is one, while neighbouring runs are
// joined to it. Rank order is kept, so that the op need not commute, and members that join the same runs get the same
// result. The contribution is read where the program has it and is copied only where it must be. Each function is a
// round of its own.
template <class Steps>
class Accumulator {
public:
    // `result`: room for the result in this member, which may be where the contribution is; nullptr: it has none.
    // `segment`: bytes of a message; 0: one message. Equal in all members.
    Accumulator(Steps& steps, Function function, const void* contribution, void* result, MPI_Count count,
        const Datatype& type, const Op& op, std::size_t segment) noexcept
        : _steps(steps),
          _function(function),
          _count(count),
          _segment(segment_elements(segment, count, type)),
          _type(type),
          _op(op),
          _symmetric(is_symmetric(op, type)),
          _result(result),
          _mine(contribution),
          _buffers{result, nullptr} {}

    void send(int dest) noexcept {
        if (_segment < _count) {
            run(_steps,
                {_mine, _count, JoinedExchange::none, _mine, nullptr, nullptr, dest, _segment, _type, _op, _function});
            return;
        }
        _steps.send(_mine, _count, _type, dest);
        _steps.round();
    }
    // These receive what another member has, and join it: the result of higher ranks, or of lower ones.
    void recv_higher(int source) noexcept {
        if (_segment < _count) {
            join_segments(JoinedExchange::none, source, false);
            return;
        }
        void* theirs = room(false);
        _steps.recv(theirs, _count, _type, source);
        _steps.round();
        join(theirs, false);
    }
    // The same, and the other member gets what this one has.
    void exchange_higher(int peer) noexcept { exchange(peer, false); }
    void exchange_lower(int peer) noexcept { exchange(peer, true); }
    // Has the result in `result`.
    void finish() noexcept {
        if (_mine != _result) {
            _steps.copy(_mine, _count, _type, _result, _count, _type);
            _steps.round();
            _mine = _result;
        }
    }
    const void* mine() const noexcept { return _mine; }

private:
    bool in_buffer() const noexcept { return _mine == _buffers[0] || _mine == _buffers[1]; }
    void* buffer(std::size_t i) noexcept {
        if (_buffers[i] == nullptr) {
            _buffers[i] = _steps.scratch(_count, _type);
        }
        return _buffers[i];
    }
    // The buffer that does not hold what this member has.
    void* other_buffer() noexcept { return buffer(in_buffer() && _mine == _buffers[0] ? 1 : 0); }
    // Whether what is received becomes the left operand: it is joined to what this member has in a buffer, which is the
    // right one. Where that makes no difference, so that nothing need be copied: the result stays in the first buffer.
    bool is_left(bool lower) const noexcept { return _symmetric ? in_buffer() : lower; }
    // Where the neighbour's result can be received. What is joined from below ends up where `mine` is, or, if that is
    // the program's contribution, in the first buffer.
    void* room(bool lower) noexcept { return is_left(lower) && !in_buffer() ? buffer(1) : other_buffer(); }
    void exchange(int peer, bool lower) noexcept {
        // In a plan the contribution is joined as soon as the other one is here, which need not be after the own
        // message has been received.
        const bool is_plan = std::is_same_v<Steps, Schedule>;
        if (_segment < _count || (is_plan && !in_buffer())) {
            join_segments(_count, peer, lower);
            return;
        }
        void* theirs = room(lower);
        _steps.exchange(_mine, _count, _type, peer, theirs, _count, _type, peer);
        _steps.round();
        join(theirs, lower);
    }
    void join(void* theirs, bool lower) noexcept {
        if (is_left(lower)) {
            join_left(theirs);
            return;
        }
        _steps.reduce(_mine, theirs, _count, _type, _op);
        _steps.round();
        _mine = theirs;
    }
    void join_left(const void* theirs) noexcept {
        void* target = buffer(theirs == _buffers[0] ? 1 : 0);
        if (_mine != target) {
            _steps.copy(_mine, _count, _type, target, _count, _type);
            _steps.round();
        }
        _steps.reduce(theirs, target, _count, _type, _op);
        _steps.round();
        _mine = target;
    }
    // While segments of the contribution are sent, it must not be overwritten: the result is in another buffer.
    void join_segments(MPI_Count outgoing, int peer, bool lower) noexcept {
        void* target = other_buffer();
        lower = lower && !_symmetric;
        if (lower && _slots == nullptr) {
            _slots = _steps.scratch(JoinedExchange::slots_for(_count, _segment), _type);
        }
        run(_steps,
            {_mine, outgoing, _count, _mine, target, lower ? _slots : nullptr, peer, _segment, _type, _op, _function});
        _mine = target;
    }

    Steps& _steps;
    const Function _function;
    const MPI_Count _count;
    const MPI_Count _segment; // elements
    const Datatype& _type;
    const Op& _op;
    const bool _symmetric; // either operand may be the left one
    void* const _result;
    const void* _mine;
    std::array<void*, 2> _buffers;
    void* _slots = nullptr;
};

// The contributions of all ranks, of which those of the others are in `slots`, joined in rank order. Returns where the
// result is: in a slot. A slot is room for `count` elements.
template <class Steps>
const void* join_all(Steps& steps, const void* contribution, const Slots& slots, int own, int ranks, MPI_Count count,
    const Datatype& type, const Op& op) noexcept {
    if (own != 0) {
        steps.copy(contribution, count, type, slots[own], count, type);
        steps.round();
    }
    const void* joined = own == 0 ? contribution : slots[0];
    for (int rank = 1; rank < ranks; ++rank) {
        steps.reduce(joined, slots[rank], count, type, op);
        steps.round();
        joined = slots[rank];
    }
    return joined;
}

// At the member that receives the contributions of all others: joins them. Returns where the result is.
template <class Steps>
const void* receive_and_join(
    Steps& steps, const void* contribution, MPI_Count count, const Datatype& type, const Op& op) noexcept {
    const int own = steps.comm().rank;
    const int ranks = steps.comm().size;
    const Slots slots(steps, ranks, count, type);
    typename Steps::Batch receives(steps);
    for (int rank = 0; rank < ranks; ++rank) {
        if (rank != own) {
            receives.irecv(slots[rank], count, type, rank);
        }
    }
    receives.finish();
    return join_all(steps, contribution, slots, own, ranks, count, type, op);
}

} // namespace patchbay::coll::tuned
