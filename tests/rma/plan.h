// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/rma/oracle.h"

#include <numeric>
#include <set>
#include <string>

// What all ranks do in one step of the model test: each rank derives the same plan from the seed, and with it what
// every window must hold afterwards and what every get must return.
//
// The memory of a rank is divided into slots. In a step each slot has one element type, and one use at a time: it is
// read by anybody, written by one rank, or updated by all with one op. So the result does not depend on the order in
// which the operations of different ranks happen.

enum class Call { put, get, accumulate, get_accumulate, fetch_and_op, compare_and_swap };

inline const char* name_of(Call call) {
    static const char* const names[] = {
        "MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Get_accumulate", "MPI_Fetch_and_op", "MPI_Compare_and_swap"};
    return names[int(call)];
}

struct Operation {
    Call call = Call::put;
    int origin = 0, target = 0;
    Update update = Update::replace;
    Layout origin_layout, result_layout, target_layout;
    std::int64_t place = 0; // of the layout's first byte, in the memory of the target
    Packed data, compare;
    Packed result; // what the call must return
    bool checked = true;
    bool request = false, large_count = false, free_type = false, wait_at_once = false;

    bool returns_data() const { return call != Call::put && call != Call::accumulate; }
};

enum class Act {
    operation,
    fence,
    post,
    start,
    complete,
    wait,
    test,
    lock,
    unlock,
    lock_all,
    unlock_all,
    flush,
    flush_all,
    flush_local,
    flush_local_all,
    sync,
    barrier
};

struct Action {
    Act act;
    int number = -1; // of the operation, or rank of the target
    int assertion = 0;
    bool exclusive = false;
    std::vector<int> group;
};

struct Slot {
    enum class Use { nothing, read, written, updated };
    std::int64_t place = 0, bytes = 0;
    const Basic* basic = nullptr;
    Use use = Use::nothing;
    int owner = 0;
    Update update = Update::sum;
    // Of the owner: what it has under way, which orders nothing but accumulates with the same op.
    bool pending = false;
    Call pending_call = Call::put;
    Update pending_update = Update::sum;
    std::vector<int> updates; // operations, when the slot is updated by all
};

struct Shape {
    int flavor = MPI_WIN_FLAVOR_CREATE;
    bool no_locks = false, ordering_stated = false, backwards = false;
    std::vector<int> units;
    std::vector<std::int64_t> bytes;
    std::vector<std::vector<std::int64_t>> regions; // of a dynamic window: where each begins, in the rank's memory
};

using Memory = std::vector<unsigned char>;

class Plan {
public:
    Plan(std::uint64_t seed, int ranks)
        : _random(seed),
          _ranks(ranks),
          memory(std::size_t(ranks)),
          actions(std::size_t(ranks)),
          _slots(std::size_t(ranks)) {
        choose_shape();
    }

