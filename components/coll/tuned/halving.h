// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/tuned/joined_exchange.h"
#include "frameworks/coll/typed_buffer.h"
#include "object/op.h"

#include <array>
#include <bit>

namespace patchbay::coll::tuned {

// Which members take part in a reduction by doubling or by halves: a power of two, each with a position. Where the
// number of ranks is none, the first ranks are pairs, of which one member alone takes part, for both. Positions are in
// rank order.
class Positions {
public:
    // `root` takes part.
    Positions(int rank, int ranks, int root) noexcept
        : _power(int(std::bit_floor(unsigned(ranks)))),
          _surplus(ranks - _power),
          _root(root),
          _paired(rank < 2 * _surplus),
          _position(_paired ? rank / 2 : rank - _surplus),
          _rank(rank) {}

    int power() const noexcept { return _power; }
    int position() const noexcept { return _position; }
    int rank_of(int position) const noexcept {
        if (position >= _surplus) {
            return position + _surplus;
        }
        return 2 * position == _root ? _root : 2 * position + 1;
    }
    int position_of(int rank) const noexcept { return rank < 2 * _surplus ? rank / 2 : rank - _surplus; }
    // Whether this member has another one beside it, and whether that one takes part for both.
    bool is_paired() const noexcept { return _paired; }
    bool is_represented() const noexcept { return _paired && rank_of(_position) != _rank; }
    int neighbour() const noexcept { return _rank ^ 1; }
    bool neighbour_is_lower() const noexcept { return (_rank & 1) != 0; }

private:
    int _power;
    int _surplus;
    int _root;
    bool _paired;
    int _position;
    int _rank;
};

// Elements of the vector.
struct Window {
    MPI_Count first;
    MPI_Count count;
};

// A reduction by halves: in each round a member sends one half of its window to a partner, and receives the other half
// from it, so that in the end each has the result of its own part of the vector. Rank order is kept: the partners of
// the first round are neighbours, and those of each later one have runs of ranks that are neighbours.
template <class Steps>
class Halving {
public:
    // `data`: room for the whole vector, which may be where the contribution is. `segment`: bytes of a message while
    // vectors are joined; 0: one message. Equal in all members.
    Halving(Steps& steps, Function function, const Positions& positions, const void* contribution, void* data,
        MPI_Count count, const Datatype& type, const Op& op, std::size_t segment) noexcept
        : _steps(steps),
          _positions(positions),
          _count(count),
          _type(type),
          _op(op),
          _function(function),
          // Whether a vector can be joined where it is received depends on the member where the op does not commute.
          _segment(segment_elements(op.is_commutative() ? segment : 0, count, type)),
          _source(contribution),
          _data(data) {
        _windows[0] = {0, count};
    }

    // Joins the contribution of a neighbour that does not take part.
    void join_neighbour() noexcept {
        const Window all{0, _count};
        void* theirs = room(all, _positions.neighbour_is_lower());
        _steps.recv(theirs, _count, _type, _positions.neighbour());
        _steps.round();
        join(all, theirs, _positions.neighbour_is_lower());
    }
    void reduce_scatter() noexcept {
        const int position = _positions.position();
        for (int bit = 1; bit < _positions.power(); bit <<= 1, ++_level) {
            const Window low{_windows[_level].first, _windows[_level].count / 2};
            const Window high{low.first + low.count, _windows[_level].count - low.count};
            const bool keeps_high = (position & bit) != 0;
            const Window kept = keeps_high ? high : low;
            const Window sent = keeps_high ? low : high;
            const int partner = _positions.rank_of(position ^ bit);
            void* theirs = room(kept, keeps_high);
            const void* outgoing = element(_source, sent.first, _type);
            if (_segment < sent.count || _segment < kept.count) {
                run(_steps,
                    {outgoing, sent.count, kept.count, element(_source, kept.first, _type), at(kept),
                        theirs == at(kept) ? nullptr : theirs, partner, _segment, _type, _op, _function});
                _source = _data;
            } else {
                _steps.exchange(outgoing, sent.count, _type, partner, theirs, kept.count, _type, partner);
                _steps.round();
                join(kept, theirs, keeps_high);
            }
            _windows[std::size_t(_level) + 1] = kept;
        }
    }
    // Every member that takes part gets the whole result.
    void allgather() noexcept {
        for (int level = _level - 1; level >= 0; --level) {
            const Window own = _windows[std::size_t(level) + 1];
            const Window theirs = sibling(level);
            const int partner = _positions.rank_of(_positions.position() ^ 1 << level);
            _steps.exchange(at(own), own.count, _type, partner, at(theirs), theirs.count, _type, partner);
            _steps.round();
        }
    }
    // The member at position `root` gets the whole result.
    void gather(int root) noexcept {
        const int position = _positions.position();
        for (int level = _level - 1; level >= 0; --level) {
            const int partner = _positions.rank_of(position ^ 1 << level);
            if (((position ^ root) >> level & 1) != 0) {
                const Window own = _windows[std::size_t(level) + 1];
                _steps.send(at(own), own.count, _type, partner);
                _steps.round();
                return;
            }
            const Window theirs = sibling(level);
            _steps.recv(at(theirs), theirs.count, _type, partner);
            _steps.round();
        }
    }

private:
    void* at(const Window& window) noexcept { return element(_data, window.first, _type); }
    // What the partner of that round kept.
    Window sibling(int level) const noexcept {
        const Window all = _windows[std::size_t(level)];
        const Window own = _windows[std::size_t(level) + 1];
        return (_positions.position() >> level & 1) == 0 ? Window{own.first + own.count, all.count - own.count}
                                                         : Window{all.first, all.count - own.count};
    }
    // While the contribution has not been touched, the partner's part can be received where the result will be.
    bool can_receive_in_place(bool lower) const noexcept {
        return _source != _data && (!lower || _op.is_commutative());
    }
    void* room(const Window& window, bool lower) noexcept {
        if (can_receive_in_place(lower)) {
            return at(window);
        }
        if (_scratch == nullptr) {
            _scratch = _steps.scratch(window.count, _type); // no later window is larger
        }
        return _scratch;
    }
    void join(const Window& window, void* theirs, bool lower) noexcept {
        if (can_receive_in_place(lower)) {
            _steps.reduce(element(_source, window.first, _type), theirs, window.count, _type, _op);
        } else {
            if (_source != _data) {
                _steps.copy(
                    element(_source, window.first, _type), window.count, _type, at(window), window.count, _type);
                _steps.round();
            }
            join_to_data(window, theirs, lower);
        }
        _steps.round();
        _source = _data;
    }
    void join_to_data(const Window& window, void* theirs, bool lower) noexcept {
        if (lower || _op.is_commutative()) {
            _steps.reduce(theirs, at(window), window.count, _type, _op);
            return;
        }
        _steps.reduce(at(window), theirs, window.count, _type, _op);
        _steps.round();
        _steps.copy(theirs, window.count, _type, at(window), window.count, _type);
    }

    Steps& _steps;
    const Positions& _positions;
    const MPI_Count _count;
    const Datatype& _type;
    const Op& _op;
    const Function _function;
    const MPI_Count _segment; // elements
    const void* _source;      // the contribution, or `data` as soon as something has been joined
    void* const _data;
    void* _scratch = nullptr;
    std::array<Window, 33> _windows{}; // before each round, and after the last one
    int _level = 0;
};

} // namespace patchbay::coll::tuned
