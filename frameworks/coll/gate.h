// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/call.h"
#include "frameworks/coll/schedule.h"

#include <memory>
#include <string_view>

namespace patchbay::coll {

// What has to be found out before the steps of an operation run: in the checking mode, whether all members have made
// the same call. The operation owns it.
class Gate {
public:
    // Called when the operation is not started again.
    virtual ~Gate() = default;
    // Called by the engine at each start, in a poll, before the first step. Must not block. done.end() is called once
    // for each start, in this call or in a poll. With MPI_SUCCESS the steps run; after any other code none of them
    // does, and the operation ends with that code, which must be so in all members: none waits for the messages of
    // another.
    virtual void start(Completion& done) noexcept = 0;
    // The cause of such a code, for the report of the error. Called after done.end().
    virtual std::string_view cause() const noexcept = 0;
    // Whether begin() and finish() are to be called. Asked once, by the engine, when it has the gate.
    virtual bool follows_completion() const noexcept { return false; }
    // Called by MPI_Start for a persistent operation, on its thread, before the start begins. Must not block.
    virtual void begin() noexcept {}
    // Called by the completing calls of the program for an operation, or a start, that is complete, on their thread.
    // Must not block.
    virtual void finish() noexcept {}
};

// Looks at every nonblocking and persistent collective that the program calls, and at the constructors.
class CallChecker {
public:
    // Called by the engine after the plan has been made, on the calling thread, in the order of the calls. Must not
    // block; may begin to communicate. nullptr: the operation needs no gate.
    virtual std::unique_ptr<Gate> look_at(const Call& call, Form form, Communicator& comm) noexcept = 0;
    // Called by each blocking constructor of communicators and windows that all members of `comm` call, with the name
    // of the MPI function, on the calling thread, before it sends anything. Blocks until all members have made a call.
    // After another code than MPI_SUCCESS, which all members get and whose cause is noted, nothing is constructed.
    virtual int compare_constructor(const char* function, Communicator& comm) noexcept = 0;

protected:
    ~CallChecker() = default;
};

} // namespace patchbay::coll
