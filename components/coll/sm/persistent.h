// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/sm/run.h"
#include "components/coll/sm/setup.h"

#include <atomic>
#include <memory>
#include <time.h>

namespace patchbay::coll::sm {

// How many persistent operations may have places: a program may have thousands of operations.
class PlaceLimit {
public:
    explicit PlaceLimit(int most) noexcept
        : _most(most) {}
    bool take() noexcept {
        if (_count.fetch_add(1, std::memory_order_relaxed) < _most) {
            return true;
        }
        give_back();
        return false;
    }
    void give_back() noexcept { _count.fetch_sub(1, std::memory_order_relaxed); }

private:
    const int _most;
    std::atomic<int> _count{0};
};

// The starts of one persistent collective, each of which is a step of a place of its own: processes may start their
// operations in different orders.
template <class What>
class SharedStart final : public JointStart {
public:
    // `served`: whether this member's call is one that goes by the memory.
    SharedStart(Context& context, const Below& below, PlaceLimit& limit, Communicator& comm, const What& what, int root,
        bool served) noexcept
        : _context(context),
          _below(below),
          _limit(limit),
          _comm(comm),
          _what(what),
          _root(root),
          _served(served) {}
    ~SharedStart() override {
        if (_place != nullptr) {
            _limit.give_back();
        }
    }

    bool agree(bool possible) noexcept override {
        const bool can = possible && _served && _limit.take();
        _place = make_place(_context, _below, _comm, can);
        if (can && _place == nullptr) {
            _limit.give_back();
        }
        return _place != nullptr;
    }
    void begin() noexcept override {
        _arrived = false;
        _looks = 0;
        if (!_place->has_failed()) [[likely]] {
            _place->next_step(_what.contributes(*_place) ? _what.own(*_place).bytes() : 0);
        }
    }
    bool advance(int* code) noexcept override {
        Place& place = *_place;
        const Waits waits = _what.waits(place);
        if (!_arrived && !place.has_failed() && place.try_begin()) {
            _code = arrive(place, _what, waits, _root, MPI_SUCCESS);
            _arrived = true;
        }
        if (_arrived && is_ready(place, waits, _root)) {
            *code = leave(place, _what, waits, _code, MPI_SUCCESS);
            return true;
        }
        if (_looks++ == 0) {
            place.publish_all(); // others may wait for what this member has completed
        }
        if (place.has_failed() || (_looks > looks_without_time && is_time_to_look() && place.look_for_failures())) {
            *code = failed_process();
            return true;
        }
        return false;
    }

private:
    static constexpr int looks_without_time = 100;

    // A member that has failed rings no doorbell. A process that sleeps polls once a second at least.
    bool is_time_to_look() noexcept {
        timespec now;
        clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
        const std::int64_t ms = now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
        if (ms - _last_look < between_looks.count()) {
            return false;
        }
        _last_look = ms;
        return true;
    }

    Context& _context;
    const Below& _below;
    PlaceLimit& _limit;
    Communicator& _comm;
    const What _what;
    const int _root;
    const bool _served;
    std::unique_ptr<Place> _place;
    bool _arrived = false;
    int _looks = 0; // of this start
    int _code = MPI_SUCCESS;
    std::int64_t _last_look = 0;
};

} // namespace patchbay::coll::sm
