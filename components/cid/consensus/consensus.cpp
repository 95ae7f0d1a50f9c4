// SPDX-License-Identifier: BSD-3-Clause
#include "components/cid/consensus/consensus.h"

#include "frameworks/cid/refusal_word.h"
#include "frameworks/cid/uniform_cid.h"

#include <algorithm>
#include <new>
#include <utility>

namespace patchbay::cid {

namespace {

// The proposal of a process that has no index left. A process that refuses the communicator adds its error code.
constexpr std::uint64_t exhausted = IndexTable::capacity;

// Up to how many indices a CID allocation skips after a failure; more would only leave holes.
constexpr std::uint32_t most_skipped = 256;

} // namespace

std::uint32_t ConsensusAllocation::skipped_after(std::uint32_t failures, std::uint64_t number) noexcept {
    std::uint64_t mixed = number * 0x9e3779b97f4a7c15u + failures;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    const std::uint32_t span = std::min(most_skipped, 1u << std::min(failures - 1, 16u));
    return std::uint32_t(mixed >> 32) % span;
}

ConsensusAllocation::~ConsensusAllocation() {
    give_back();
}

bool ConsensusAllocation::advance(int* code) noexcept {
    *code = MPI_SUCCESS;
    if (_stage == Stage::begin) {
        *code = propose();
    }
    while (*code == MPI_SUCCESS && _reduction.advance(code)) {
        if (*code != MPI_SUCCESS) {
            break;
        }
        if (_stage == Stage::proposed) {
            const std::uint64_t highest = _words[0];
            const std::uint64_t lowest = ~_words[1];
            _number = _words[2];
            if (highest >= exhausted) {
                const int refusal = int(highest - exhausted);
                if (refusal == MPI_SUCCESS && std::exchange(_has_skipped, false)) { // equal in all members
                    *code = search_all();
                    continue;
                }
                *code = refusal != MPI_SUCCESS ? refused(_what.refusal, refusal) : _table.none_common("cid/consensus");
                break;
            }
            _wanted = std::uint32_t(highest);
            if (highest == lowest) {
                *code = finish();
                return true;
            }
            *code = take_highest();
        } else if (_words[0] != 0) {
            *code = finish();
            return true;
        } else {
            *code = try_higher();
        }
    }
    return *code != MPI_SUCCESS;
}

int ConsensusAllocation::propose() noexcept {
    const bool refuses = _what.refusal != MPI_SUCCESS;
    const auto index = refuses ? std::nullopt : _table.reserve_lowest(_from);
    _held = index.value_or(none);
    const std::uint64_t proposal = index ? *index : exhausted + std::uint64_t(_what.refusal);
    // The complement makes one maximum of both bounds.
    _words = {proposal, ~proposal, _number};
    _stage = Stage::proposed;
    return start_reduction(GroupReduction::Operation::maximum);
}

int ConsensusAllocation::take_highest() noexcept {
    if (_held != _wanted) {
        give_back();
        _held = _table.reserve(_wanted) ? _wanted : none;
    }
    _words[0] = _held == _wanted;
    _words[1] = _words[2] = 0;
    _stage = Stage::tried;
    return start_reduction(GroupReduction::Operation::minimum);
}

int ConsensusAllocation::try_higher() noexcept {
    give_back();
    ++_failures;
    const std::uint32_t skipped = _searches_all ? 0 : skipped_after(_failures, _number);
    _has_skipped = _has_skipped || skipped != 0;
    _from = _wanted + 1 + skipped;
    return propose();
}

// An index that is free in all members may have been skipped.
int ConsensusAllocation::search_all() noexcept {
    give_back();
    _searches_all = true;
    _from = 0;
    return propose();
}

int ConsensusAllocation::start_reduction(GroupReduction::Operation operation) noexcept {
    ++_rounds;
    _counters.rounds.add();
    return _reduction.start(_words, operation);
}

int ConsensusAllocation::finish() noexcept {
    auto* name = new (std::nothrow) UniformCid(std::uint16_t(_wanted));
    if (name == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    _what.comm.index = std::uint16_t(_wanted);
    _what.comm.id = name;
    _held = none; // now the communicator's
    return MPI_SUCCESS;
}

void ConsensusAllocation::give_back() noexcept {
    if (_held != none) {
        _table.release(_held);
        _held = none;
    }
}

} // namespace patchbay::cid
