// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/threads/leaders.h"

#include <bit>
#include <utility>

namespace patchbay::coll::threads {

// Dissemination: after round k, a leader knows of the 2^k leaders before it.
void Leaders::barrier() noexcept {
    const Datatype& type = *to_object<Datatype>(MPI_BYTE);
    for (int distance = 1; distance < _size; distance *= 2) {
        _steps.exchange(nullptr, 0, type, after(distance), nullptr, 0, type, before(distance));
    }
}

void Leaders::bcast(void* buffer, MPI_Count count, const Datatype& type, Immediate::Batch& sends) noexcept {
    int bit = 1; // the lowest one of the position: those below it are the children's
    while (bit < _size && (position() & bit) == 0) {
        bit <<= 1;
    }
    if (position() != 0) {
        _steps.recv(buffer, count, type, before(bit));
    }
    for (bit >>= 1; bit > 0; bit >>= 1) {
        if (position() + bit < _size) {
            sends.isend(buffer, count, type, after(bit));
        }
    }
}

void Leaders::reduce(void* result, MPI_Count count, const Datatype& type, const Op& op) noexcept {
    void* theirs = nullptr;
    for (int bit = 1; bit < _size; bit <<= 1) {
        if ((position() & bit) != 0) {
            _steps.send(result, count, type, before(bit));
            return;
        }
        if (position() + bit < _size) {
            theirs = theirs != nullptr ? theirs : _steps.scratch(count, type);
            _steps.recv(theirs, count, type, after(bit));
            _steps.reduce(theirs, result, count, type, op);
        }
    }
}

// Among the greatest power of two of them. Of each pair of the first ones, as many as there are more, the second leaves
// its operand to the first, and gets the result from it.
void Leaders::allreduce(void* result, MPI_Count count, const Datatype& type, const Op& op) noexcept {
    const int power = int(std::bit_floor(unsigned(_size)));
    const int pairs = _size - power;
    const bool is_paired = _own < 2 * pairs;
    if (is_paired && _own % 2 != 0) {
        _steps.send(result, count, type, before(1));
        _steps.recv(result, count, type, before(1));
        return;
    }
    void* mine = result;
    void* theirs = _steps.scratch(count, type);
    if (is_paired) {
        _steps.recv(theirs, count, type, after(1));
        _steps.reduce(theirs, mine, count, type, op);
    }
    const int own = is_paired ? _own / 2 : _own - pairs;
    for (int bit = 1; bit < power; bit <<= 1) {
        const int other = own ^ bit;
        const int peer = rank_of(other < pairs ? 2 * other : other + pairs);
        _steps.exchange(mine, count, type, peer, theirs, count, type, peer);
        // Both have the same operand on the left, and so the same result to the last bit.
        if (other < own) {
            _steps.reduce(theirs, mine, count, type, op);
        } else {
            _steps.reduce(mine, theirs, count, type, op);
            std::swap(mine, theirs);
        }
    }
    if (mine != result) {
        _steps.copy(mine, count, type, result, count, type);
    }
    if (is_paired) {
        _steps.send(result, count, type, after(1));
    }
}

} // namespace patchbay::coll::threads
