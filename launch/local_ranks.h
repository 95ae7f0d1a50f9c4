// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/process_id.h"
#include "launch/environment.h"
#include "launch/messages.h"
#include "launch/output.h"
#include "launch/process_spawn.h"

#include <map>
#include <optional>
#include <sched.h>
#include <signal.h>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace patchbay::launch {

class PmixServer;

// The processes of the ranks on this node: starting them, signals to them, and which of them are running.
class LocalRanks {
public:
    LocalRanks(Output& output, FileDescriptor standard_input, const sigset_t& user_signal_mask);

    // How far a start has come. An error: the ranks from `count` on were not started.
    struct Started {
        int count = 0;
        int exit_status = 0;
        std::string error;
    };
    // What the ranks get to know about the node.
    struct Node {
        int cpus;
        bool timed; // they report the end of their MPI_Init
    };
    // Whether so many more ranks can be started, as far as it is known before.
    Status check_room(int ranks) const;
    // `cpus` are those of each rank. The server must have the data of the job.
    Started start(const StartJob& job, const JobLayout& layout, const std::vector<std::optional<cpu_set_t>>& cpus,
        PmixServer& server, const Node& node);

    // The rank whose process had this number; it is not running any more.
    std::optional<ProcessId> ended(pid_t pid);
    // To the process group of each running rank, and to one that is in another group.
    void signal(int number) const;
    bool are_none() const { return _by_pid.empty(); } // that run
    // SIGKILL to the ranks of one job.
    void kill(JobNumber job) const;
    int total() const { return _total; } // that were ever to be started

private:
    struct Shared { // by the ranks of one job
        const StartJob& job;
        const std::vector<std::optional<cpu_set_t>>& cpus;
        PmixServer& server;
    };

    Started start_rank(const Shared& shared, ProcessId rank, const Program& program, Environment environment);
    ProcessPlan plan_of(const Shared& shared, ProcessId rank, const Program& program);
    void raise_file_limit(std::int64_t running); // ranks, with those that are to be started
    std::int64_t files_of(std::int64_t ranks) const { return ranks * (_output.files_of_rank() + 1); } // 1: for PMIx

    Output& _output;
    FileDescriptor _standard_input; // of rank 0 of job 0, until it has it
    FileDescriptor _null;
    FileDescriptor _segment; // shared memory of the ranks of all jobs
    std::string _missing;    // why one of these two is not there
    FileDescriptor _reports; // core/runtime/node_reports.h; none: it could not be made
    sigset_t _user_signal_mask;
    rlimit _user_file_limit{};
    std::map<pid_t, ProcessId> _by_pid;
    int _total = 0;
};

} // namespace patchbay::launch
