// SPDX-License-Identifier: BSD-3-Clause
#include "components/cid/mask/mask.h"

#include "frameworks/cid/refusal_word.h"
#include "frameworks/cid/uniform_cid.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace patchbay::cid {

static_assert(GroupReduction::most_words >= 66);

namespace {
constexpr std::uint64_t offered = 1; // in the first word: every member owned its mask
constexpr int most_failures = 2;     // of the lowest allocation, before the others take part out of order
constexpr int most_refusals = 200;   // of the first segment, when the others are full
}

bool MaskOwnership::take_first(const void* who) {
    std::lock_guard lock(_mutex);
    if (_first != nullptr) {
        return false;
    }
    _first = who;
    return true;
}

void MaskOwnership::enter(Entry& entry) noexcept {
    std::lock_guard lock(_mutex);
    Entry* at = _newest != nullptr && _newest->number < entry.number ? _newest : _waiting.first();
    while (at != nullptr && at->number < entry.number) {
        at = Entries::next(*at);
    }
    _waiting.insert_before(at, entry);
    _newest = &entry;
}

void MaskOwnership::leave(Entry& entry) noexcept {
    std::lock_guard lock(_mutex);
    _waiting.erase(entry);
    _newest = _newest == &entry ? nullptr : _newest;
    detach(entry);
    if (Entry* const next = _waiting.first()) {
        wake(*next);
    }
}

// false: nothing was attached.
bool MaskOwnership::detach(Entry& entry) noexcept {
    Continuation* const follower = std::exchange(entry.follower, nullptr);
    if (follower != nullptr) {
        follower->count_down();
    }
    return follower != nullptr;
}

void MaskOwnership::wake(Entry& entry) noexcept {
    if (!detach(entry) && _waits != nullptr) {
        _waits->wake(); // a thread in a constructor
    }
}

bool MaskOwnership::may_begin(const Entry& entry) const noexcept {
    std::lock_guard lock(_mutex);
    return entry.takes_part || is_lowest(entry);
}

MaskOwnership::Begin MaskOwnership::begin(Entry& entry) noexcept {
    std::lock_guard lock(_mutex);
    const bool takes_part = std::exchange(entry.takes_part, false);
    return is_lowest(entry) ? Begin::as_lowest : (takes_part ? Begin::out_of_order : Begin::not_yet);
}

void MaskOwnership::attach(Entry& entry, Continuation& next) noexcept {
    std::lock_guard lock(_mutex);
    if (!entry.takes_part && !is_lowest(entry)) {
        next.count_up();
        entry.follower = &next;
    }
}

void MaskOwnership::note_failure(const Entry& entry) noexcept {
    std::lock_guard lock(_mutex);
    if (!is_lowest(entry)) {
        return;
    }
    for (Entry* other = Entries::next(entry); other != nullptr; other = Entries::next(*other)) {
        other->takes_part = true;
        wake(*other);
    }
}

bool MaskOwnership::take(std::uint64_t number, const void* who) {
    std::lock_guard lock(_mutex);
    const Entry* const lowest = _waiting.first();
    if (_holder != nullptr || (lowest != nullptr && lowest->number < number)) {
        return false;
    }
    _holder = who;
    return true;
}

void MaskOwnership::give_up(const void* who) {
    std::lock_guard lock(_mutex);
    if (_first == who) {
        _first = nullptr;
    }
    if (_holder == who) {
        _holder = nullptr;
    }
}

MaskAllocation::MaskAllocation(IndexTable& table, MaskOwnership& ownership, Counters& counters,
    const NewCommunicator& what, std::optional<std::uint64_t> number)
    : _table(table),
      _ownership(ownership),
      _counters(counters),
      _what(what),
      _number(number.value_or(~std::uint64_t(0))) {}

MaskAllocation::~MaskAllocation() {
    end();
}

// Gives the mask ownership to other allocations at once, and not only when this object is destroyed.
void MaskAllocation::end() noexcept {
    withdraw(std::nullopt);
    if (std::exchange(_has_entered, false)) {
        _ownership.leave(_entry);
    }
}

