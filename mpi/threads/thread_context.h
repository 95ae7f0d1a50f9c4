// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"
#include "mpi/threads/core_shares.h"
#include "object/thread_views.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace patchbay::threads {

// Identifies a thread in groups (ProcessId::thread): from 1 on, and of no other thread of the process that has one.
class ThreadNumber {
public:
    ThreadNumber(); // throws std::bad_alloc, also if there are none left
    ~ThreadNumber();
    ThreadNumber(const ThreadNumber&) = delete;
    ThreadNumber& operator=(const ThreadNumber&) = delete;
    std::uint16_t value() const noexcept { return _value; }

private:
    std::uint16_t _value;
};

// What a thread has as long as it is a rank of a thread communicator, of however many: one Progress, so that a wait on
// one of its communicators goes on with the messages of all of them, and its communicators by handle.
//
// Where all threads are in one process, each sleeps on a bell of its own. Otherwise a message from another process may
// be for any of them: they sleep on the bell of the process, and those that are woken in vain sleep again.
class ThreadContext {
public:
    // `process`: the Progress of the process. `shares_bell`: messages may come from other processes.
    // Throws std::bad_alloc.
    ThreadContext(Progress& process, bool shares_bell)
        : _process(process),
          _progress(shares_bell, process.policy(), Progress::PolledBy::own_thread),
          _shares_bell(shares_bell) {
        if (shares_bell) {
            _progress.set_doorbell(&process.doorbell());
            _progress.set_sleeps_fenced(process.sleeps_are_fenced());
        }
    }

    Progress& progress() noexcept { return _progress; }
    Progress& process_progress() noexcept { return _process; }
    // The same in all thread communicators of the thread.
    std::uint16_t number() const noexcept { return _number.value(); }
    ThreadViews& views() noexcept { return _views; }
    bool shares_bell() const noexcept { return _shares_bell; }

    // That of the calling thread, made for its first communicator, which this one is or is not. `threads`: how many of
    // this process are ranks of it. `cores`: of the node, for each process of it; none: whether its threads spin does
    // not depend on their number. Throws std::bad_alloc.
    static std::shared_ptr<ThreadContext> enter(
        Progress& process, bool shares_bell, int threads, std::optional<unsigned> cores);
    // That of the calling thread, which has entered one.
    static ThreadContext& of_thread() noexcept;
    // The calling thread leaves one communicator. An activation keeps the context until all its threads are woken.
    static void leave() noexcept;

private:
    const ThreadNumber _number;
    Progress& _process;
    Progress _progress;
    ThreadViews _views{};
    const bool _shares_bell;
    int _communicators = 0;
    std::optional<CoreShare> _core_share; // as long as it has communicators
};

} // namespace patchbay::threads
