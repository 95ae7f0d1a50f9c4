// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/runtime/process_id.h"
#include "launch/job.h"
#include "launch/job_layout.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace patchbay::launch {

// The messages between the head, which decides, and the agent of a node, which has the node's processes and its PMIx
// server. They are sent as bytes over a stream (link.h), on one node too, so that the two can be on different machines.
// The head numbers the jobs from 0; job 0 is that of the command line.

// --- from the head to the agent

// The first message.
struct Setup {
    std::uint32_t group_prefix = 0; // random; GroupService of this agent makes identifiers with it
    bool timing = false;            // ranks are to report the end of their MPI_Init
};

struct Program {
    std::string path;
    std::vector<std::string> argv;
    std::string working_directory;        // empty: that of mpirun
    std::vector<std::string> environment; // NAME=VALUE, all of it but what the agent and PMIx add
};

// Start all ranks of a job. The answer is JobStarted or CannotStart.
struct StartJob {
    JobNumber job = 0;
    JobLayout layout;
    std::vector<Program> programs; // one for each app of the layout
    BindTo bind_to = BindTo::none;
    MapBy map_by = MapBy::slot;
};

// Send the signal to the process group of each rank.
struct PassSignal {
    std::int32_t signal = 0;
};
// End every process: by SIGTERM, and what is left after half a second by SIGKILL.
struct EndAll {};
// End every process by SIGKILL at once.
struct KillAll {};
// The job is being ended, so that the ranks that are in PMIx_Abort need not wait any more.
struct AnswerAborts {};
// The answer to SpawnRequest. An empty namespace: it failed for the reason `error`.
struct SpawnAnswer {
    std::uint64_t token = 0;
    std::string nspace;
    std::string error;
};

using ToAgent = std::variant<Setup, StartJob, PassSignal, EndAll, KillAll, AnswerAborts, SpawnAnswer>;

// --- from the agent to the head

// The answer to Setup. A text: the node cannot be used.
struct AgentReady {
    std::string error;
    std::string hostname;
    std::int32_t cores = 0;
};
struct JobStarted {
    JobNumber job = 0;
};
// Not all ranks of the job could be started. Those that were run on until the head ends them; of a job that a rank has
// spawned they have got SIGKILL.
struct CannotStart {
    JobNumber job = 0;
    std::int32_t started = 0; // so many ranks of it, the first ones, were started
    std::int32_t exit_status = 0;
    std::string text;
};
struct RankConnected { // PMIx_Init
    ProcessId rank;
};
struct RankFinalized { // PMIx_Finalize
    ProcessId rank;
};
struct RankReady { // its first MPI_Init is done; only with --timing
    ProcessId rank;
};
struct RankAborted { // it is in PMIx_Abort, which returns after AnswerAborts
    ProcessId rank;
    std::int32_t status = 0;
    std::string message;
};
struct RankEnded {
    ProcessId rank;
    std::int32_t wait_status = 0; // of waitpid(2)
};
// No rank is running. Sent again when the last of the processes that ranks have left behind has ended.
struct NoRankLeft {
    bool others_left = false;
};
// A rank has called PMIx_Spawn.
struct SpawnRequest {
    std::uint64_t token = 0;
    ProcessId parent;
    std::vector<AppSpec> apps;
    std::string key; // JobLayout::parent_key
};

using ToHead = std::variant<AgentReady, JobStarted, CannotStart, RankConnected, RankFinalized, RankReady, RankAborted,
    RankEnded, NoRankLeft, SpawnRequest>;

std::string encode(const ToAgent& message);
std::string encode(const ToHead& message);
// Errc::invalid: the bytes are no such message.
Result<ToAgent> decode_to_agent(std::string_view bytes);
Result<ToHead> decode_to_head(std::string_view bytes);

} // namespace patchbay::launch