    // Refills the memory of all ranks, and makes the actions of the next step.
    void next_step() {
        operations.clear();
        for (int rank = 0; rank < _ranks; ++rank) {
            actions[std::size_t(rank)].clear();
            refill(rank);
        }
        before = memory;
        const int style = shape.no_locks ? _random.below(2) : _random.below(4);
        passive = style >= 2;
        if (passive) {
            name = "passive target";
            passive_step();
        } else if (style == 0) {
            name = "fence";
            fence_step();
        } else {
            name = "post/start/complete/wait";
            post_step();
        }
        end_uses();
    }

private:
    Random _random;
    int _ranks;

public:
    Shape shape;
    std::string name; // of the step
    bool passive = false;
    std::vector<Memory> before, memory; // of each rank, before and after the step
    std::vector<Operation> operations;
    std::vector<std::vector<Action>> actions; // of each rank

private:
    void choose_shape() {
        const int flavors[] = {
            MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED, MPI_WIN_FLAVOR_DYNAMIC};
        shape.flavor = flavors[_random.below(4)];
        shape.no_locks = _random.one_in(5);
        shape.ordering_stated = _random.one_in(3);
        shape.backwards = _random.one_in(3);
        const int unit = 1 << _random.below(5);
        const bool same = _random.one_in(2);
        for (int rank = 0; rank < _ranks; ++rank) {
            const int own = same ? unit : 1 << _random.below(5);
            shape.units.push_back(shape.flavor == MPI_WIN_FLAVOR_DYNAMIC ? 1 : own);
            divide(rank);
        }
    }
    // Slots, with bytes between them that nobody touches.
    void divide(int rank) {
        const int sizes[] = {16, 16, 32, 64, 160, 512, 4096};
        std::int64_t at = 0;
        std::vector<std::int64_t> regions;
        for (int slots = _random.below(14); slots > 0; --slots) {
            Slot slot;
            slot.place = at + 16 * _random.below(2);
            slot.bytes = _random.one_in(40) ? 300000 / 16 * 16 : sizes[_random.below(7)];
            if (at == 0 || _random.one_in(5)) {
                regions.push_back(at);
            }
            at = slot.place + slot.bytes;
            _slots[std::size_t(rank)].push_back(slot);
        }
        shape.bytes.push_back(at);
        shape.regions.push_back(regions);
        memory[std::size_t(rank)].resize(std::size_t(at));
    }
    void refill(int rank) {
        Memory& own = memory[std::size_t(rank)];
        for (unsigned char& byte : own) {
            byte = (unsigned char)_random.bits();
        }
        for (Slot& slot : _slots[std::size_t(rank)]) {
            slot.basic = &basics()[std::size_t(_random.below(int(basics().size())))];
            slot.use = Slot::Use::nothing;
            const int extent = slot.basic->extent;
            for (std::int64_t at = 0; extent > 0 && at + extent <= slot.bytes; at += extent) {
                fill_value(*slot.basic, _random, own.data() + slot.place + at);
            }
        }
    }
    // All is complete everywhere. What several ranks have updated returned values that depend on the order.
    void end_uses() {
        for (std::vector<Slot>& slots : _slots) {
            for (Slot& slot : slots) {
                std::set<int> origins;
                for (const int number : slot.updates) {
                    origins.insert(operations[std::size_t(number)].origin);
                }
                for (const int number : slot.updates) {
                    operations[std::size_t(number)].checked = origins.size() == 1;
                }
                slot.updates.clear();
                slot.use = Slot::Use::nothing;
                slot.pending = false;
            }
        }
    }
    void act(int rank, Action action) { actions[std::size_t(rank)].push_back(std::move(action)); }
    void act_all(const Action& action) {
        for (int rank = 0; rank < _ranks; ++rank) {
            act(rank, action);
        }
    }

