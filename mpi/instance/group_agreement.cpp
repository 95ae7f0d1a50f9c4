// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/group_agreement.h"

#include "core/progress/waiter.h"
#include "mpi/instance/bridge_agreement.h"
#include "mpi/instance/construction_tags.h"
#include "mpi/instance/instance.h"
#include "mpi/instance/reduce_words.h"

#include <array>

namespace patchbay {

int GroupAgreement::start(std::span<std::uint64_t> words, Reduction reduction) noexcept {
    _words = words;
    _reduction = reduction == Reduction::any ? Reduction::first : reduction;
    if (reduction == Reduction::any && _members.rank() > 0) {
        words[0] = 0;
    }
    _distance = 1;
    return _members.size() > 1 ? start_round() : MPI_SUCCESS;
}

bool GroupAgreement::advance(int* code) noexcept {
    *code = MPI_SUCCESS;
    while (_distance < _members.size()) {
        if (!ready()) {
            return false;
        }
        *code = finish_round();
        if (*code == MPI_SUCCESS && _distance < _members.size()) {
            *code = start_round();
        }
        if (*code != MPI_SUCCESS) {
            _distance = _members.size();
            return true;
        }
    }
    return true;
}

int GroupAgreement::start_round() noexcept {
    const int size = _members.size();
    const int rank = _members.rank();
    if (_reduction == Reduction::first) {
        const bool tells = rank < _distance && rank < size - _distance;
        const bool hears = rank >= _distance && rank - _distance < _distance;
        return _exchange.start(_over, _words, tells ? rank_in_parent(rank + _distance) : MPI_PROC_NULL,
            hears ? rank_in_parent(rank - _distance) : MPI_PROC_NULL, _tag);
    }
    const int to = rank_in_parent((rank + _distance) % size);
    const int from = rank_in_parent((rank - _distance + size) % size);
    return _exchange.start(_over, _words, to, from, _tag);
}

int GroupAgreement::finish_round() noexcept {
    const int code = _exchange.finish();
    if (code == MPI_SUCCESS) {
        reduce_words(_words, _exchange.received(), _reduction);
    }
    // The distance of the next round; too large for a further one when it does not fit an int any more.
    _distance = _distance > _members.size() / 2 ? _members.size() : 2 * _distance;
    return code;
}

int complete(Instance& instance, cid::Agreement& agreement, std::span<std::uint64_t> words,
    cid::Agreement::Reduction reduction) noexcept {
    int code = agreement.start(words, reduction);
    while (code == MPI_SUCCESS && !agreement.advance(&code)) {
        wait_until(instance.progress(), [&] { return agreement.ready(); });
    }
    return code;
}

int agree_to_leave(Communicator& comm) noexcept {
    std::array<std::uint64_t, 1> nothing{};
    if (comm.is_inter) {
        return complete(*comm.instance, *bridge_over(comm), nothing, cid::Agreement::Reduction::maximum);
    }
    GroupAgreement agreement(comm, *comm.group, next_construction_tag(comm));
    return complete(*comm.instance, agreement, nothing, cid::Agreement::Reduction::maximum);
}

} // namespace patchbay
