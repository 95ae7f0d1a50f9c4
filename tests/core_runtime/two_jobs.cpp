// SPDX-License-Identifier: BSD-3-Clause
// Two jobs under one mpirun: a job that spawns another one, twice. The processes of both add the other job to their
// tables, exchange values in both directions, construct groups and define a process set over both jobs.
#include "core/progress/progress.h"
#include "core/progress/waiter.h"
#include "core/runtime/runtime.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pmix.h>
#include <string>
#include <unistd.h>
#include <vector>

using namespace patchbay;

namespace {

constexpr std::uint32_t children = 3;
const char* side = "parent";
std::uint32_t own_rank = 0;

void require(bool condition, const char* what, const std::string& why = "") {
    if (!condition) {
        std::fprintf(stderr, "%s %u: %s%s%s\n", side, own_rank, what, why.empty() ? "" : ": ", why.c_str());
        std::_Exit(1);
    }
}

std::vector<std::byte> bytes_of(const std::string& text) {
    std::vector<std::byte> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

std::string text_of_bytes(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void put(Runtime& runtime, const std::string& key, const std::string& value) {
    require(bool(runtime.put(key, bytes_of(value))) && bool(runtime.commit()), "put");
}

std::string get(Runtime& runtime, Progress& progress, ProcessId process, const std::string& key) {
    auto request = runtime.get_start(process, key);
    require(bool(request), "get_start", request ? "" : request.error().text);
    wait_until(progress, [&] { return request->done(); });
    auto value = request->value();
    require(bool(value), "value", value ? "" : value.error().text);
    auto again = runtime.get(process, key); // the blocking form returns the same
    require(again && *again == *value, "get");
    return text_of_bytes(*value);
}

std::uint64_t group(Runtime& runtime, Progress& progress, const std::string& name, std::vector<ProcessId> members) {
    auto request = runtime.group_start(name, members);
    require(bool(request), "group_start", request ? "" : request.error().text);
    wait_until(progress, [&] { return request->done(); });
    const auto id = request->id();
    require(bool(id), "group", id ? "" : id.error().text);
    return id.value();
}

std::vector<ProcessId> all_of(const Runtime& runtime, JobNumber job) {
    std::vector<ProcessId> all;
    for (std::uint32_t rank = 0; rank < runtime.jobs().job(job)->size; ++rank) {
        all.push_back({job, rank});
    }
    return all;
}

// What both sides do with the other job; `round` counts the spawns.
void exchange(Runtime& runtime, Progress& progress, JobNumber other, std::uint32_t others, int round) {
    const JobTable& jobs = runtime.jobs();
    require(other != own_job && jobs.job(other)->size == others, "size of the other job");
    require(runtime.is_local({other, 0}) && runtime.local_rank_of({other, others - 1}) == std::int32_t(others - 1) &&
            !runtime.is_local({other, others}),
        "processes of this node");
    require(*runtime.hostname_of({other, 0}) == runtime.hostname(), "host name");

    const std::string key = "value." + std::to_string(round);
    const std::string nonce = std::to_string(jobs.nonce_of(own_job));
    put(runtime, key, nonce + " " + std::to_string(runtime.rank()));
    for (const ProcessId process : all_of(runtime, other)) {
        require(get(runtime, progress, process, key) ==
                std::to_string(jobs.nonce_of(other)) + " " + std::to_string(process.rank),
            "value of a process of the other job");
    }
    require(jobs.nonce_of(own_job) != jobs.nonce_of(other), "each job has a nonce of its own");

    std::vector<ProcessId> both = all_of(runtime, own_job);
    const std::uint64_t own = group(runtime, progress, "same name", both); // which the other job uses at the same time
    const std::vector<ProcessId> theirs = all_of(runtime, other);
    both.insert(both.end(), theirs.begin(), theirs.end());
    const std::uint64_t common = group(runtime, progress, "both", both);
    put(runtime, "ids." + std::to_string(round), std::to_string(common) + " " + std::to_string(own));
    const std::string seen = get(runtime, progress, {other, 0}, "ids." + std::to_string(round));
    require(seen.starts_with(std::to_string(common) + " "), "the identifier of a group of both jobs");
    require(seen != std::to_string(common) + " " + std::to_string(own) && own != common,
        "groups of two jobs have different identifiers");

    const std::string set = "both." + std::to_string(round);
    if (std::string_view(side) == "parent" && runtime.rank() == 0) {
        const auto defined = runtime.define_pset(set, both);
        require(bool(defined), "define_pset", defined ? "" : defined.error().text);
    }
    group(runtime, progress, "defined", both);
    auto pset = runtime.pset(set);
    require(pset && pset->members.size() == both.size(), "a process set of both jobs");
    std::string order;
    for (const ProcessName& member : pset.value().members) {
        const std::optional<ProcessId> id = jobs.id_of(member);
        require(id.has_value(), "a member of the process set");
        order += std::to_string(jobs.nonce_of(id->job)) + "." + std::to_string(id->rank) + " ";
    }
    put(runtime, "order." + std::to_string(round), order);
    require(get(runtime, progress, {other, 0}, "order." + std::to_string(round)) == order,
        "the order of its members is the same in all processes");
    group(runtime, progress, "last", both);
}

std::string spawn(const char* program, int round) {
    char self[4096] = {};
    require(::readlink("/proc/self/exe", self, sizeof self - 1) > 0, program);
    pmix_app_t* app = nullptr;
    PMIX_APP_CREATE(app, 1);
    app->cmd = strdup(self);
    pmix_status_t status = PMIX_SUCCESS;
    for (const std::string& word : {std::string(self), std::string("child"), std::to_string(round)}) {
        PMIX_ARGV_APPEND(status, app->argv, word.c_str());
    }
    app->maxprocs = children;
    char nspace[PMIX_MAX_NSLEN + 1] = {};
    status = PMIx_Spawn(nullptr, 0, app, 1, nspace);
    PMIX_APP_FREE(app, 1);
    require(status == PMIX_SUCCESS, "PMIx_Spawn", PMIx_Error_string(status));
    return nspace;
}

// The namespace goes neither into an argument nor into the environment.
std::string namespace_of_parent(const Runtime& runtime) {
    pmix_proc_t self;
    PMIX_LOAD_PROCID(&self, runtime.nspace().c_str(), runtime.rank());
    pmix_value_t* value = nullptr;
    require(PMIx_Get(&self, PMIX_PARENT_ID, nullptr, 0, &value) == PMIX_SUCCESS && value->type == PMIX_PROC,
        "PMIX_PARENT_ID");
    const std::string nspace = value->data.proc->nspace;
    PMIX_VALUE_RELEASE(value);
    return nspace;
}

void be_parent(Runtime& runtime, Progress& progress, const char* program) {
    JobNumber last = own_job;
    for (int round = 0; round < 2; ++round) {
        const std::string key = "child." + std::to_string(round);
        if (runtime.rank() == 0) {
            put(runtime, key, spawn(program, round));
        }
        const std::string nspace = get(runtime, progress, {own_job, 0}, key);
        const auto added = runtime.add_job(nspace);
        require(bool(added), "add_job", added ? "" : added.error().text);
        require(added.value() != last && runtime.jobs().size() == 2, "a number of its own");
        last = added.value();
        exchange(runtime, progress, last, children, round);
        runtime.jobs().drop(last);
        require(runtime.get_start({last, 0}, "value.0").error().code == Errc::invalid, "a job that was dropped");
    }
    require(runtime.add_job("patchbay-nobody").error().code == Errc::not_found, "a job that does not exist");
}

void be_child(Runtime& runtime, Progress& progress, int round) {
    const auto added = runtime.add_job(namespace_of_parent(runtime));
    require(bool(added), "add_job", added ? "" : added.error().text);
    exchange(runtime, progress, added.value(), 2, round);
}

} // namespace

int main(int argc, char** argv) {
    auto runtime = Runtime::create({});
    require(bool(runtime), "create", runtime ? "" : runtime.error().text);
    own_rank = (*runtime)->rank();
    Progress progress(false, WaitPolicy::make(WaitPolicy{}.spin, WaitPolicy{}.yield, false, true));
    (*runtime)->set_wake([&progress] { progress.wake(); });
    if (argc == 3) {
        side = "child";
        be_child(**runtime, progress, std::atoi(argv[2]));
    } else {
        be_parent(**runtime, progress, argv[0]);
    }
    (*runtime)->set_wake({});
    std::printf("%s %u ok\n", side, own_rank);
    return 0;
}