    void fence_step() {
        const int phases = _random.between(1, 3);
        act_all({Act::fence, -1, _random.one_in(2) ? MPI_MODE_NOPRECEDE : 0, false, {}});
        for (int phase = 0; phase < phases; ++phase) {
            for (int rank = 0; rank < _ranks; ++rank) {
                for (int left = _random.below(8); left > 0; --left) {
                    operation(rank, _random.below(_ranks), false);
                }
            }
            end_uses();
            const int last = _random.one_in(2) ? MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT : MPI_MODE_NOSUCCEED;
            act_all({Act::fence, -1, phase + 1 == phases ? last : _random.one_in(3) ? MPI_MODE_NOSTORE : 0, false, {}});
        }
    }
    void post_step() {
        for (int phase = _random.between(1, 4); phase > 0; --phase) {
            std::vector<std::vector<int>> targets;
            targets.resize(std::size_t(_ranks));
            std::vector<std::vector<int>> origins = targets;
            for (int rank = 0; rank < _ranks; ++rank) {
                std::vector<int>& mine = targets[std::size_t(rank)];
                mine.resize(std::size_t(_ranks));
                std::iota(mine.begin(), mine.end(), 0);
                for (int i = _ranks - 1; i > 0; --i) {
                    std::swap(mine[std::size_t(i)], mine[std::size_t(_random.below(i + 1))]);
                }
                mine.resize(std::size_t(_random.below(_ranks + 1)));
                for (const int target : mine) {
                    origins[std::size_t(target)].push_back(rank);
                }
            }
            const bool unchecked = _random.one_in(3); // all posts before all starts
            const bool empty_epochs = _random.one_in(2);
            for (int rank = 0; rank < _ranks; ++rank) {
                post_phase(rank, targets[std::size_t(rank)], origins[std::size_t(rank)], unchecked, empty_epochs);
            }
            end_uses();
        }
    }
    void post_phase(
        int rank, const std::vector<int>& targets, const std::vector<int>& origins, bool unchecked, bool empty_epochs) {
        const int assertion = unchecked ? MPI_MODE_NOCHECK : 0;
        const bool posts = !origins.empty() || empty_epochs, starts = !targets.empty() || empty_epochs;
        if (posts) {
            act(rank, {Act::post, -1, assertion, false, origins});
        }
        if (unchecked) {
            act(rank, {Act::barrier, -1, 0, false, {}});
        }
        if (starts) {
            act(rank, {Act::start, -1, assertion, false, targets});
            for (int left = targets.empty() ? 0 : _random.below(8); left > 0; --left) {
                operation(rank, targets[std::size_t(_random.below(int(targets.size())))], false);
            }
            act(rank, {Act::complete, -1, 0, false, {}});
        }
        if (posts) {
            act(rank, {_random.one_in(3) ? Act::test : Act::wait, -1, 0, false, {}});
        }
    }

    void passive_step() {
        const bool exclusive = !_random.one_in(3);
        for (int rank = 0; rank < _ranks; ++rank) {
            for (int epochs = _random.below(4); epochs > 0; --epochs) {
                if (_random.one_in(2)) {
                    lock_all_epoch(rank, exclusive);
                } else {
                    lock_epoch(rank, exclusive);
                }
            }
        }
    }
    int lock_assertion(bool exclusive) { return !exclusive && _random.one_in(3) ? MPI_MODE_NOCHECK : 0; }
    void lock_all_epoch(int rank, bool exclusive) {
        act(rank, {Act::lock_all, -1, lock_assertion(exclusive), false, {}});
        std::vector<int> all;
        all.resize(std::size_t(_ranks));
        std::iota(all.begin(), all.end(), 0);
        passive_operations(rank, all);
        act(rank, {Act::unlock_all, -1, 0, false, {}});
        for (const int target : all) {
            completed(rank, target);
        }
    }
    // Several locks at once only where all are shared: others could be acquired in an order that ends in a deadlock.
    void lock_epoch(int rank, bool exclusive) {
        std::vector<int> targets = {_random.below(_ranks)};
        while (!exclusive && targets.back() + 1 < _ranks && _random.one_in(2)) {
            targets.push_back(_random.between(targets.back() + 1, _ranks - 1));
        }
        for (const int target : targets) {
            act(rank, {Act::lock, target, lock_assertion(exclusive), exclusive && _random.one_in(2), {}});
        }
        passive_operations(rank, targets);
        if (_random.one_in(2)) {
            std::reverse(targets.begin(), targets.end());
        }
        for (const int target : targets) {
            act(rank, {Act::unlock, target, 0, false, {}});
            completed(rank, target);
        }
    }
    void passive_operations(int rank, const std::vector<int>& targets) {
        for (int left = _random.below(14); left > 0; --left) {
            const int target = targets[std::size_t(_random.below(int(targets.size())))];
            if (_random.one_in(6)) {
                complete_some(rank, target);
            }
            operation(rank, target, true);
        }
    }
    void complete_some(int rank, int target) {
        const Act acts[] = {Act::flush, Act::flush_all, Act::flush_local, Act::flush_local_all, Act::sync};
        const Act act_now = acts[_random.below(5)];
        act(rank, {act_now, target, 0, false, {}});
        for (int other = 0; other < _ranks; ++other) {
            if (act_now == Act::flush_all || (act_now == Act::flush && other == target)) {
                completed(rank, other);
            }
        }
    }
    void completed(int rank, int target) {
        for (Slot& slot : _slots[std::size_t(target)]) {
            if (slot.use == Slot::Use::written && slot.owner == rank) {
                slot.pending = false;
            }
        }
    }

