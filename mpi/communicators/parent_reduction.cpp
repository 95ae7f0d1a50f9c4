// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/parent_reduction.h"

#include "core/progress/waiter.h"
#include "frameworks/cid/reduce_words.h"
#include "mpi/communicators/bridge_reduction.h"
#include "mpi/communicators/construction_tags.h"
#include "mpi/instance/instance.h"

#include <array>

namespace patchbay {

int ParentReduction::start(std::span<std::uint64_t> words, Operation operation, int code) noexcept {
    _words = words;
    _operation = operation == Operation::any ? Operation::first : operation;
    if (operation == Operation::any && _members.rank() > 0) {
        words[0] = 0;
    }
    _code = code;
    _distance = 1;
    if (_members.size() > 1) {
        start_round();
    }
    return MPI_SUCCESS;
}

bool ParentReduction::advance(int* code) noexcept {
    *code = MPI_SUCCESS;
    while (_distance < _members.size()) {
        if (!ready()) {
            return false;
        }
        finish_round();
        if (_distance < _members.size()) {
            start_round();
        }
    }
    *code = _code;
    return true;
}

void ParentReduction::start_round() noexcept {
    const bool fails = _code != MPI_SUCCESS;
    const int size = _members.size();
    const int rank = _members.rank();
    if (_operation == Operation::first) {
        const bool sends = rank < _distance && rank < size - _distance;
        const bool receives = rank >= _distance && rank - _distance < _distance;
        note(_exchange.start(_over, _words, sends ? rank_in_parent(rank + _distance) : MPI_PROC_NULL,
            receives ? rank_in_parent(rank - _distance) : MPI_PROC_NULL, _tag, fails));
        return;
    }
    const int to = rank_in_parent((rank + _distance) % size);
    const int from = rank_in_parent((rank - _distance + size) % size);
    note(_exchange.start(_over, _words, to, from, _tag, fails));
}

void ParentReduction::finish_round() noexcept {
    note(_exchange.finish());
    if (_code == MPI_SUCCESS) {
        reduce_words(_words, _exchange.received(), _operation);
    }
    // The distance of the next round. There is no further round if it would not fit into an int.
    _distance = _distance > _members.size() / 2 ? _members.size() : 2 * _distance;
}

int complete(const Communicator& comm, cid::GroupReduction& reduction, std::span<std::uint64_t> words,
    cid::GroupReduction::Operation operation) noexcept {
    int code = reduction.start(words, operation);
    while (code == MPI_SUCCESS && !reduction.advance(&code)) {
        wait_until(comm.progress_or(comm.instance->progress()), [&] { return reduction.ready(); });
    }
    return code;
}

int synchronize_finalize(Communicator& comm) {
    std::array<std::uint64_t, 1> nothing{};
    if (comm.is_inter) {
        return complete(comm, *bridge_over(comm), nothing, cid::GroupReduction::Operation::maximum);
    }
    ParentReduction reduction(comm, *comm.group, next_construction_tag(comm));
    return complete(comm, reduction, nothing, cid::GroupReduction::Operation::maximum);
}

} // namespace patchbay
