// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/continuation.h"
#include "object/communicator.h"
#include "object/handle.h"
#include "object/status.h"

#include <atomic>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

namespace pml {
struct PartitionedRequest;
struct PersistentRequest;
}

// An operation under way, or a persistent operation. Each kind of operation (in a pml, a collective, a generalized
// request) has a derived class, which owns the memory of the request.
//
// A request has an owner, the code that completes it, and a user: the program that has the handle, or the operation of
// which this one is a part. Each of them ends its use once: the owner by complete(), the user by recycle(). Whichever
// comes second has retire() called, so that neither has to know about the other.
//
// `threaded` in the functions below: false means that the thread level cannot change meanwhile and no other thread uses
// the request. It is Progress::threaded(), read where the level does not change (Progress::with_thread_level()).
class Request : public Object {
public:
    enum class State : std::uint32_t { inactive, active, complete };

    bool is_complete() const noexcept { return _word.load(std::memory_order_acquire) == complete_word; }
    // Started, and not yet inactive again: the operation may be complete.
    bool is_active() const noexcept { return _word.load(std::memory_order_relaxed) != inactive_word; }
    bool is_persistent() const noexcept { return persistent; }
    // Complete without an error, and neither finish() nor retire() runs a callback of the program.
    bool is_plain() const noexcept { return error == MPI_SUCCESS && !calls_back; }
    State state() const noexcept {
        const std::uintptr_t word = _word.load(std::memory_order_acquire);
        return word == inactive_word ? State::inactive : word == complete_word ? State::complete : State::active;
    }

    // For the user:

    // Starts a persistent request that may_start(); the request is active or complete then. Does not block. Returns an
    // MPI code.
    virtual int start() noexcept = 0;
    // Implements MPI_Cancel. The status at completion says whether the operation was cancelled. Local; does not block.
    virtual int cancel() noexcept = 0;
    // Called by the completing calls (wait, test, get_status) for a complete request that `calls_back`, before they
    // return the status. A generalized request runs its query callback here. Returns the MPI code of the operation.
    virtual int finish(MPI_Status* status) noexcept {
        (void)status;
        return error;
    }
    // Whether a persistent request may be started: one start is outstanding at a time, unless the owner has set
    // most_starts.
    bool may_start() const noexcept { return !is_active() || (most_starts != 1 && outstanding_starts() < most_starts); }
    // Called by the completing calls for a complete persistent request in place of recycle(), after finish(): one start
    // is not outstanding any more.
    void end_start() noexcept {
        if (most_starts == 1) [[likely]] {
            _word.store(inactive_word, std::memory_order_release);
        } else {
            end_first_start();
        }
    }
    // The user's end: the handle is released. The request may not exist afterwards. Called once, for a request in any
    // state; an active one goes on, and is retired after it has completed. Returns what retire() returned, or
    // MPI_SUCCESS if it has not been called yet.
    int recycle() noexcept {
        return (_word.load(std::memory_order_acquire) & active_bit) == 0 ? retire() : recycle_active();
    }
    // The same for a request that is complete.
    int recycle_complete() noexcept { return retire(); }
    // What the completing calls ask of an active request, before and between their rounds of progress: whether it is
    // complete. A request that checks_itself looks first.
    bool has_completed() noexcept {
        if (is_complete()) {
            return true;
        }
        if (!checks_itself) [[likely]] {
            return false;
        }
        if (progress->threaded()) [[unlikely]] {
            return has_completed_among_threads();
        }
        check();
        return is_complete();
    }
    // The continuation is counted down when the request completes. false: the request is complete already, and the
    // continuation was not counted up. Called by the user, for a request that is not inactive; the counter is not zero
    // (Continuation::open). A request has one continuation at a time, until it completes; the next start needs a new
    // attach().
    bool attach(Continuation& continuation) noexcept;
    // Ends that before the request completes: the continuation is counted down now, unless it has been already. For a
    // user who gives the operation up.
    void detach(Continuation& continuation) noexcept;
    // What a persistent point-to-point request binds (frameworks/pml/pml.h). false: this is none.
    virtual bool bound(pml::PersistentRequest* what) const noexcept {
        (void)what;
        return false;
    }
    // The same for a partitioned request, of which bound() returns false.
    virtual bool bound_partitions(pml::PartitionedRequest* what) const noexcept {
        (void)what;
        return false;
    }
    // Why MPI_Request_free must not be called for the request now; empty: it may be called. A request that refuses
    // holds a reference to its communicator, complete or not.
    virtual std::string_view refuses_free() const noexcept { return {}; }
    // How many references to `comm` the request holds. Overridden by persistent requests, and by those of which a
    // persistent request consists: called while the request is in the list below and not active.
    virtual std::int32_t references_to_comm() const noexcept { return 0; }
    // The cause of an error as a text, where the derived class stores one. Valid once complete.
    virtual std::string_view cause() const noexcept { return {}; }

