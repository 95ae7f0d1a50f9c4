// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/launcher_services.h"
#include "object/communicator.h"

#include <string>

namespace patchbay {

// The construction of an intercommunicator between two groups that may have no communicator and no job in common
// (MPI-5.0, 11.8 to 11.10): the leaders of both construct a communicator of the two of them, over which all construct
// the intercommunicator as by MPI_Intercomm_create.

// The other leader, as the leader of one group knows it.
struct OtherLeader {
    ProcessName process;
    std::string key;    // the same for both leaders, and for no other pair under way
    bool first = false; // the other leader is the first of the two; it must be so for one of them only
};

// Waits until the request is done; its error is noted and returned as an MPI code.
int complete(Instance& instance, const Result<LauncherRequest>& request);

// Called by the leader: constructs the communicator of the two leaders. Waits for the other one. Returns an MPI code.
int connect_leaders(Instance& instance, const OtherLeader& other, Ref<Communicator>* made);

// Collective over `local`, with the same `root`, which all have compared before. At the root, `code` is the result of
// connect_leaders() and `leaders` its communicator; an error of the root is returned by all.
int connect_groups(
    Communicator& local, int root, int code, Ref<Communicator> leaders, Communicator** made, std::string* problem);

} // namespace patchbay
