// SPDX-License-Identifier: BSD-3-Clause
// Connecting to the launcher, and what it publishes about the job: rank, size, processes of this node.
#include "core/runtime/runtime.h"

#include "core/base/strings.h"
#include "core/log.h"
#include "core/memory/node_segment.h"
#include "core/progress/doorbell.h"
#include "core/runtime/foreign_launcher.h"
#include "core/runtime/launch_environment.h"
#include "core/runtime/pmix_connection.h"
#include "core/runtime/pmix_value.h"
#include "core/runtime/runtime_private.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <sched.h>
#include <unistd.h>

namespace patchbay {

namespace {
// Large enough that the C library gets it from the system and gives it back there: no memory is resident until
// something else uses it.
constexpr std::size_t abort_reserve_bytes = 1 << 20;

pmix_proc_t process(const std::string& nspace, std::uint32_t rank) {
    pmix_proc_t process;
    PMIX_LOAD_PROCID(&process, nspace.c_str(), rank);
    return process;
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

int cores_of(pid_t pid, cpu_set_t& cores) {
    CPU_ZERO(&cores);
    return sched_getaffinity(pid, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 0;
}
} // namespace

Runtime::Runtime()
    : _private(std::make_unique<Private>()) {}

Result<std::unique_ptr<Runtime>> Runtime::create(const RuntimeOptions& options) {
    LaunchEnvironment& environment = LaunchEnvironment::of_process();
    std::unique_ptr<Runtime> runtime(new Runtime);
    runtime->_get_timeout = options.get_timeout;
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
            if (Status read = runtime->read_job_info(); !read) {
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

void Runtime::become_singleton() {
    _nspace = "singleton." + _hostname + "." + std::to_string(getpid());
}

Status Runtime::read_job_info() {
    pmix_proc_t job = process(_nspace, PMIX_RANK_WILDCARD);
    Result<std::uint32_t> size = job_number(job, PMIX_JOB_SIZE);
    if (!size) {
        return size.error();
    }
    _size = *size;
    _own_launcher = !LaunchEnvironment::of_process().value(node_segment_variable).empty();
    if (Result<std::string> host = job_text(process(_nspace, _rank), PMIX_HOSTNAME); host) {
        _hostname = *host;
    }
    // The order of the ranks on the node makes the local ranks: every peer computes the same without asking again.
    if (Result<std::string> peers = job_text(job, PMIX_LOCAL_PEERS); peers) {
        std::vector<std::uint32_t> ranks = parse_ranks(*peers);
        auto self = std::find(ranks.begin(), ranks.end(), _rank);
        if (self != ranks.end()) {
            _local_rank = std::uint32_t(self - ranks.begin());
            _local_peers = std::move(ranks);
            return {};
        }
    }
    _local_peers = {_rank};
    return {};
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
    std::string told = LaunchEnvironment::of_process().value(node_cores_variable);
    if (!told.empty()) {
        std::from_chars(told.data(), told.data() + told.size(), cores);
    }
    _node_cores = std::uint32_t(std::max(cores, 1));
    _oversubscribed = local_size() > _node_cores;
}

std::int32_t Runtime::local_rank_of(std::uint32_t rank) const noexcept {
    auto found = std::lower_bound(_local_peers.begin(), _local_peers.end(), rank);
    return found != _local_peers.end() && *found == rank ? std::int32_t(found - _local_peers.begin()) : -1;
}

Result<std::string> Runtime::hostname_of(std::uint32_t rank) const {
    if (is_local(rank)) {
        return _hostname;
    }
    return job_text(process(_nspace, rank), PMIX_HOSTNAME);
}

Result<std::uint32_t> Runtime::app_number() const {
    return _singleton ? Result<std::uint32_t>(0u) : job_number(process(_nspace, _rank), PMIX_APPNUM);
}

Result<std::uint32_t> Runtime::universe_size() const {
    if (_singleton) {
        return 1u;
    }
    // Some launchers count the slots, of which an oversubscribed job has too few.
    Result<std::uint32_t> universe = job_number(process(_nspace, PMIX_RANK_WILDCARD), PMIX_UNIV_SIZE);
    return universe ? Result<std::uint32_t>(std::max(*universe, _size)) : universe;
}

void Runtime::abort(int code, std::string_view message) {
    _abort_reserve.reset();
    if (!message.empty() && !_own_launcher) { // ours prints it
        log_error(message);
    }
    if (!_singleton) {
        PMIx_Abort(code, std::string(message).c_str(), nullptr, 0);
    }
    std::fflush(nullptr);
    _exit((code & 0xff) == 0 ? 1 : code);
}

} // namespace patchbay