    // For the bindings:

    // From the call that makes a persistent request to MPI_Request_free the request is in a list of its communicator,
    // if it has one. On any thread.
    void enter_list() noexcept;
    void leave_list() noexcept;
    // The references to the communicator that are held by those persistent requests of its list that are inactive or
    // complete: no communication is pending for these references.
    static std::int32_t idle_references(const Communicator& comm) noexcept;
    // For a wait until no communication of the communicator is pending: calls leave_to_polls() of all that are active.
    static void leave_all_to_polls(const Communicator& comm) noexcept;
    // For the same, in the condition of the wait: asks those active requests of its list that
    // check themselves whether they are complete, because no completing call of the program may do that any more.
    static void check_all(const Communicator& comm) noexcept;

    // The request is a member of a bundle (object/bundle.h), which starts and completes it: only calls that accept a
    // member accept its handle. Of an inactive request, which has no continuation.
    void enter_bundle() noexcept {
        set_kind(ObjectKind::bundled_request);
        has_status = false;
    }
    void leave_bundle() noexcept { set_kind(ObjectKind::request); }
    bool is_in_bundle() const noexcept { return kind() == ObjectKind::bundled_request; }

    // For the owner:

    // Completes the operation of an active request. It is the owner's end, and the last thing that the owner does with
    // the request, which may not exist afterwards. Called where the thread level does not change: in a poller or a
    // ready item, or with a ProgressLock of the Progress's threads() held. Locks may be held, because nothing of the
    // program runs here: a continuation is linked, and so is a request whose handle was released before; the next poll
    // retires it. Outside of a poll call Progress::wake() when the locks are released, for a thread that sleeps.
    // Returns whether the handle was released before: then the request exists while the caller holds a lock that
    // retire() takes.
    bool complete() noexcept;
    // The same in any other context, without a lock held: a request whose handle was released before is retired here.
    // Another thread than the one that uses the library calls Progress::enable_threads() first: until then no atomic
    // operations are used. Does not wake a sleeping thread. Returns what retire() returned, otherwise MPI_SUCCESS.
    int complete_outside() noexcept;

    // For an operation of the library that completes on an inactive persistent request of the program, which has
    // most_starts 1 (MPIX_Ibind_channel): borrow() makes the request active. The operation sets `status` and `error`,
    // and calls complete(); the completing call then calls give_back() in place of finish(). start(), cancel() and
    // recycle() are not called meanwhile.
    void borrow() noexcept {
        borrowed = calls_back ? Borrowed::from_callback : Borrowed::yes;
        calls_back = true; // so that it is not is_plain()
        set_active();
    }
    void give_back() noexcept {
        calls_back = borrowed == Borrowed::from_callback;
        borrowed = Borrowed::no;
        error = MPI_SUCCESS;
    }
    bool is_borrowed() const noexcept { return borrowed != Borrowed::no; }

    MPI_Status status{};     // valid once complete
    int error = MPI_SUCCESS; // the operation's own code, valid once complete
    bool persistent : 1 = false;
    bool calls_back : 1 = false; // finish() is overridden
    // Only check() finds out that the request is complete: no poller does. A continuation that is attached to it runs
    // when somebody has called has_completed().
    bool checks_itself : 1 = false;
    // Of a member of a bundle: the bundle has started it, so that `status` is that of a start.
    bool has_status : 1 = false;
    // Between borrow() and give_back().
    enum class Borrowed : std::uint8_t { no, yes, from_callback }; // the latter: calls_back was set before
    Borrowed borrowed : 2 = Borrowed::no;

private:
    std::atomic<bool> _is_being_checked{false}; // by another thread

public:
    // How many starts of a persistent request may be outstanding; 1: only the next start() makes the request active
    // again. An owner that sets more overrides outstanding_starts() and end_first_start().
    std::uint16_t most_starts = 1;
    // The communicator whose error handler is called; nullptr: that of the world model. Not owned: when the operation
    // is complete without an error, the communicator may have been destroyed. Therefore the request also stores the
    // address of the session, which may only be compared. (A session id is not needed, because a request must be
    // completed before its session is finalized, MPI-5.0, 11.3.1.) belong_to() sets both.
    Communicator* comm = nullptr;
    Session* session = nullptr;   // nullptr: world model
    Progress* progress = nullptr; // that a wait for this request polls; set before the request is active

protected:
    Request() noexcept
        : Object(ObjectKind::request) {}
    virtual ~Request() = default;
    void belong_to(Communicator& communicator) noexcept {
        comm = &communicator;
        session = communicator.session;
    }

