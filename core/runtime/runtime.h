// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/param/spec.h"
#include "core/runtime/job_table.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// Parameters of the launcher's view; their full names are runtime_<name>.
inline constexpr ParamSpec runtime_params[] = {
    {"allow_singletons", ParamType::boolean, "false",
        "whether a process that a launcher without PMIx started as one of several runs alone, as a job of size 1",
        nullptr, ParamLevel::user_detail, ParamScope::local},
    {"get_timeout", ParamType::duration, "60s", "how long to wait for what a peer has to publish", nullptr,
        ParamLevel::user_all, ParamScope::local},
};

// The variable in which mpirun passes to its ranks how many cores they may use on this node, all together ("8");
// without it the cores of the process that started the rank are counted.
inline constexpr char node_cores_variable[] = "PATCHBAY_NODE_CORES";

struct RuntimeOptions {
    bool allow_singletons = false;
    std::chrono::nanoseconds get_timeout{std::chrono::seconds(60)};
};

// A set of processes to which the launcher has given a name (a process set, pset).
struct ProcessSet {
    std::string name;
    std::uint64_t version = 1; // what a name means in one version never changes
    std::vector<ProcessName> members;
    bool is_jobs_own = false; // known in this job only, without later versions; reports are about another set
};

// A group under construction, to be polled: done() turns true on the PMIx library's thread, which then calls
// the hook of Runtime::set_wake.
class GroupRequest {
public:
    bool done() const noexcept;
    // Only once done() is true: the group's identifier (PGCID), which no other group of any job of this launcher ever
    // has. peer_failed: a member has failed.
    Result<std::uint64_t> id() const;

private:
    friend class Runtime;
    friend class FenceRequest;
    friend struct GroupCallbacks;
    struct State;
    std::shared_ptr<State> _state;
};

// A fence under way, to be polled like a group.
class FenceRequest {
public:
    bool done() const noexcept { return _group ? _group->done() : _state->done.load(std::memory_order_acquire); }
    // Only once done() is true. peer_failed: a member has failed; unsupported: not with this launcher.
    Status status() const;

private:
    friend class Runtime;
    friend struct RuntimeCallbacks;
    struct State {
        std::atomic<bool> done{false};
        int code = 0;
        std::function<void()> wake;
    };
    FenceRequest();
    void wait() const noexcept;

    std::shared_ptr<State> _state;
    std::optional<GroupRequest> _group; // the fence is made as a group
};

// A value of another process that has been asked for, to be polled like a group.
class GetRequest {
public:
    // Asks again where the value was not published yet, so it is to be called now and then until it returns true. The
    // hook of Runtime::set_wake is called whenever that may have changed.
    bool done() noexcept;
    // Only once done() is true, and once. peer_failed; timed_out: not published within runtime_get_timeout, or by this
    // process itself, which does not wait for itself.
    Result<std::vector<std::byte>> value();

private:
    friend class Runtime;
    friend struct GetCallbacks;
    struct State;
    std::shared_ptr<State> _state;
};

// The PMIx client: what the launcher publishes about this process, and the services that it offers. A process that no
// launcher started is a singleton: it uses no PMIx at all, starts no thread, and put/get/fence work within the process.
// Thread-safe: everything const, get, put, fence. No call here makes MPI progress.
class Runtime {
public:
    // Connects to the launcher. Errors: not_available (started by a launcher without PMIx; the text has the remedy),
    // system (PMIx_Init failed; the text has its reason).
    static Result<std::unique_ptr<Runtime>> create(const RuntimeOptions& options);
    // Leaves PMIx: its thread and descriptors are gone afterwards. Another create() may follow; from the second one on
    // the connection is kept until the process ends, because libpmix loses memory in each round (pmix_connection.h).
    ~Runtime();
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;

