// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/event_loop.h"
#include "launch/job_layout.h"
#include "launch/output.h"
#include "launch/timing.h"

#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace patchbay::launch {

// Supervises the processes of the ranks: it decides when the job has to end, with which exit status, and which one line
// reports the cause. To end the job it sends SIGTERM to everything that descends from the ranks, and SIGKILL half a
// second later to what is left.
class Supervisor : public RankEvents {
public:
    // `ended_by`: 0, or the signal that ended the rank's process.
    struct Hooks {
        std::function<void(int rank, int exit_status, int ended_by)> rank_ended;
        std::function<void()> nothing_left; // no rank is left, and no process that a rank has started
    };

    Supervisor(EventLoop& loop, Output& output, Timing& timing, const JobLayout& layout, Hooks hooks);

    void started(int rank, pid_t pid);
    // No further process will be started; from now on the end of the last process ends the run.
    void all_started();
    // A rank could not be started.
    void cannot_start(int exit_status, const std::string& text);

    // Collects every child process that has ended.
    void reap();

    // A signal that the front end has received. The first one that requests the end of the job is forwarded, the second
    // one kills the ranks.
    void pass_on(int signal);
    void front_end_is_gone();
    void time_limit_reached(std::chrono::milliseconds limit);

    void connected(int rank) override;
    void finalized(int rank) override;
    void ready(int rank) override;
    void aborted(int rank, int status, const std::string& message, std::function<void()> done) override;

    int exit_status() const { return _exit_status.value_or(0); }

private:
    struct Rank {
        pid_t pid = -1;
        bool running = false;
        bool ever_connected = false;
        bool finalized = false; // has finalized PMIx and not initialized it again
    };
    enum class Phase { running, terminating, killing };
    // A possible cause of the failure of the job. A lower cause has precedence over a higher one: when a rank is
    // killed, other ranks lose their connection to it and then exit or abort.
    enum class Cause { signal, exit, abort };
    struct Failure {
        Cause cause;
        int exit_status;
        std::string text; // empty: the user has been informed already
        bool tell_others; // whether the line says that the other ranks are ended
    };

    void rank_ended(int rank, int wait_status);
    void judge(int rank, int wait_status);
    void blame(Failure failure);
    void settle();
    void fail(int exit_status, const std::string& text);
    void end_all();
    void kill_all();
    void look_for_leftovers();
    std::string describe(int rank) const;
    std::string others_are_ended() const;

    EventLoop& _loop;
    Output& _output;
    Timing& _timing;
    Hooks _hooks;
    std::string _hostname;
    std::vector<Rank> _ranks;
    int _running = 0;
    bool _all_started = false;
    bool _nothing_left = false;
    Phase _phase = Phase::running;
    std::optional<int> _exit_status;
    std::optional<Failure> _failure;              // the lowest cause so far
    std::vector<std::function<void()>> _aborting; // ranks that wait in PMIx_Abort
    int _passed_on = 0;                           // the last signal that requested the end of the job
};

} // namespace patchbay::launch
