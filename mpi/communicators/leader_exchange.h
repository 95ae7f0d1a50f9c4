// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/communicators/bridge_reduction.h"
#include "mpi/communicators/process_words.h"
#include "object/communicator.h"

#include <cstdint>
#include <span>

namespace patchbay {

// The messages between the leaders of two groups, and the distribution of what they contain within each group.

// The reason why a constructor fails in all processes of the local group.
struct Refusal {
    enum class By : std::uint8_t { none, own_member, own_leader, different_leaders, other_group };

    int code = MPI_SUCCESS;
    By by = By::none; // with an error code: a message could not be sent or received

    bool happened() const noexcept { return code != MPI_SUCCESS; }
    const char* text() const noexcept {
        switch (by) {
        case By::own_member:
            return "a process of the local group has passed an invalid argument";
        case By::own_leader:
            return "the leader of the local group has passed an invalid argument";
        case By::different_leaders:
            return "the processes of the local group passed different values of local_leader";
        case By::other_group:
            return "the remote group has reported an error";
        default:
            return "";
        }
    }
};

// Distributes the leader's words, or its refusal, to all members of `local`.
Refusal distribute(Communicator& local, int leader, const Refusal& refusal, Words* words);

// Called by the leaders: exchanges `mine` with *theirs, or sends `own` instead if it has happened.
Refusal exchange_between_leaders(const Bridge& bridge, const Refusal& own, const Words& mine, Words* theirs);

// Exchanges words that all members of a group have with those of the other group.
Refusal exchange_groups(Communicator& local, int leader, const Bridge& bridge, const Words& mine, Words* theirs);

// The result of compare_arguments().
struct GroupArguments {
    int leader = -1; // the highest rank that a member has passed; -1: all members have passed an invalid one
    Refusal refusal;
};

// Compares the arguments of all members of `local`, before a member waits for the other group. `leader` is the argument
// of this process, or -1 if it is no rank of `local`. `refused` is the error of this process, or MPI_SUCCESS.
// Collective over `local`.
GroupArguments compare_arguments(Communicator& local, int leader, int refused);

} // namespace patchbay
