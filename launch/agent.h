// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/event_loop.h"
#include "launch/file_descriptor.h"
#include "launch/link.h"
#include "launch/local_ranks.h"
#include "launch/messages.h"
#include "launch/output.h"
#include "launch/pmix/rank_events.h"
#include "launch/pmix/server.h"
#include "launch/timing.h"
#include "launch/topology.h"

#include <map>
#include <optional>
#include <set>
#include <signal.h>

namespace patchbay::launch {

struct AgentInputs {
    FileDescriptor link;           // to the head
    FileDescriptor standard_input; // for rank 0 of job 0
    sigset_t user_signal_mask;     // of the ranks when they start
    std::string socket_file;       // name_exchange.h
};

// The agent of a node: it has the node's PMIx server and the processes of the ranks, starts and ends them as the head
// says, and reports to the head what happens to them. It decides nothing. It is never destroyed, because the PMIx
// server, which the process has until its end, refers to it.
class Agent : private RankEvents {
public:
    // SIGCHLD must be blocked, and the calling process must be a subreaper.
    Agent(EventLoop& loop, Output& output, Timing& timing, AgentInputs inputs);

private:
    void received(std::string_view bytes);
    // The messages of the head.
    void take(const Setup& setup);
    void take(const StartJob& start);
    void take(const PassSignal& pass);
    void take(const EndAll&);
    void take(const KillAll&);
    void take(const AnswerAborts&);
    void take(const SpawnAnswer& answer);
    void head_is_gone();

    // Called by the PMIx server in the event loop's thread.
    void connected(ProcessId rank) override;
    void finalized(ProcessId rank) override;
    void ready(ProcessId rank) override { send(RankReady{rank}); }
    void aborted(ProcessId rank, int status, const std::string& message, std::function<void()> done) override;
    void spawn(ProcessId parent, std::vector<AppSpec> apps, std::string key, SpawnDone done) override;
    void message(const std::string& text) override { _output.message(text); }

    void send(const ToHead& message) { _link.send(encode(message)); }
    Status prepare(const Setup& setup);
    Status watch_children();
    void give_up(const StartJob& start, int started);
    void reap();
    void rank_exited(ProcessId rank, int wait_status, int rounds);
    void rank_ended(ProcessId rank, int wait_status);
    void look_for_leftovers();
    void signal_all(int signal);
    void kill_until_nothing_left();

    EventLoop& _loop;
    Output& _output;
    Timing& _timing;
    std::optional<Topology> _topology;
    PmixServer* _server = nullptr;
    LocalRanks _ranks;
    std::string _socket_file;
    FileDescriptor _signals;
    bool _timed = false;
    bool _has_started = false;      // a job
    std::map<JobNumber, int> _left; // for each job the number of ranks whose end has not been reported to the head
    std::set<ProcessId> _in_pmix;   // ranks that have initialized PMIx and not finalized it
    bool _ending = false;
    bool _killing = false;
    std::optional<bool> _told_left;               // what NoRankLeft said last, since a job was started
    std::vector<std::function<void()>> _aborting; // ranks that wait in PMIx_Abort
    std::uint64_t _next_token = 1;
    std::map<std::uint64_t, SpawnDone> _spawning;
    Link _link;
};

} // namespace patchbay::launch
