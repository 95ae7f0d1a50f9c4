// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/bridge_reduction.h"

#include "frameworks/cid/reduce_words.h"
#include "mpi/communicators/construction_tags.h"

namespace patchbay {

int BridgeReduction::start(std::span<std::uint64_t> words, Operation operation) noexcept {
    _words = words;
    // The first member of a group need not be its leader, and there are two of them.
    const bool one_speaks = operation == Operation::first || operation == Operation::any;
    _operation = one_speaks ? Operation::maximum : operation;
    _stage = Stage::gathering;
    return _within.start(words, _operation);
}

bool BridgeReduction::ready() const noexcept {
    return _stage == Stage::crossing ? _crossing.ready() : _within.ready();
}

bool BridgeReduction::advance(int* code) noexcept {
    *code = MPI_SUCCESS;
    while (_stage != Stage::finished && step(code)) {
        if (*code != MPI_SUCCESS) {
            _stage = Stage::finished;
        }
    }
    return _stage == Stage::finished;
}

// false: this stage is not over yet. Otherwise the next one has begun, or *code says what failed.
bool BridgeReduction::step(int* code) noexcept {
    if (_stage == Stage::crossing) {
        if (!_crossing.ready()) {
            return false;
        }
        *code = _crossing.finish();
        if (*code == MPI_SUCCESS) {
            reduce_words(_words, _crossing.received(), _operation);
        }
    } else if (!_within.advance(code)) {
        return false;
    }
    if (*code != MPI_SUCCESS || _stage == Stage::spreading) {
        _stage = Stage::finished;
    } else if (_stage == Stage::gathering && _leads) {
        _stage = Stage::crossing;
        *code = _crossing.start(*_bridge.comm, _words, _bridge.rank, _bridge.rank, _bridge.tag);
    } else {
        _stage = Stage::spreading;
        *code = _within.start(_words, _operation);
    }
    return true;
}

std::unique_ptr<BridgeReduction> bridge_over(Communicator& inter) {
    const int within = next_construction_tag(*inter.local_comm);
    const Bridge bridge{&inter, 0, next_construction_tag(inter)};
    return std::make_unique<BridgeReduction>(*inter.local_comm, inter.group, within, 0, bridge);
}

} // namespace patchbay
