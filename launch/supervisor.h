// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/process_id.h"
#include "launch/event_loop.h"
#include "launch/job_layout.h"
#include "launch/output.h"
#include "launch/timing.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace patchbay::launch {

// The part of the head that supervises the ranks of all jobs: it decides when the run has to end, with which exit
// status, and which one line reports the cause. It learns of the processes by the calls below, and acts by its hooks.
class Supervisor {
public:
    struct Hooks {
        std::function<void()> end_all;               // every process, by SIGTERM, and later by SIGKILL
        std::function<void()> kill_all;              // at once
        std::function<void(int signal)> pass_signal; // to all ranks
        std::function<void()> answer_aborts;         // ranks need not wait in PMIx_Abort any more
        std::function<void()> nothing_left;          // no rank is left, and no process that a rank has started
    };

    // failures_end_the_run: a rank that fails ends all others (the default of mpirun).
    Supervisor(EventLoop& loop, Output& output, Timing& timing, bool failures_end_the_run, Hooks hooks);

    // The ranks of the job are about to be started.
    void add_job(JobNumber job, const JobLayout& layout);
    // All ranks of the job run, or have run already.
    void all_started(JobNumber job);
    // A rank of the job could not be started, so that the others must not run.
    // `started`: the first of its ranks, so many, were started.
    void cannot_start(JobNumber job, int started, int exit_status, const std::string& text);
    // The same for a job that a rank has spawned: the call of that rank fails, and the run goes on. The ranks that were
    // started have got SIGKILL.
    void cannot_spawn(JobNumber job, int started);

    void connected(ProcessId rank);
    void finalized(ProcessId rank);
    void ready(ProcessId rank);
    void aborted(ProcessId rank, int status, const std::string& message);
    void ended(ProcessId rank, int wait_status);
    // No rank runs on the node. `others`: processes that ranks have started do.
    void no_rank_left(bool others);

    // A signal that the front end has received. The first one that requests the end of the run is forwarded, the second
    // one kills the ranks.
    void pass_on(int signal);
    void front_end_is_gone();
    void agent_is_gone();
    void time_limit_reached(std::chrono::milliseconds limit);

    int running() const { return _running; } // ranks
    bool is_ending() const { return _phase != Phase::running; }
    int exit_status() const { return _exit_status.value_or(0); }

private:
    struct Rank {
        bool running = true;
        bool ever_connected = false;
        bool finalized = false; // has finalized PMIx and not initialized it again
        bool blamed = false;
        int wait_status = 0; // after its end
    };
    struct SupervisedJob {
        std::string hostname;
        std::map<std::uint32_t, Rank> ranks;
        bool is_spawned = false;
        bool all_started = false;
        bool given_up = false; // how its ranks end does not matter
    };
    enum class Phase { running, terminating, killing };
    // A possible cause of the failure of the run. A lower cause has precedence over a higher one: when a rank is
    // killed, other ranks lose their connection to it and then exit or abort.
    enum class Cause { signal, exit, abort };
    struct Failure {
        Cause cause;
        int exit_status;
        std::string text; // empty: the user has been informed already
        bool tell_others; // whether the line says that the other ranks are ended
    };

    Rank& rank_of(ProcessId rank) { return _jobs.at(rank.job).ranks.at(rank.rank); }
    void not_started(JobNumber job, int started);
    void judge(ProcessId rank, int wait_status);
    bool any_connected(JobNumber job) const;
    void blame(Failure failure);
    void blame_once(ProcessId rank, Failure failure);
    void settle();
    void fail(int exit_status, const std::string& text);
    void end_all();
    std::string describe(ProcessId rank) const;

    EventLoop& _loop;
    Output& _output;
    Timing& _timing;
    bool _failures_end_the_run;
    Hooks _hooks;
    std::map<JobNumber, SupervisedJob> _jobs;
    int _running = 0;  // ranks
    int _starting = 0; // jobs
    Phase _phase = Phase::running;
    std::optional<int> _exit_status;
    std::optional<Failure> _failure; // the lowest cause so far
    int _passed_on = 0;              // the last signal that requested the end of the run
};

} // namespace patchbay::launch