    // An operation that the uses of the target's slots allow, if one is found.
    void operation(int rank, int target, bool may_complete) {
        std::vector<Slot>& slots = _slots[std::size_t(target)];
        for (int attempt = 0; attempt < 6 && !slots.empty(); ++attempt) {
            Slot& slot = slots[std::size_t(_random.below(int(slots.size())))];
            Operation chosen;
            chosen.origin = rank;
            chosen.target = target;
            if (!choose_call(slot, chosen)) {
                continue;
            }
            if (slot.use == Slot::Use::written && slot.pending && !ordered(slot, chosen)) {
                if (!may_complete) {
                    continue;
                }
                const bool all = _random.one_in(4);
                act(rank, {all ? Act::flush_all : Act::flush, target, 0, false, {}});
                for (int other = 0; other < _ranks; ++other) {
                    if (all || other == target) {
                        completed(rank, other);
                    }
                }
            }
            fill_operation(slot, chosen, may_complete);
            act(rank, {Act::operation, int(operations.size()), 0, false, {}});
            if (slot.use == Slot::Use::updated) {
                slot.updates.push_back(int(operations.size()));
            }
            operations.push_back(std::move(chosen));
            return;
        }
    }
    static bool is_accumulate(Call call) { return call != Call::put && call != Call::get; }
    static bool is_integer(const Basic& basic) {
        return basic.kind == Kind::signed_integer || basic.kind == Kind::unsigned_integer ||
            basic.kind == Kind::logical || basic.kind == Kind::byte;
    }
    // May the operation be under way together with what its rank has under way in the slot?
    static bool ordered(const Slot& slot, const Operation& next) {
        if (next.call == Call::get && slot.pending_call == Call::get) {
            return true;
        }
        const bool swaps = next.call == Call::compare_and_swap, swapped = slot.pending_call == Call::compare_and_swap;
        return is_accumulate(next.call) && is_accumulate(slot.pending_call) && swaps == swapped &&
            (swaps || next.update == slot.pending_update || next.update == Update::none);
    }
    bool choose_call(Slot& slot, Operation& chosen) {
        const Basic& basic = *slot.basic;
        const bool accumulates = basic.kind != Kind::record;
        if (slot.use == Slot::Use::nothing) {
            const int choice = _random.below(accumulates ? 6 : 3);
            slot.use = choice == 0 ? Slot::Use::read : choice <= 3 ? Slot::Use::written : Slot::Use::updated;
            slot.owner = chosen.origin;
            slot.update = slot.use == Slot::Use::updated ? any_update(basic, _random) : Update::sum;
            slot.pending = false;
        }
        switch (slot.use) {
        case Slot::Use::read:
            chosen.call = Call::get;
            return true;
        case Slot::Use::written: {
            if (slot.owner != chosen.origin) {
                return false;
            }
            chosen.call = Call(_random.below(accumulates ? is_integer(basic) ? 6 : 5 : 2));
            const int choice = _random.below(5);
            chosen.update = choice == 0 ? Update::replace
                : choice == 1 && (chosen.call == Call::get_accumulate || chosen.call == Call::fetch_and_op)
                ? Update::none
                : choice == 2 && slot.pending && slot.pending_update != Update::none ? slot.pending_update
                                                                                     : any_update(basic, _random);
            return true;
        }
        default: {
            const Call calls[] = {Call::accumulate, Call::get_accumulate, Call::fetch_and_op};
            chosen.call = calls[_random.below(3)];
            chosen.update = chosen.call != Call::accumulate && _random.one_in(4) ? Update::none : slot.update;
            return true;
        }
        }
    }
    void fill_operation(Slot& slot, Operation& chosen, bool passive_target) {
        const Basic& basic = *slot.basic;
        const bool single = chosen.call == Call::fetch_and_op || chosen.call == Call::compare_and_swap;
        const int bytes = basic.kind == Kind::record ? 14 : basic.extent;
        const std::int64_t offset = _random.one_in(2) ? 0 : 16 * std::int64_t(_random.below(int(slot.bytes / 16)));
        const std::int64_t room = slot.bytes - offset;
        const int most = int(room / bytes);
        const int elements = single || most == 1 ? 1
            : _random.one_in(3)                  ? most
                                                 : _random.between(1, std::min(most, 40));
        if (single) {
            chosen.target_layout.basic = chosen.origin_layout.basic = &basic;
            chosen.target_layout.elements = 1;
            chosen.target_layout.pieces = {{0, basic.bytes}};
            chosen.target_layout.span = basic.extent;
            chosen.origin_layout = chosen.result_layout = chosen.target_layout;
        } else {
            LayoutMaker maker(_random, basic);
            chosen.target_layout = maker.make(elements, room);
            chosen.origin_layout = maker.make(elements, 4 * std::int64_t(elements) * bytes + 64);
            chosen.result_layout = maker.make(elements, 4 * std::int64_t(elements) * bytes + 64);
        }
        chosen.place = slot.place + offset;
        chosen.request = passive_target && _random.one_in(3) && !single;
        chosen.wait_at_once = _random.one_in(2);
        chosen.large_count = _random.one_in(4);
        chosen.free_type = _random.one_in(2);
        make_data(chosen);
        carry_out(chosen);
        // NO_OP may follow any op without a flush, and any op that is allowed after the one before may follow it.
        if (!(slot.pending && is_accumulate(chosen.call) && chosen.update == Update::none)) {
            slot.pending_update = chosen.update;
        }
        slot.pending = true;
        slot.pending_call = chosen.call;
    }
    void make_data(Operation& chosen) {
        Memory values(std::size_t(chosen.origin_layout.span) + 16);
        const Basic& basic = *chosen.origin_layout.basic;
        for (const Piece& piece : chosen.origin_layout.pieces) {
            if (basic.kind == Kind::record) {
                const std::uint64_t bits = _random.bits();
                std::memcpy(values.data() + piece.place, &bits, std::size_t(piece.bytes));
            } else {
                unsigned char value[16] = {};
                fill_value(basic, _random, value);
                std::memcpy(values.data() + piece.place, value, std::size_t(piece.bytes));
            }
        }
        chosen.data = gather(values.data(), chosen.origin_layout);
    }
    void carry_out(Operation& chosen) {
        unsigned char* target = memory[std::size_t(chosen.target)].data() + chosen.place;
        const Layout& layout = chosen.target_layout;
        if (chosen.returns_data()) {
            chosen.result = gather(target, layout);
        }
        if (chosen.call == Call::put) {
            scatter(chosen.data, target, layout);
        } else if (chosen.call == Call::compare_and_swap) {
            chosen.compare = _random.one_in(3) ? chosen.data : chosen.result;
            if (chosen.compare == chosen.result) {
                scatter(chosen.data, target, layout);
            }
        } else if (chosen.call != Call::get) {
            std::size_t at = 0;
            for (const Piece& piece : layout.pieces) {
                apply(chosen.update, *layout.basic, target + piece.place, chosen.data.data() + at);
                at += std::size_t(piece.bytes);
            }
        }
    }

    std::vector<std::vector<Slot>> _slots;
};
