// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/runtime/process_id.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// A process of this or another job, as PMIx names it.
struct ProcessName {
    std::string nspace;
    std::uint32_t rank = 0;
    bool operator==(const ProcessName&) const = default;
};

// A job: the processes of one PMIx namespace. Never changes. Of a job that is known by its nonce only, the other
// members are empty and 0.
struct Job {
    std::string nspace;      // a secret: see launch/job_name.h
    std::uint64_t nonce = 0; // no other job has it, and it is the same in every process; in a table not 0
    std::uint32_t size = 1;  // number of its processes
    // Those on the node of the calling process that share its node segment, ascending.
    std::vector<std::uint32_t> local_ranks;
    // Of another mpirun of the user: its processes share no memory with this one, on whichever node they are, and their
    // failure does not end this job.
    bool is_foreign = false;
};

// The jobs that this process knows. Each has a number, by which a ProcessId refers to it; the job of the calling
// process is number 0 and always there. The others are added when this process first has to do with them (a spawn, a
// connection, a process set with members of another job) and dropped when nothing refers to them any more. Thread-safe;
// no function waits or queries the launcher (Runtime::add_job does).
class JobTable {
public:
    explicit JobTable(Job own);

    // The job's number: a new one, or the one that it has. Each successful call takes one reference. Errc::invalid: the
    // nonce is that of another job. Errc::out_of_memory: all 65,535 numbers are in use.
    Result<JobNumber> add(Job job);
    // Takes one more reference to a job that is in the table; nothing where it is not.
    std::optional<JobNumber> add_reference(std::string_view nspace);
    // The number of the job with this nonce, which stays the same until end_hold(). For a transport, also with a
    // message of a process whose job has not been added yet: the job is in the table without its namespace and its
    // processes until add() completes it. Unlike a reference, a hold does not say that the job is in use. Errors: as
    // add().
    Result<JobNumber> hold(std::uint64_t nonce);
    void end_hold(JobNumber number) noexcept;
    // The jobs that are in the table because of holds only.
    std::vector<JobNumber> unused() const;
    // Gives one reference back; with the last one, and without a hold, the job leaves the table. Its number is not
    // given to another job before all other numbers have been, so that a ProcessId that was kept too long is likely to
    // name no process rather than a wrong one. The own job stays.
    void drop(JobNumber number) noexcept;

    // Null: no job has this number.
    std::shared_ptr<const Job> job(JobNumber number) const;
    std::optional<JobNumber> find(std::string_view nspace) const;
    std::optional<JobNumber> find_nonce(std::uint64_t nonce) const;
    // 0: no job has this number.
    std::uint64_t nonce_of(JobNumber number) const;
    std::size_t size() const;

    // Nothing: the job is not in the table, or has no process of this rank.
    std::optional<ProcessId> id_of(const ProcessName& name) const;
    std::optional<ProcessName> name_of(ProcessId process) const;
    // Whether `a` precedes `b` in an order that is the same in all processes, unlike that of ProcessIds.
    bool precedes(ProcessId a, ProcessId b) const;

private:
    struct Entry {
        std::shared_ptr<const Job> job;
        std::uint32_t references = 0;
        std::uint32_t holds = 0;
    };
    using Entries = std::map<JobNumber, Entry>;

    Entries::const_iterator entry_of(std::string_view nspace) const;
    Entries::const_iterator entry_with(std::uint64_t nonce) const;
    // Called with the mutex held, as enter() and leave().
    JobNumber refer_to(Entries::const_iterator entry);
    Result<JobNumber> enter(Entry entry);
    // Takes one of the entry's references or holds away.
    void leave(JobNumber number, std::uint32_t Entry::*count) noexcept;

    mutable std::shared_mutex _mutex;
    Entries _entries;
    JobNumber _last = own_job; // the number that was given last
};

// References to jobs of a table, which are given back when the object is destroyed. The table outlives it.
class JobReferences {
public:
    explicit JobReferences(JobTable& table) noexcept;
    ~JobReferences();
    JobReferences(const JobReferences&) = delete;
    JobReferences& operator=(const JobReferences&) = delete;

    // Takes over a reference that the caller has got from the table.
    void take(JobNumber job);
    // Keeps those of another object, too.
    void add(std::shared_ptr<const JobReferences> others);
    bool empty() const noexcept { return _jobs.empty() && _others.empty(); }

private:
    JobTable& _table;
    std::vector<JobNumber> _jobs;
    std::vector<std::shared_ptr<const JobReferences>> _others;
};

} // namespace patchbay
