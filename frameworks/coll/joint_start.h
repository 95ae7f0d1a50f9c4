// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {
namespace coll {

// Runs the starts of one persistent operation of this member in the place of its schedule, together with those of all
// other members: by memory that they share, say. A module makes it for an operation (Module::make_joint_start).
//
// agree() is called on the thread of the init function. begin() and advance() are called on the thread of MPI_Start, in
// polls, and by MPI_Wait and the like, never by two threads at once.
class JointStart {
public:
    enum class Begun : std::uint8_t {
        complete,
        // Other members wait for nothing more of this one in this start: no poll has to advance it while the process
        // waits for something else.
        contributed,
        waiting, // other members may wait for this one: polls advance it, too
    };

    // Called when no further start follows, after the completion of the last one. Must not wait for other members, some
    // of which may not have completed it.
    virtual ~JointStart() = default;

    // Called once, by all members of the operation, after everything in the init function that can fail in one of them
    // alone. Blocks: it may wait for the other members, and call blocking functions of the modules below on the
    // communicator. `possible`: this member can and would have its starts run here. Returns true in all members, or
    // false in all of them; then they run their schedules, and this object is destroyed.
    virtual bool agree(bool possible) noexcept = 0;

    // Begins a start, never before the last one is complete, and goes on as advance() with one look does. Must not
    // block. complete: *code is set as by advance(). contributed, waiting: advance() follows.
    virtual Begun begin(int* code) noexcept = 0;
    // Goes on as far as is possible without waiting. Called after begin(), and then again and again. It may look up to
    // `looks` times for what other members do, a nanosecond each: several times in a completing call that waits, which
    // has nothing else to do; once in MPI_Start and in polls. true: the start is complete, with *code, an MPI code
    // whose cause has been noted (error_cause.h).
    virtual bool advance(int looks, int* code) noexcept = 0;
};

} // namespace coll
} // namespace patchbay
