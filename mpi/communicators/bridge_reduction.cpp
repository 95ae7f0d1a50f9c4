// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/bridge_reduction.h"

#include "frameworks/cid/reduce_words.h"
#include "mpi/communicators/construction_tags.h"
#include "object/error_code.h"

namespace patchbay {

int BridgeReduction::start(std::span<std::uint64_t> words, Operation operation) noexcept {
    _words = words;
    // A maximum replaces the operations with one value: there are two groups, and so two first members.
    const bool one_value = operation == Operation::first || operation == Operation::any;
    _operation = one_value ? Operation::maximum : operation;
    _stage = Stage::reducing;
    _code = MPI_SUCCESS;
    return _within.start(words, _operation);
}

bool BridgeReduction::ready() const noexcept {
    return _stage == Stage::exchanging ? _exchange.ready() : _within.ready();
}

int BridgeReduction::attach(Continuation& next) noexcept {
    if (_stage != Stage::exchanging) {
        return _within.attach(next);
    }
    _exchange.attach(next);
    return MPI_SUCCESS;
}

bool BridgeReduction::advance(int* code) noexcept {
    while (_stage != Stage::finished && step()) {
    }
    const bool finished = _stage == Stage::finished;
    *code = finished ? _code : MPI_SUCCESS;
    return finished;
}

// false: this stage is not finished yet.
bool BridgeReduction::step() noexcept {
    int code = MPI_SUCCESS;
    if (_stage == Stage::exchanging) {
        if (!_exchange.ready()) {
            return false;
        }
        code = _exchange.finish();
    } else if (!_within.advance(&code)) {
        return false;
    }
    _code = first_error(_code, code);
    if (_stage == Stage::exchanging && _code == MPI_SUCCESS) {
        reduce_words(_words, _exchange.received(), _operation);
    }
    if (_stage == Stage::distributing) {
        _stage = Stage::finished;
    } else if (_stage == Stage::reducing && _is_leader) {
        _stage = Stage::exchanging;
        code = _exchange.start(*_bridge.comm, _words, _bridge.rank, _bridge.rank, _bridge.tag, _code != MPI_SUCCESS);
        _code = first_error(_code, code);
    } else {
        _stage = Stage::distributing;
        _within.start(_words, _operation, _code);
    }
    return true;
}

std::unique_ptr<BridgeReduction> bridge_over(Communicator& inter) {
    const int within = next_construction_tag(*inter.local_comm);
    const Bridge bridge{&inter, 0, next_construction_tag(inter)};
    return std::make_unique<BridgeReduction>(*inter.local_comm, inter.group, within, 0, bridge);
}

} // namespace patchbay