    // The namespace is a secret (launch/job_name.h): it must not be printed, nor be part of a file's name.
    const std::string& nspace() const noexcept { return _nspace; }
    std::uint32_t rank() const noexcept { return _rank; } // in the own job, like size()
    std::uint32_t size() const noexcept { return _size; }
    ProcessId self() const noexcept { return {own_job, _rank}; }
    std::uint32_t local_rank() const noexcept { return _local_rank; }
    std::uint32_t local_size() const noexcept { return std::uint32_t(_local_peers.size()); }
    // Ranks of this job on this node in local-rank order, this one included.
    std::span<const std::uint32_t> local_peers() const noexcept { return {_local_peers.data(), _local_peers.size()}; }
    // Of the own job or another one.
    bool is_local(ProcessId process) const { return local_rank_of(process) >= 0; }
    // The place of a process among those of its own job on this node. -1: it does not share the memory of this node
    // with this process, because it is on another node or a process of another mpirun.
    std::int32_t local_rank_of(ProcessId process) const;
    // The same in all processes that one mpirun has started, and another one in those of another mpirun. 0 under other
    // launchers. Queries the launcher at the first call (5 us).
    std::uint32_t run_number() const;
    bool is_singleton() const noexcept { return _singleton; }
    // Started by Patchbay's own mpirun.
    bool own_launcher() const noexcept { return _own_launcher; }
    // Cores on which the local ranks may run, all together, and whether the local ranks are more than these.
    std::uint32_t node_cores() const noexcept { return _node_cores; }
    bool oversubscribed() const noexcept { return _oversubscribed; }
    const std::string& hostname() const noexcept { return _hostname; }

    // How many runtimes this process has had before this one: to make keys that were not used before.
    std::uint32_t lifetime() const noexcept { return _lifetime; }

    // The jobs that this process knows; its own one is number 0.
    JobTable& jobs() noexcept { return *_jobs; }
    const JobTable& jobs() const noexcept { return *_jobs; }
    // Takes a job of this launcher into the table, which takes one reference (jobs().drop() gives it back). Queries the
    // launcher and blocks for that (30 to 200 us) unless the job is in the table. It may be a job of another mpirun of
    // the user with whose jobs this one's are connected (Job::is_foreign). not_found: the launcher has no such job.
    // unsupported: a process that runs alone has no launcher. Not on the PMIx library's thread.
    Result<JobNumber> add_job(std::string_view nspace);

    // Looked up at the launcher on each call (5 to 60 us).
    Result<std::string> hostname_of(ProcessId process) const;
    Result<std::uint32_t> app_number() const;
    Result<std::uint32_t> universe_size() const;

    // The modex. put() keeps `bytes` under `key` until commit() publishes it. A key has one value as long as the
    // process exists, because PMIx readers may keep the old one: the same bytes again cost nothing, others are
    // Errc::invalid. Keys have at most 500 characters and do not begin with "pmix.".
    Status put(std::string_view key, std::span<const std::byte> bytes);
    Status commit();
    // What `process` published under `key`; waits for it up to the parameter runtime_get_timeout and makes no MPI
    // progress meanwhile, so it is for the start of the library only. timed_out, peer_failed; invalid: no such process.
    Result<std::vector<std::byte>> get(ProcessId process, std::string_view key) const;
    // The same without waiting: for the first contact with a process.
    Result<GetRequest> get_start(ProcessId process, std::string_view key) const;
    // The value that is published now; not_found where there is none. For a process on another node this may query the
    // launcher (milliseconds).
    Result<std::vector<std::byte>> try_get(ProcessId process, std::string_view key) const;

    // What a component leaves to its next generation in this process, such as descriptors of connections that peers go
    // on using: keep() until take_kept(), which returns nothing where there is nothing. Throw std::bad_alloc.
    void keep(std::string_view name, std::vector<std::byte> bytes);
    std::vector<std::byte> take_kept(std::string_view name);

    // All of `processes` (empty: all of the own job) have called. collect: what they have committed is brought to every
    // node, for the whole job only; for fewer processes each get() fetches what it needs. Two fences over the same
    // processes must not be under way at once in one process.
    Status fence(std::span<const ProcessId> processes, bool collect);
    Result<FenceRequest> fence_start(std::span<const ProcessId> processes, bool collect);

    // Whether the launcher gives identifiers to groups. Where it does not (Slurm, Open MPI's mpirun), group_start
    // returns unsupported, and members must choose an identifier by a group reduction.
    bool has_groups() const noexcept { return _own_launcher; }
    // Every member calls it with the same `name` and `members` (of any jobs of this launcher, in any order). The name
    // must not be in use by another group of the same jobs that is just being made.
    Result<GroupRequest> group_start(std::string_view name, std::span<const ProcessId> members);