    // Called once, when both the owner and the user have ended: releases what the request holds, and its memory. Never
    // called with a lock of the owner held. Any thread may be the one. Returns the MPI code of the program's callback,
    // if one was run.
    virtual int retire() noexcept = 0;
    // Called by recycle() for an active request, before the owner can see that the handle is released. Must not block;
    // retire() follows, perhaps on another thread before recycle() returns.
    virtual void prepare_release() noexcept {}
    // Called for an active request that checks_itself, by one thread at a time, mostly the one that starts and
    // completes it (also check_all()): completes the request by complete() if its operation, or the oldest of several
    // starts, has ended. It is called often, and must be cheap; does not block, and does not lock the mutex of the
    // communicator. What it looks at must wake this process if it sleeps: a poller changes it, a thread that calls
    // Progress::wake(), or a process that rings this one's doorbell.
    virtual void check() noexcept {}
    // Called for an active persistent request with the lock of its communicator, on any thread: perhaps no thread
    // calls check() any more, so that polls have to complete it if they can. Must neither block nor complete it.
    virtual void leave_to_polls() noexcept {}
    // Has the next poll call retire().
    void retire_later(bool threaded) noexcept;
    // For most_starts above 1 (object/several_starts.h).
    virtual std::uint32_t outstanding_starts() const noexcept { return is_active() ? 1 : 0; }
    // The oldest start is complete: whether communication of a later one is pending. Called by idle_references() on any
    // thread, with the lock of the communicator held and with no other call of check(); may do what check() does for
    // these starts, but completes none.
    virtual bool has_later_communication() noexcept { return false; }
    virtual void end_first_start() noexcept { _word.store(inactive_word, std::memory_order_release); }

    // The operation is under way: in start(), in the constructor, or where the cancellation of a complete one begins.
    void set_active() noexcept { _word.store(active_word, std::memory_order_release); }
    // The operation is complete as soon as it is started; no process waits for it yet.
    void set_complete() noexcept { _word.store(complete_word, std::memory_order_release); }
    void set_inactive() noexcept { _word.store(inactive_word, std::memory_order_release); }

private:
    // The state; while the request is active also the address of its continuation, and whether its handle has been
    // released. complete() replaces the word as a whole, so that whichever of two threads is second sees the first.
    static constexpr std::uintptr_t inactive_word = 0;
    static constexpr std::uintptr_t complete_word = 2;
    static constexpr std::uintptr_t active_word = 1, active_bit = 1;
    static constexpr std::uintptr_t released_bit = 4;
    static constexpr std::uintptr_t flag_bits = 7;

    struct Retirement : ReadyItem {
        Request* request;
    };
    struct Neighbours {
        Request* next;
        Request* previous;
    };

    int recycle_active() noexcept;
    bool has_completed_among_threads() noexcept;
    bool has_communication() noexcept;
    bool end_owner(std::uintptr_t before, bool threaded) noexcept;
    std::uintptr_t publish(bool threaded) noexcept {
        if (threaded) {
            return _word.exchange(complete_word, std::memory_order_acq_rel);
        }
        const std::uintptr_t before = _word.load(std::memory_order_relaxed);
        _word.store(complete_word, std::memory_order_release);
        return before;
    }

    std::atomic<std::uintptr_t> _word{inactive_word};
    union {
        Neighbours _neighbours; // of a persistent request, until its handle is released
        Retirement _retirement; // if the handle was released before completion
    };
};

inline bool Request::complete() noexcept {
    const bool threaded = progress->threaded();
    const std::uintptr_t before = publish(threaded);
    return before != active_word && end_owner(before, threaded);
}

// A message that a matched probe has removed from the matching queues (MPI-5.0, 3.8.2). A pml allocates and releases
// it.
class Message : public Object {
public:
    Communicator* comm = nullptr;
    MPI_Status status{};

protected:
    Message() noexcept
        : Object(ObjectKind::message) {}
    ~Message() = default;
};

} // namespace patchbay
