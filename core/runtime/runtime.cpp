// SPDX-License-Identifier: BSD-3-Clause
// Connecting to the launcher, and what it publishes about the job: rank, size, processes of this node.
#include "core/runtime/runtime.h"

#include "core/base/out_of_memory.h"
#include "core/base/random.h"
#include "core/base/strings.h"
#include "core/log.h"
#include "core/memory/node_segment.h"
#include "core/progress/doorbell.h"
#include "core/runtime/foreign_launcher.h"
#include "core/runtime/job_protocol.h"
#include "core/runtime/launch_environment.h"
#include "core/runtime/pmix_connection.h"
#include "core/runtime/pmix_value.h"
#include "core/runtime/runtime_private.h"
#include "core/runtime/survivor_protocol.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <sched.h>
#include <thread>
#include <unistd.h>

namespace patchbay {

namespace {
// Large enough that the C library gets it from the system and gives it back there: no memory is resident until
// something else uses it.
constexpr std::size_t abort_reserve_bytes = 1 << 20;
// What is longer would not fit when it is added to the time of day: for ever.
constexpr std::chrono::hours longest_wait{24 * 365 * 10};

// PMIx_Abort waits without a limit for the progress thread of libpmix, which receives no event any more where the
// program has closed its descriptors. The launcher ends the job when this process exits.
void exit_later(int status) noexcept {
    constexpr unsigned longest_wait = 10; // seconds
    try {
        std::thread([status] {
            ::sleep(longest_wait);
            _exit(status);
        }).detach();
    } catch (const std::exception&) { // no memory, or no thread
    }
}

// Reads only what the server gave at start; never waits for a peer.
Result<PmixValue> job_info(const pmix_proc_t& about, const char* key) {
    pmix_value_t* value = nullptr;
    pmix_status_t status = PMIx_Get(&about, key, nullptr, 0, &value);
    if (status != PMIX_SUCCESS || value == nullptr) {
        return Error{Errc::not_available, std::string("the launcher does not provide ") + key + ": " + text_of(status)};
    }
    return PmixValue(value);
}

Result<std::uint32_t> job_number(const pmix_proc_t& about, const char* key) {
    Result<PmixValue> value = job_info(about, key);
    if (!value) {
        return value.error();
    }
    std::optional<std::uint64_t> number = number_in(**value);
    if (!number) {
        return Error{Errc::not_available, std::string("the launcher gives ") + key + " with a type that is no number"};
    }
    return std::uint32_t(*number);
}

Result<std::string> job_text(const pmix_proc_t& about, const char* key) {
    Result<PmixValue> value = job_info(about, key);
    if (!value) {
        return value.error();
    }
    if ((*value)->type != PMIX_STRING || (*value)->data.string == nullptr) {
        return Error{Errc::not_available, std::string("the launcher gives ") + key + " with a type that is no text"};
    }
    return std::string((*value)->data.string);
}

std::string own_hostname() {
    char name[256] = "localhost";
    gethostname(name, sizeof name - 1);
    return name;
}

// "0,1,5" as ranks; what is no number is left out.
std::vector<std::uint32_t> parse_ranks(const std::string& text) {
    std::vector<std::uint32_t> ranks;
    for (const std::string& part : split(text, ',')) {
        std::uint32_t rank = 0;
        if (std::from_chars(part.data(), part.data() + part.size(), rank).ec == std::errc()) {
            ranks.push_back(rank);
        }
    }
    std::sort(ranks.begin(), ranks.end());
    return ranks;
}

// The same in all processes of the job, and for practical purposes in no other job. For launchers that provide no
// nonce.
std::uint64_t nonce_from(std::string_view nspace) {
    std::uint64_t mixed = 0xcbf29ce484222325u; // FNV-1a, whose last bytes are then spread over all bits
    for (const unsigned char byte : nspace) {
        mixed = (mixed ^ byte) * 0x100000001b3u;
    }
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return mixed ^ mixed >> 31;
}

// Asked for once in a process for its own job: the client of PMIx 4.2.2 loses memory with each PMIx_Get.
Result<std::uint64_t> read_nonce(const pmix_proc_t& job, bool is_own) {
    LaunchEnvironment& environment = LaunchEnvironment::of_process();
    if (const std::uint64_t known = environment.job_nonce; is_own && known != 0) {
        return known;
    }
    const Result<PmixValue> value = job_info(job, job_nonce_key);
    if (!value) {
        return value.error();
    }
    const std::uint64_t nonce = number_in(*value.value()).value_or(nonce_from(job.nspace));
    if (is_own) {
        environment.job_nonce = nonce;
    }
    return nonce;
}

// 0: the launcher is an older mpirun, or that of a test, which has no connections to others.
std::uint32_t read_run(const pmix_proc_t& job, bool is_own) {
    LaunchEnvironment& environment = LaunchEnvironment::of_process();
    if (const std::uint32_t known = environment.job_run; is_own && known != 0) {
        return known;
    }
    const Result<PmixValue> value = job_info(job, job_run_key);
    const std::uint32_t run = value ? std::uint32_t(number_in(*value.value()).value_or(0)) : 0;
    if (is_own) {
        environment.job_run = run;
    }
    return run;
}

// Asks the launcher for a job that PMIx does not know: it may be one of another mpirun. Blocks.
bool find_job(const std::string& nspace) {
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, job_find_key, nspace.c_str(), PMIX_STRING);
    pmix_info_t* results = nullptr;
    std::size_t count = 0;
    const pmix_status_t status = PMIx_Job_control(nullptr, 0, &info, 1, &results, &count);
    PMIX_INFO_DESTRUCT(&info);
    const bool found = status == PMIX_SUCCESS && count == 1 && PMIX_CHECK_KEY(&results[0], job_found_key);
    if (results != nullptr) {
        PMIX_INFO_FREE(results, count);
    }
    return found;
}

int cores_of(pid_t pid, cpu_set_t& cores) {
    CPU_ZERO(&cores);
    return sched_getaffinity(pid, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 0;
}
} // namespace

class Runtime::WakeHook {
public:
    void set(std::function<void()> wake) {
        const std::lock_guard lock(_mutex);
        _wake = std::move(wake);
    }
    void call() {
        const std::lock_guard lock(_mutex);
        if (_wake) {
            _wake();
        }
    }

private:
    std::mutex _mutex;
    std::function<void()> _wake;
};

Runtime::Runtime()
    : _wake_hook(std::make_shared<WakeHook>()),
      _private(std::make_unique<Private>()) {}

void Runtime::set_wake(std::function<void()> wake) {
    _wake_hook->set(std::move(wake));
}

std::function<void()> Runtime::wake() const {
    return [hook = _wake_hook] { hook->call(); };
}

Result<std::unique_ptr<Runtime>> Runtime::create(const RuntimeOptions& options) {
    LaunchEnvironment& environment = LaunchEnvironment::of_process();
    std::unique_ptr<Runtime> runtime(new Runtime);
    runtime->_get_timeout = std::min<std::chrono::nanoseconds>(options.get_timeout, longest_wait);
    runtime->_hostname = own_hostname();
    // Registering takes no time while the process has one thread, and 8 to 15 ms once PMIx has started its own. A
    // process that is about to sleep checks for itself whether it worked.
    (void)register_all_cores_barrier();
    if (environment.has_pmix()) {
        Result<pmix_connection::Identity> self = pmix_connection::open();
        if (self) {
            runtime->_singleton = false;
            runtime->_nspace = self->nspace;
            runtime->_rank = self->rank;
            runtime->_abort_reserve = std::make_unique_for_overwrite<std::byte[]>(abort_reserve_bytes);
            if (Status read = unless_out_of_memory([&] { return runtime->read_job_info(); }); !read) {
                runtime->abandon();
                return read.error();
            }
        } else if (self.error().code != Errc::unsupported || !options.allow_singletons) {
            return Error{self.error().code,
                self.error().text +
                    "; start the program with mpirun, or unset the variables PMIX_* to "
                    "run it alone"};
        } else {
            runtime->become_singleton();
        }
    } else {
        std::optional<std::string> problem = started_without_pmix();
        if (problem && !options.allow_singletons) {
            return Error{Errc::not_available, *problem};
        }
        runtime->become_singleton();
    }
    runtime->count_cores();
    runtime->_lifetime = environment.lifetimes++;
    set_log_rank(int(runtime->_rank));
    return runtime;
}

Runtime::~Runtime() {
    if (!_singleton) {
        stop_death_reports();
        stop_pset_reports();
        pmix_connection::close();
    }
}

void Runtime::abandon() noexcept {
    if (!_singleton) {
        pmix_connection::abandon();
    }
}

void Runtime::end_abandoned() noexcept {
    pmix_connection::end_abandoned();
}

void Runtime::become_singleton() {
    _nspace = "singleton." + _hostname + "." + std::to_string(getpid());
    _jobs = std::make_unique<JobTable>(Job{_nspace, random_bits(), 1, {0}});
}

Status Runtime::read_job_info() {
    _own_launcher = !LaunchEnvironment::of_process().value(node_segment_variable).empty();
    _has_survivors = _own_launcher && !LaunchEnvironment::of_process().value(survivors_variable).empty();
    Result<Job> job = read_job(_nspace);
    if (!job) {
        return job.error();
    }
    _size = job->size;
    if (Result<std::string> host = job_text(process_of(_nspace, _rank), PMIX_HOSTNAME); host) {
        _hostname = *host;
    }
    // The order of the ranks on the node makes the local ranks: every peer computes the same without asking again.
    const auto self = std::ranges::find(job->local_ranks, _rank);
    if (self == job->local_ranks.end()) {
        job->local_ranks = {_rank};
        _local_rank = 0;
    } else {
        _local_rank = std::uint32_t(self - job->local_ranks.begin());
    }
    _local_peers = job->local_ranks;
    _jobs = std::make_unique<JobTable>(std::move(*job));
    return {};
}

// What the launcher provides about a job, its own or another one.
Result<Job> Runtime::read_job(const std::string& nspace) const {
    const pmix_proc_t all = process_of(nspace, PMIX_RANK_WILDCARD);
    const Result<std::uint32_t> size = job_number(all, PMIX_JOB_SIZE);
    if (!size) {
        return size.error();
    }
    Job job{nspace, nonce_from(nspace), size.value(), {}};
    if (_own_launcher) {
        const Result<std::uint64_t> nonce = read_nonce(all, nspace == _nspace);
        if (!nonce) {
            return nonce.error();
        }
        job.nonce = nonce.value();
        const bool is_own = nspace == _nspace;
        job.is_foreign = !is_own && read_run(all, false) != run_number();
    }
    if (job.is_foreign) {
        return job;
    }
    if (const Result<std::string> peers = job_text(all, PMIX_LOCAL_PEERS); peers) {
        job.local_ranks = parse_ranks(peers.value());
    }
    return job;
}

std::uint32_t Runtime::run_number() const {
    return _own_launcher ? read_run(process_of(_nspace, PMIX_RANK_WILDCARD), true) : 0;
}

Result<JobNumber> Runtime::add_job(std::string_view nspace) {
    if (const std::optional<JobNumber> known = _jobs->add_reference(nspace)) {
        return *known;
    }
    if (_singleton) {
        return Error{Errc::unsupported, "this process runs alone, so there are no other jobs"};
    }
    Result<Job> job = read_job(std::string(nspace));
    if (!job && _own_launcher && find_job(std::string(nspace))) {
        job = read_job(std::string(nspace));
    }
    if (!job) {
        const Errc cause = job.error().code;
        const bool is_gone = _own_launcher && cause != Errc::timed_out && cause != Errc::out_of_memory;
        return Error{Errc::not_found,
            is_gone ? "all processes of the other job have ended" : "another job: " + job.error().text};
    }
    return _jobs->add(std::move(*job));
}

// A rank that is bound sees only its own cores; those of the process that started it are what all of them share.
void Runtime::count_cores() {
    cpu_set_t own;
    cpu_set_t parent;
    cpu_set_t all;
    int cores = cores_of(0, own);
    if (!_singleton && cores_of(getppid(), parent) > 0) {
        CPU_OR(&all, &own, &parent);
        cores = CPU_COUNT(&all);
    }
    std::string value = LaunchEnvironment::of_process().value(node_cores_variable);
    if (!value.empty()) {
        std::from_chars(value.data(), value.data() + value.size(), cores);
    }
    _node_cores = std::uint32_t(std::max(cores, 1));
    _oversubscribed = local_size() > _node_cores;
}

std::int32_t Runtime::local_rank_of(ProcessId process) const {
    const auto place_in = [process](const std::vector<std::uint32_t>& ranks) {
        const auto found = std::lower_bound(ranks.begin(), ranks.end(), process.rank);
        return found != ranks.end() && *found == process.rank ? std::int32_t(found - ranks.begin()) : -1;
    };
    if (process.job == own_job) {
        return place_in(_local_peers);
    }
    const std::shared_ptr<const Job> job = _jobs->job(process.job);
    return job == nullptr ? -1 : place_in(job->local_ranks);
}

Result<std::string> Runtime::hostname_of(ProcessId process) const {
    if (is_local(process)) {
        return _hostname;
    }
    const std::optional<ProcessName> name = _jobs->name_of(process);
    if (!name) {
        return Error{Errc::invalid, "no job that this process knows has such a process"};
    }
    return job_text(process_of(*name), PMIX_HOSTNAME);
}

Result<std::uint32_t> Runtime::app_number() const {
    return _singleton ? Result<std::uint32_t>(0u) : job_number(process_of(_nspace, _rank), PMIX_APPNUM);
}

Result<std::uint32_t> Runtime::universe_size() const {
    if (_singleton) {
        return 1u;
    }
    // Some launchers count the slots, of which an oversubscribed job has too few. With ours a job that was spawned may
    // have more processes than the universe.
    Result<std::uint32_t> universe = job_number(process_of(_nspace, PMIX_RANK_WILDCARD), PMIX_UNIV_SIZE);
    return universe && !_own_launcher ? Result<std::uint32_t>(std::max(*universe, _size)) : universe;
}

void Runtime::abort(int code, std::string_view message) {
    _abort_reserve.reset();
    if (!message.empty() && !_own_launcher) { // ours prints it
        log_error(message);
    }
    const int status = (code & 0xff) == 0 ? 1 : code;
    if (!_singleton) {
        exit_later(status);
        PMIx_Abort(code, std::string(message).c_str(), nullptr, 0);
    }
    std::fflush(nullptr);
    _exit(status);
}

} // namespace patchbay
