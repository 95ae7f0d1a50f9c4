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
        if (_place != nullptr) {
            bind();
        } else if (can) {
            _limit.give_back();
        }
        return _place != nullptr;
    }
    Begun begin(int* code) noexcept override {
        Place& place = *_place;
        _calls = 0;
        _arrived = false;
        if (place.has_failed()) [[unlikely]] {
            *code = failed_process();
            return Begun::complete;
        }
        place.next_step(_bytes);
        if (!place.try_begin()) [[unlikely]] {
            return Begun::waiting;
        }
        return come(1, code) ? Begun::complete : Begun::contributed;
    }
    bool advance(int looks, int* code) noexcept override {
        Place& place = *_place;
        if (_arrived ? look(looks, code) : !place.has_failed() && place.try_begin() && come(looks, code)) {
            return true;
        }
        if (++_calls == 1) {
            place.publish_all(); // others may wait for what this member has completed
        }
        if (place.has_failed() || (_calls > calls_without_time && is_time_to_look() && place.look_for_failures())) {
            *code = failed_process();
            return true;
        }
        return false;
    }

private:
    // A process that sleeps soon, because others share its core, makes few calls before it sleeps, and then one a
    // second.
    static constexpr int calls_without_time = 2;

    bool come(int looks, int* code) noexcept {
        _code = arrive();
        _arrived = true;
        return look(looks, code);
    }
    // Whether the start is complete.
    bool look(int looks, int* code) noexcept {
        Place& place = *_place;
        do {
            if (is_ready(place, _waits, _root)) {
                *code = leave(place, _what, _waits, _code, MPI_SUCCESS);
                return true;
            }
        } while (--looks > 0);
        return false;
    }

    // What is the same in all starts.
    void bind() noexcept {
        _waits = _what.waits(*_place);
        _contributes = _what.contributes(*_place);
        if (_contributes) {
            _own = _what.own(*_place);
            if (_own.bytes() > longest_contribution) { // this member would send more than it receives
                _refused = MPI_ERR_TRUNCATE;
                _contributes = false;
            }
            _bytes = _contributes ? std::uint16_t(_own.bytes()) : 0;
        }
    }
    // As the function of this name in run.h. MPI code.
    [[gnu::always_inline]] int arrive() noexcept {
        const int code = _contributes ? contribute(*_place, _own, _bytes) : without_contribution();
        announce(*_place, _what, _waits, _root, _bytes);
        return code;
    }
    int without_contribution() noexcept {
        if (_refused != MPI_SUCCESS) [[unlikely]] {
            _place->show(0, too_long());
        }
        return _refused;
    }
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
    Waits _waits{};
    bool _contributes = false;
    Elements _own{};
    std::uint16_t _bytes = 0;   // of them
    int _refused = MPI_SUCCESS; // the error of each start
    bool _arrived = false;
    int _calls = 0; // of advance(), in this start
    int _code = MPI_SUCCESS;
    std::int64_t _last_look = 0;
};

} // namespace patchbay::coll::sm
