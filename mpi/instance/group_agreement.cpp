// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/group_agreement.h"

#include "core/progress/waiter.h"
#include "frameworks/pml/pml.h"
#include "mpi/instance/construction_tags.h"
#include "mpi/instance/instance.h"
#include "mpi/instance/reduce_words.h"

#include <algorithm>
#include <array>

namespace patchbay {

namespace {

const Datatype& word_type() noexcept {
    return *to_object<Datatype>(MPI_UINT64_T);
}

// The request's own code; the request is gone afterwards.
int take_code(Request*& request) noexcept {
    if (request == nullptr) {
        return MPI_SUCCESS;
    }
    const int code = request->error;
    request->recycle();
    request = nullptr;
    return code;
}

} // namespace

GroupAgreement::~GroupAgreement() {
    // Only after an error in the middle of a round is there anything left; who owns it gives it back at its completion.
    if (_sending != nullptr) {
        _sending->recycle();
    }
    if (_receiving != nullptr) {
        _receiving->recycle();
    }
}

int GroupAgreement::start(std::span<std::uint64_t> words, Reduction reduction) noexcept {
    _words = words;
    _reduction = reduction;
    _distance = 1;
    _incoming.resize(words.size());
    return _members.size() > 1 ? start_round() : MPI_SUCCESS;
}

bool GroupAgreement::ready() const noexcept {
    return (_sending == nullptr || _sending->is_complete()) && (_receiving == nullptr || _receiving->is_complete());
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
    const int to = rank_in_parent((rank + _distance) % size);
    const int from = rank_in_parent((rank - _distance + size) % size);
    const auto count = MPI_Count(_words.size());
    const int code = _over.pml->irecv(_incoming.data(), count, word_type(), from, _tag, _over, &_receiving);
    if (code != MPI_SUCCESS) {
        return code;
    }
    return _over.pml->isend(_words.data(), count, word_type(), to, _tag, pml::SendMode::standard, _over, &_sending);
}

int GroupAgreement::finish_round() noexcept {
    const int sent = take_code(_sending);
    const int received = take_code(_receiving);
    if (received == MPI_SUCCESS) {
        combine();
    }
    // The distance of the next round; too large for a further one when it does not fit an int any more.
    _distance = _distance > _members.size() / 2 ? _members.size() : 2 * _distance;
    return sent != MPI_SUCCESS ? sent : received;
}

void GroupAgreement::combine() noexcept {
    for (std::size_t i = 0; i < _words.size(); ++i) {
        reduce_word(_words[i], _incoming[i], _reduction);
    }
}

int agree_to_leave(Communicator& comm) noexcept {
    GroupAgreement agreement(comm, *comm.group, construction_tag(comm.constructions++));
    std::array<std::uint64_t, 1> nothing{};
    int code = agreement.start(nothing, cid::Agreement::Reduction::maximum);
    while (code == MPI_SUCCESS && !agreement.advance(&code)) {
        wait_until(comm.instance->progress(), [&] { return agreement.ready(); });
    }
    return code;
}

} // namespace patchbay
