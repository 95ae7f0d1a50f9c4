// SPDX-License-Identifier: BSD-3-Clause
// MPI_Scan and MPI_Exscan from each rank to the next one: a member waits for lower ranks only, and the last rank sends
// nothing.
#include "components/coll/tuned/joined_exchange.h"
#include "components/coll/tuned/tuned.h"
#include "object/op.h"

#include <algorithm>

namespace patchbay::coll::tuned {

namespace {

// What one member does, by segments: while it sends a segment of its result to the next rank, it receives the next
// segment from the one before.
template <class Steps>
class Prefix {
public:
    Prefix(Steps& steps, const Call& call, std::size_t segment) noexcept
        : _steps(steps),
          _own(call.send == MPI_IN_PLACE ? call.recv : call.send),
          _result(call.recv),
          _count(call.recv_count),
          _type(*call.recv_type),
          _op(*call.op),
          _segment(segment_elements(segment, _count, _type)),
          _previous(steps.comm().rank - 1),
          _next(steps.comm().rank + 1 < steps.comm().size ? steps.comm().rank + 1 : MPI_PROC_NULL) {}

    void inclusive() noexcept {
        if (_previous < 0) {
            send_own();
            if (_own != _result) {
                _steps.copy(_own, _count, _type, _result, _count, _type);
                _steps.round();
            }
            return;
        }
        // Where the order of operands makes no difference, what lower ranks have is received where the result will be.
        const bool direct = _own != _result && _op.is_commutative();
        void* const theirs = direct ? nullptr : _steps.scratch(_segment, _type);
        receive([&](MPI_Count i) { return direct ? at(_result, i) : theirs; },
            [&](MPI_Count i) -> const void* {
                if (!direct && _own != _result) {
                    copy(at(_own, i), at(_result, i), i);
                }
                join(direct ? at(_own, i) : theirs, at(_result, i), i);
                return at(_result, i);
            });
    }

    // The result of rank 0 is undefined: its buffer stays as it is.
    void exclusive() noexcept {
        if (_previous < 0) {
            send_own();
            return;
        }
        if (_next == MPI_PROC_NULL) {
            receive([&](MPI_Count i) { return at(_result, i); }, [](MPI_Count) -> const void* { return nullptr; });
            return;
        }
        const bool in_place = _own == _result;
        void* const theirs = in_place ? _steps.scratch(_segment, _type) : nullptr;
        void* const joined = _steps.scratch(_segment, _type);
        receive([&](MPI_Count i) { return in_place ? theirs : at(_result, i); },
            [&](MPI_Count i) -> const void* {
                copy(at(_own, i), joined, i);
                if (in_place) {
                    copy(theirs, at(_result, i), i);
                }
                join(at(_result, i), joined, i);
                return joined;
            });
    }

private:
    MPI_Count segments() const noexcept { return _count == 0 ? 1 : (_count - 1) / _segment + 1; }
    MPI_Count elements(MPI_Count i) const noexcept { return std::min(_segment, _count - i * _segment); }
    const void* at(const void* buffer, MPI_Count i) const noexcept { return element(buffer, i * _segment, _type); }
    void* at(void* buffer, MPI_Count i) const noexcept { return element(buffer, i * _segment, _type); }

    void copy(const void* source, void* target, MPI_Count i) noexcept {
        _steps.copy(source, elements(i), _type, target, elements(i), _type);
        _steps.round();
    }
    void join(const void* left, void* right, MPI_Count i) noexcept {
        _steps.reduce(left, right, elements(i), _type, _op);
        _steps.round();
    }
    void send_own() noexcept {
        for (MPI_Count i = 0; i < segments(); ++i) {
            _steps.send(at(_own, i), elements(i), _type, _next);
            _steps.round();
        }
    }
    // room(i): where segment i is received. use(i): called when it is there; returns what the next rank gets.
    template <class Room, class Use>
    void receive(const Room& room, const Use& use) noexcept {
        _steps.recv(room(0), elements(0), _type, _previous);
        _steps.round();
        for (MPI_Count i = 0; i < segments(); ++i) {
            const void* const passed_on = use(i);
            const bool last = i + 1 == segments();
            if (_next != MPI_PROC_NULL && !last) {
                _steps.exchange(passed_on, elements(i), _type, _next, room(i + 1), elements(i + 1), _type, _previous);
            } else if (_next != MPI_PROC_NULL) {
                _steps.send(passed_on, elements(i), _type, _next);
            } else if (!last) {
                _steps.recv(room(i + 1), elements(i + 1), _type, _previous);
            }
            _steps.round();
        }
    }

    Steps& _steps;
    const void* const _own;
    void* const _result;
    const MPI_Count _count;
    const Datatype& _type;
    const Op& _op;
    const MPI_Count _segment; // elements
    const int _previous;
    const int _next;
};

} // namespace

template <class Steps>
void scan(Steps& steps, const Call& call, const Choice& choice) noexcept {
    Prefix<Steps>(steps, call, choice.algorithm == Algorithm::chain ? choice.segment : 0).inclusive();
}

template <class Steps>
void exscan(Steps& steps, const Call& call, const Choice& choice) noexcept {
    Prefix<Steps>(steps, call, choice.algorithm == Algorithm::chain ? choice.segment : 0).exclusive();
}

template void scan(Immediate&, const Call&, const Choice&) noexcept;
template void scan(Schedule&, const Call&, const Choice&) noexcept;
template void exscan(Immediate&, const Call&, const Choice&) noexcept;
template void exscan(Schedule&, const Call&, const Choice&) noexcept;

} // namespace patchbay::coll::tuned
