// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/environment.h"
#include "launch/event_loop.h"
#include "launch/job.h"
#include "launch/link.h"
#include "launch/messages.h"
#include "launch/output.h"
#include "launch/supervisor.h"
#include "launch/timing.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::launch {

// The head: it decides which ranks there are, where they run and when the run ends, and has the agent carry that out.
// It touches no process of a rank. Job 0 is that of the command line; a rank that calls PMIx_Spawn starts another one.
class Head {
public:
    // `begun` is called when the ranks are about to be started, so that signals reach them from then on; `ended` when
    // no process is left, or nothing could be started.
    Head(EventLoop& loop, Output& output, Timing& timing, const JobSpec& job, FileDescriptor link,
        std::function<void()> begun, std::function<void()> ended);

    // Looks for the programs, and asks the agent for its node.
    void start();

    // From the front end.
    void pass_on(int signal) { _supervisor.pass_on(signal); }
    void front_end_is_gone() { _supervisor.front_end_is_gone(); }

    int exit_status() const { return _failed_start.value_or(_supervisor.exit_status()); }

private:
    void received(std::string_view bytes);
    // The messages of the agent.
    void take(const AgentReady& agent);
    void take(const JobStarted& started);
    void take(const CannotStart& failure);
    void take(const RankConnected& m) { _supervisor.connected(m.rank); }
    void take(const RankFinalized& m) { _supervisor.finalized(m.rank); }
    void take(const RankReady& m) { _supervisor.ready(m.rank); }
    void take(const RankAborted& m) { _supervisor.aborted(m.rank, m.status, m.message); }
    void take(const RankEnded& m) { _supervisor.ended(m.rank, m.wait_status); }
    void take(const NoRankLeft& m) { _supervisor.no_rank_left(m.others_left); }
    void take(const SpawnRequest& request);

    void send(const ToAgent& message) { _link.send(encode(message)); }
    Supervisor::Hooks hooks();
    // A line and the exit status, when nothing has been started.
    void give_up(int exit_status, const std::string& text);
    void answer_failure(const SpawnRequest& request, const std::string& error);
    // The new job has the next number. `request`: the one to which its start is the answer.
    Status start_job(const JobSpec& job, std::vector<Program> programs, const SpawnRequest* request);

    EventLoop& _loop;
    std::optional<EventLoop::TimerId> _time_limit; // of --timeout
    Output& _output;
    const JobSpec& _job;
    std::function<void()> _begun;
    std::function<void()> _ended;
    Environment _environment; // of every rank, without what one program, one node or PMIx adds
    std::vector<Program> _programs;
    AgentReady _agent;
    std::map<JobNumber, std::string> _namespaces;
    std::map<JobNumber, SpawnRequest> _spawns; // requests whose jobs are being started
    JobNumber _next_job = 0;
    std::optional<int> _failed_start;
    Supervisor _supervisor;
    Link _link;
};

} // namespace patchbay::launch
