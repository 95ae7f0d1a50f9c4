// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/sm/run.h"
#include "core/base/list.h"
#include "core/progress/lock.h"
#include "frameworks/coll/schedule.h"

#include <memory>
#include <mutex>

namespace patchbay::coll::sm {

class Starts;

// The starts of one persistent collective, which has a place of its own: processes may start their operations in
// different orders.
class Start : public Execution {
public:
    explicit Start(std::shared_ptr<Starts> starts) noexcept
        : _starts(std::move(starts)) {}
    void start(int tag, Completion& done) noexcept final;

protected:
    virtual Place& place() noexcept = 0;
    // Begins a step.
    virtual void begin() noexcept = 0;
    // Goes on as far as it can. true: the step has ended, with `code`. Does not wait.
    virtual bool advance(int& code) noexcept = 0;

private:
    friend class Starts;
    const std::shared_ptr<Starts> _starts;
    Completion* _done = nullptr;
    Link<Start> _link;
};

// The starts of this process that wait for other members: one poller for all of them.
class Starts {
public:
    explicit Starts(Progress& progress) noexcept
        : _progress(progress),
          _lock(progress.threads()) {}
    ~Starts() { close(); }
    Starts(const Starts&) = delete;
    Starts& operator=(const Starts&) = delete;

    void add(Start& start) noexcept;
    // Before the component goes. Starts of requests that the program has not freed keep this object.
    void close() noexcept {
        const std::lock_guard lock(_lock);
        _poller.reset();
    }

private:
    static constexpr int most_idle_polls = 1000; // a program starts its operations again and again

    static int poll(void* starts) noexcept { return static_cast<Starts*>(starts)->advance_all(); }
    int advance_all() noexcept;
    bool is_time_to_look() noexcept;

    Progress& _progress;
    ProgressLock _lock; // of the list: polls exclude each other, but starts may be added at any time
    List<Start, &Start::_link> _waiting;
    PollerHandle _poller;
    int _idle_polls = 0;
    std::int64_t _last_look = 0;
};

template <class What>
class StartOf final : public Start {
public:
    StartOf(std::shared_ptr<Starts> starts, std::unique_ptr<Place> place, const What& what, int root) noexcept
        : Start(std::move(starts)),
          _place(std::move(place)),
          _what(what),
          _root(root),
          _waits(what.waits(*_place)) {}

private:
    Place& place() noexcept override { return *_place; }
    void begin() noexcept override {
        _arrived = false;
        _place->next_step(_what.contributes(*_place) ? _what.own(*_place).bytes() : 0);
    }
    bool advance(int& code) noexcept override {
        if (!_arrived) {
            if (!_place->try_begin()) {
                return false;
            }
            _code = arrive(*_place, _what, _waits, _root);
            _arrived = true;
        }
        if (!is_ready(*_place, _waits, _root)) {
            return false;
        }
        code = leave(*_place, _what, _waits, _code);
        return true;
    }

    const std::unique_ptr<Place> _place;
    const What _what;
    const int _root;
    const Waits _waits;
    bool _arrived = false;
    int _code = MPI_SUCCESS;
};

} // namespace patchbay::coll::sm