int MaskAllocation::start() noexcept {
    return reduce();
}

int MaskAllocation::reduce() noexcept {
    _words.fill(0);
    _words[1] = _number;
    _offers = take_ownership();
    _words[0] = RefusalWord::of(_what.refusal) & (_offers ? ~std::uint64_t(0) : ~offered);
    if (_offers) {
        _table.offer(_from == 0 ? 0 : 1, _from, std::span(_words).subspan(2));
    }
    ++_rounds;
    _counters.rounds.add();
    return _what.members.start(_words, GroupReduction::Operation::bit_and);
}

bool MaskAllocation::take_ownership() {
    const bool taken = _what.refusal == MPI_SUCCESS && (!_all_here || _ownership.take(_number, this)) &&
        (_from != 0 || _ownership.take_first(this));
    if (!taken) {
        _ownership.give_up(this);
    }
    return taken;
}

bool MaskAllocation::advance(int* code) noexcept {
    *code = MPI_SUCCESS;
    for (;;) {
        if (_waits) {
            const MaskOwnership::Begin begin = _ownership.begin(_entry);
            if (begin == MaskOwnership::Begin::not_yet) {
                return false;
            }
            _is_lowest = begin == MaskOwnership::Begin::as_lowest;
            _waits = false;
            *code = reduce();
        } else if (!_what.members.advance(code)) {
            return false;
        } else if (*code == MPI_SUCCESS && evaluate(code)) {
            end();
            return true;
        }
        if (*code != MPI_SUCCESS) {
            end();
            return true;
        }
    }
}

int MaskAllocation::attach(Continuation& next) noexcept {
    if (!_waits) {
        return _what.members.attach(next);
    }
    _ownership.attach(_entry, next);
    return MPI_SUCCESS;
}

// true: finished. false: another reduction follows.
bool MaskAllocation::evaluate(int* code) noexcept {
    if (const int refusal = RefusalWord::code(_words[0]); refusal != MPI_SUCCESS) {
        *code = refused(_what.refusal, refusal);
        return true;
    }
    const bool all_offered = (_words[0] & offered) != 0;
    if (all_offered) {
        const auto free = std::find_if(_words.begin() + 2, _words.end(), [](std::uint64_t word) { return word != 0; });
        if (free != _words.end()) {
            const auto word = std::uint32_t(free - _words.begin() - 2);
            *code = finish(_from + word * 64 + std::uint32_t(std::countr_zero(*free)));
            return true;
        }
        if (++_full == IndexTable::capacity / segment) {
            *code = _table.none_common("cid/mask");
            return true;
        }
    } else if (_all_here && _from == 0 && ++_refusals == most_refusals) { // as many in all members
        *code = _table.none_common("cid/mask");
        return true;
    }
    withdraw(std::nullopt);
    if (all_offered) {
        _from = (_from + segment) % IndexTable::capacity;
    } else if (!_all_here) {
        _from = segment;
    }
    if (!_all_here) {
        _all_here = true;
        _number = _words[1];
        _entry.number = _number;
        _ownership.enter(_entry);
        _has_entered = true;
    } else if (!all_offered && _is_lowest && ++_failures == most_failures) {
        _failures = 0;
        _ownership.note_failure(_entry);
    }
    _waits = true;
    return false;
}

int MaskAllocation::finish(std::uint32_t index) noexcept {
    auto* name = new (std::nothrow) UniformCid(std::uint16_t(index));
    if (name == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    withdraw(index);
    _what.comm.index = std::uint16_t(index);
    _what.comm.id = name;
    return MPI_SUCCESS;
}

void MaskAllocation::withdraw(std::optional<std::uint32_t> taken) noexcept {
    if (_offers) {
        _offers = false;
        _table.withdraw_offer(_from == 0 ? 0 : 1, taken);
        _ownership.give_up(this);
    }
}

} // namespace patchbay::cid