    // The same over PMIx_Group_construct, for launchers that offer that; the group is taken apart again as soon as it
    // has its identifier. PMIx 4.2 requires a name that no group of the job has ever had or will have, and a member
    // that fails makes the others wait for ever. unsupported, here or from id(): the launcher (Slurm, Open MPI's
    // mpirun) has no such groups. A member's connection must not end while others may have begun a group with it: a
    // process that will use such groups in any generation of its library calls keep_connection() in the first one.
    Result<GroupRequest> pmix_group_start(std::string_view name, std::span<const ProcessId> members);

    // The connection to the launcher outlives this, until the process exits.
    void keep_connection() noexcept;

    // The launcher's process sets, as this job knows them. Each call queries it anew and blocks for that (30 to 200
    // us). Errors: not_found; unsupported: this launcher names none (Slurm, Open MPI's mpirun), or there is no
    // launcher.
    Result<std::vector<std::string>> pset_names() const;
    Result<ProcessSet> pset(std::string_view name) const;
    // Defines one, or its next version when the members are others than before; returns the version. The members may be
    // of several jobs. unsupported: only Patchbay's mpirun does that. invalid: the name (check_pset_name) or a member.
    Result<std::uint64_t> define_pset(std::string_view name, std::span<const ProcessId> members);
    // Calls `changed` on the PMIx library's thread for each set that the launcher defines (`members` are the new ones)
    // or deletes (null); those defined earlier come too, and each may come more than once. One handler; it must not
    // call the Runtime. Once stop_pset_reports() has returned it is not running and will not run again.
    Status on_pset_change(
        std::function<void(const std::string& name, const std::vector<ProcessName>* members)> changed);
    void stop_pset_reports() noexcept;

    // Called on the PMIx library's thread whenever something arrived that a wait may look at; normally
    // Progress::wake. It must not call the Runtime.
    // Once set_wake() has returned, the earlier hook is not running and will not run again.
    void set_wake(std::function<void()> wake);

    // Whether the job goes on without a process that has failed, which has to be reported to its peers then.
    bool has_survivors() const noexcept { return _has_survivors; }
    // Calls `failed` on the PMIx library's thread for every process whose failure the launcher reports, or whose end in
    // good order after a failure in its job, when MPI_Finalize waits for no other process; those reported a short time
    // ago may come, too. One handler. unsupported: this launcher reports none.
    Status on_peer_failure(std::function<void(const ProcessName&)> failed);
    // Once it has returned, the handler is not running and will not run again.
    void stop_death_reports() noexcept;

    // The library is ready for its first user; reported once to an mpirun with --timing.
    void report_ready();

    // Ends the whole job with exit status `code`; `message` goes to the launcher's stderr (to ours for a singleton).
    // Works without free memory, too.
    [[noreturn]] void abort(int code, std::string_view message);
    // The library cannot be initialized, or its finalization has failed: to the launcher, a process that exits after
    // that has not finalized.
    void abandon() noexcept;
    // The error has been reported, and the program goes on: to the launcher it has finalized now.
    static void end_abandoned() noexcept;

private:
    friend class LauncherServices;
    Runtime();
    Status read_job_info();
    void become_singleton();
    Result<FenceRequest> fence_as_group(); // of the whole job
    void count_cores();
    Result<Job> read_job(const std::string& nspace) const;
    Result<std::vector<std::byte>> published_here(std::string_view key) const;
    Result<std::vector<std::byte>> get_now(
        ProcessId process, std::string_view key, std::chrono::nanoseconds limit) const;

    std::string _nspace;
    std::string _hostname;
    std::unique_ptr<JobTable> _jobs;
    std::uint32_t _rank = 0;
    std::uint32_t _size = 1;
    std::uint32_t _local_rank = 0;
    std::vector<std::uint32_t> _local_peers{0};
    bool _singleton = true;
    bool _own_launcher = false;
    bool _has_survivors = false;
    bool _oversubscribed = false;
    std::atomic<bool> _ready_reported{false};
    std::uint32_t _node_cores = 1;
    std::uint32_t _lifetime = 0;
    std::chrono::nanoseconds _get_timeout{};
    std::unique_ptr<std::byte[]> _abort_reserve; // PMIx_Abort allocates without looking whether it got anything
    // Callbacks may run after the object that registered them is destroyed: they share ownership of the hook, not of
    // what the hook calls.
    class WakeHook;
    std::shared_ptr<WakeHook> _wake_hook;
    std::function<void()> wake() const;

    struct Private;
    std::unique_ptr<Private> _private;
};

} // namespace patchbay
