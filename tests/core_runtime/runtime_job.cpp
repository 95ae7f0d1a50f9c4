// SPDX-License-Identifier: BSD-3-Clause
// A program for a PMIx launcher: `mpirun -n N runtime_job`. Every rank checks what core/runtime and the node segment
// tell it, and exits with 0 when all is as it must be. `runtime_job child` is what it starts itself.
//   runtime_job [RANKS] [--backing memfd|file] [--cycles N]
// RANKS: how many there must be; 1 may also be a singleton.
#include "core/memory/node_segment.h"
#include "core/progress/waiter.h"
#include "core/runtime/runtime.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

namespace {
using namespace patchbay;

std::uint32_t own_rank = 0;
std::uint32_t wanted_size = 0; // 0: any

void require(bool condition, const char* what, const std::string& detail = "") {
    if (!condition) {
        std::fprintf(stderr, "runtime_job: rank %u: FAILED: %s %s\n", own_rank, what, detail.c_str());
        std::exit(1);
    }
}

std::vector<std::byte> value_of(std::uint32_t rank, std::uint32_t lifetime) {
    std::string text = "value of " + std::to_string(rank) + " in " + std::to_string(lifetime);
    auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

void check_identity(const Runtime& runtime) {
    require(!runtime.is_singleton() || wanted_size == 1, "started by a launcher");
    require(wanted_size == 0 || runtime.size() == wanted_size, "number of ranks", std::to_string(runtime.size()));
    require(runtime.size() > runtime.rank(), "rank below size");
    auto peers = runtime.local_peers();
    require(peers[runtime.local_rank()] == runtime.rank(), "local rank");
    require(std::is_sorted(peers.begin(), peers.end()), "local peers in order");
    for (std::uint32_t rank = 0; rank < runtime.size(); ++rank) {
        auto host = runtime.hostname_of({own_job, rank});
        require(bool(host), "host name of a peer", host ? "" : host.error().text);
    }
    auto app = runtime.app_number();
    require(app || app.error().code == Errc::not_available, "app number", app ? "" : app.error().text);
    auto universe = runtime.universe_size();
    require(universe && *universe >= runtime.size(), "universe size");
    require(std::getenv("PMIX_RANK") == nullptr && std::getenv(node_segment_variable) == nullptr,
        "launch variables are hidden from child programs");
}

void check_modex(Runtime& runtime) {
    std::string key = "test." + std::to_string(runtime.lifetime());
    require(runtime.try_get(runtime.self(), key + ".absent").error().code == Errc::not_found, "absent key");
    auto mine = value_of(runtime.rank(), runtime.lifetime());
    require(bool(runtime.put(key, mine)) && bool(runtime.commit()), "put");
    for (std::uint32_t rank = 0; rank < runtime.size(); ++rank) {
        auto value = runtime.get({own_job, rank}, key); // waits for ranks that are not that far
        require(bool(value), "get", value ? "" : value.error().text);
        require(*value == value_of(rank, runtime.lifetime()), "value of a peer");
    }
}

// A second key after the first commit, fetched before the owner has published it.
void check_late_key(Runtime& runtime) {
    std::string late = "test." + std::to_string(runtime.lifetime()) + ".late";
    auto mine = value_of(runtime.rank(), runtime.lifetime());
    if (runtime.rank() == 0) {
        timespec pause{0, 20'000'000};
        nanosleep(&pause, nullptr);
        require(bool(runtime.put(late, mine)) && bool(runtime.commit()), "late put");
    }
    auto value = runtime.get({own_job, 0}, late);
    require(value && *value == value_of(0, runtime.lifetime()), "late get", value ? "" : value.error().text);
}

// The same without waiting in the runtime; the wake hook is called when the answer has come.
void check_nonblocking_get(Runtime& runtime, Progress& progress) {
    const std::string late = "test." + std::to_string(runtime.lifetime()) + ".later";
    auto mine = value_of(runtime.rank(), runtime.lifetime());
    auto request = runtime.get_start({own_job, 0}, late);
    require(bool(request), "get_start", request ? "" : request.error().text);
    require(bool(runtime.fence({}, false)), "fence"); // all requests but rank 0's own are under way
    if (runtime.rank() == 0) {
        require(request->done() && request->value().error().code == Errc::timed_out, "no wait for myself");
        require(bool(runtime.put(late, mine)) && bool(runtime.commit()), "later put");
        request = runtime.get_start({own_job, 0}, late);
    }
    const auto begin = std::chrono::steady_clock::now();
    wait_until(progress, [&] { return request->done(); });
    auto value = request->value();
    require(value && *value == value_of(0, runtime.lifetime()), "later get", value ? "" : value.error().text);
    require(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1), "later get in time");
    require(
        runtime.get_start({own_job, runtime.size()}, late).error().code == Errc::invalid, "a rank that is not there");
    require(runtime.get_start({77, 0}, late).error().code == Errc::invalid, "a job that is not there");
}

void check_fences(Runtime& runtime, Progress& progress) {
    const Status collected = runtime.fence({}, true);
    require(bool(collected), "collecting fence", collected ? "" : collected.error().text);
    ProcessId self[] = {runtime.self()};
    require(bool(runtime.fence(self, false)), "fence over myself");
    auto request = runtime.fence_start({}, false);
    require(bool(request), "fence_start");
    wait_until(progress, [&] { return request->done(); });
    const Status fenced = request->status();
    require(bool(fenced), "nonblocking fence", fenced ? "" : fenced.error().text);
}

void check_groups(Runtime& runtime, Progress& progress) {
    std::string name = "group." + std::to_string(runtime.lifetime());
    std::vector<ProcessId> all;
    for (std::uint32_t rank = 0; rank < runtime.size(); ++rank) {
        all.push_back({own_job, rank});
    }
    ProcessId self[] = {runtime.self()};
    auto whole = runtime.group_start(name, all);
    auto alone = runtime.group_start(name + ".of." + std::to_string(runtime.rank()), self);
    if (!runtime.has_groups()) {
        require(whole.error().code == Errc::unsupported, "no groups");
        return;
    }
    require(bool(whole) && bool(alone), "group_start");
    wait_until(progress, [&] { return whole->done() && alone->done(); });
    require(bool(whole->id()) && bool(alone->id()), "group id", whole->id() ? "" : whole->id().error().text);
    require(*whole->id() != *alone->id(), "ids of two groups differ");
    std::uint64_t id = *whole->id();
    require(bool(runtime.put(name, std::as_bytes(std::span(&id, 1)))) && bool(runtime.commit()), "put the id");
    auto first = runtime.get({own_job, 0}, name);
    require(first && std::memcmp(first->data(), &id, sizeof id) == 0, "all members have the same id");
}

std::uint64_t id_of(Result<GroupRequest> group) {
    auto id = group->id();
    require(bool(id), "id of a PMIx group", id ? "" : id.error().text);
    return *id;
}

// Groups by PMIx_Group_construct: of all, of one, and of two halves that two threads of each rank make at once.
void check_pmix_groups(Runtime& runtime) {
    const std::string name = "group.by.pmix." + std::to_string(runtime.lifetime());
    std::vector<ProcessId> all;
    std::vector<ProcessId> half;
    for (std::uint32_t rank = 0; rank < runtime.size(); ++rank) {
        all.push_back({own_job, rank});
        if (rank % 2 == runtime.rank() % 2) {
            half.push_back({own_job, rank});
        }
    }
    if (!runtime.own_launcher()) {
        // Some launchers refuse at once, some when all ranks have joined. No name is used twice, so that no later group
        // joins a refused one.
        auto group = runtime.pmix_group_start(name, all);
        while (group && !group->done()) {
            std::this_thread::yield();
        }
        require((group ? group->id().error().code : group.error().code) == Errc::unsupported, "no PMIx groups");
        return;
    }
    const auto wait_for = [](Result<GroupRequest> group) {
        require(bool(group), "pmix_group_start", group ? "" : group.error().text);
        while (!group->done()) {
            std::this_thread::yield();
        }
        return id_of(group);
    };
    const std::uint64_t whole = wait_for(runtime.pmix_group_start(name, all));
    ProcessId self[] = {runtime.self()};
    const std::uint64_t alone =
        wait_for(runtime.pmix_group_start(name + ".of." + std::to_string(runtime.rank()), self));
    require(whole != alone, "ids of two PMIx groups differ");
    for (int round = 0; round < 20; ++round) {
        const std::string at = "." + std::to_string(round);
        std::uint64_t first = 0;
        std::uint64_t second = 0;
        std::thread other([&] { first = wait_for(runtime.pmix_group_start(name + ".all" + at, all)); });
        second = wait_for(runtime.pmix_group_start(name + ".half" + std::to_string(runtime.rank() % 2) + at, half));
        other.join();
        require(first != second && first != whole && second != alone, "ids of concurrent PMIx groups differ");
    }
    // PMIx's groups and mpirun's own share their identifiers.
    if (runtime.has_groups()) {
        auto own = runtime.group_start(name, self);
        while (!own->done()) {
            std::this_thread::yield();
        }
        require(id_of(own) > alone, "ids of both kinds of group differ");
    }
    std::uint64_t id = whole;
    require(bool(runtime.put(name, std::as_bytes(std::span(&id, 1)))) && bool(runtime.commit()), "put the id");
    auto first = runtime.get({own_job, 0}, name);
    require(first && std::memcmp(first->data(), &id, sizeof id) == 0, "all members have the same id");
}

// Process sets: one that a rank defines, its next version, its report.
void check_psets(Runtime& runtime) {
    const std::string name = "set." + std::to_string(runtime.lifetime());
    ProcessId self[] = {runtime.self()};
    if (!runtime.own_launcher()) {
        const Errc code = runtime.pset(name).error().code;
        require(code == Errc::unsupported || code == Errc::not_found, "no process set");
        require(runtime.pset_names().error().code == Errc::unsupported, "no names of process sets");
        require(runtime.define_pset(name, self).error().code == Errc::unsupported, "no process set can be defined");
        return;
    }
    require(runtime.pset(name).error().code == Errc::not_found, "no such process set");
    require(bool(runtime.pset_names()), "names of process sets");
    require(bool(runtime.fence({}, false)), "fence");
    std::mutex mutex;
    std::vector<std::size_t> reports;
    Status listening = runtime.on_pset_change([&](const std::string& changed, const std::vector<ProcessName>* members) {
        const std::lock_guard lock(mutex);
        if (changed == name && members != nullptr && (reports.empty() || reports.back() != members->size())) {
            reports.push_back(members->size());
        }
    });
    require(bool(listening), "reports of process sets", listening ? "" : listening.error().text);
    const std::uint32_t last = runtime.size() - 1;
    ProcessId one[] = {{own_job, last}};
    ProcessId two[] = {{own_job, 0}, {own_job, last}, {own_job, 0}};
    if (runtime.rank() == 0) {
        require(*runtime.define_pset(name, one) == 1, "first version");
        require(*runtime.define_pset(name, one) == 1, "the same again");
        require(
            runtime.define_pset("mpi://WORLD", one).error().code == Errc::invalid, "a name that is not ours to give");
        ProcessId wrong_rank[] = {{own_job, runtime.size()}};
        require(runtime.define_pset(name, wrong_rank).error().code == Errc::invalid, "a rank that is not there");
    }
    require(bool(runtime.fence({}, false)), "fence");
    auto set = runtime.pset(name);
    require(set && set->version == 1 && set->members.size() == 1, "a process set", set ? "" : set.error().text);
    require(set->members[0] == ProcessName{runtime.nspace(), last}, "its member");
    auto names = runtime.pset_names();
    require(names && std::find(names->begin(), names->end(), name) != names->end(), "its name");
    require(bool(runtime.fence({}, false)), "fence");
    if (runtime.rank() == 0) {
        require(*runtime.define_pset(name, two) == (runtime.size() == 1 ? 1u : 2u), "second version");
    }
    require(bool(runtime.fence({}, false)), "fence");
    set = runtime.pset(name);
    const std::size_t members = runtime.size() == 1 ? 1 : 2;
    require(set && set->version == members && set->members.size() == members, "the next version");
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    for (bool reported = false; !reported;) {
        require(std::chrono::steady_clock::now() < deadline, "report of the next version");
        const std::lock_guard lock(mutex);
        reported = !reports.empty() && reports.back() == members;
    }
    runtime.stop_pset_reports();
}

// Local ranks pass a token round a ring through the segment, waking each other by their doorbells.
void check_segment(Runtime& runtime, NodeSegment& segment, Progress& progress) {
    auto region = segment.region("test_ring", 4096, "test=1");
    require(bool(region), "region", region ? "" : region.error().text);
    require(bool(segment.commit(*region, 0, 4096)), "commit");
    auto& token = *reinterpret_cast<std::atomic<std::uint64_t>*>(region->bytes.data());
    std::uint32_t size = runtime.local_size();
    require(bool(runtime.fence({}, false)), "fence");
    auto next = segment.slot_of({segment.self().job, runtime.local_peers()[(runtime.local_rank() + 1) % size]});
    require(bool(next), "slot of the next rank");
    std::uint64_t start = std::uint64_t(runtime.lifetime()) * 100 * size;
    for (std::uint64_t round = 0; round < 100; ++round) {
        std::uint64_t mine = start + round * size + runtime.local_rank();
        wait_until(progress, [&] { return token.load(std::memory_order_acquire) == mine; });
        token.store(mine + 1, std::memory_order_release);
        segment.control(*next).bell.notify();
    }
}

void one_lifetime(const NodeSegmentOptions& options, bool thorough) {
    auto runtime = Runtime::create({});
    require(bool(runtime), "create", runtime ? "" : runtime.error().text);
    own_rank = (*runtime)->rank();
    Progress progress(
        false, WaitPolicy::make(WaitPolicy{}.spin, WaitPolicy{}.yield, true, (*runtime)->oversubscribed()));
    (*runtime)->set_wake([&progress] { progress.wake(); });
    auto segment = NodeSegment::attach(**runtime, options);
    require(bool(segment), "attach", segment ? "" : segment.error().text);
    progress.set_doorbell(&(*segment)->own_control().bell);
    if (thorough) {
        check_identity(**runtime);
        check_fences(**runtime, progress);
        check_groups(**runtime, progress);
        if ((*runtime)->lifetime() > 0) {
            (*runtime)->keep_connection();
            check_pmix_groups(**runtime);
        }
        check_psets(**runtime);
    }
    check_modex(**runtime);
    if (thorough) {
        check_late_key(**runtime);
        check_nonblocking_get(**runtime, progress);
    }
    if ((*runtime)->local_size() > 1) {
        check_segment(**runtime, **segment, progress); // what a rank alone has is private and begins anew
    }
    // No rank detaches the segment while another rank still has to wake it.
    require(bool((*runtime)->fence({}, false)), "last fence");
    (*runtime)->set_wake({}); // the last fence is done before its hook has run
    progress.set_doorbell(nullptr);
}

struct Footprint {
    std::size_t threads, descriptors, mappings;
    long resident_kib;

    static Footprint now() {
        auto count = [](const char* directory) {
            auto listing = std::filesystem::directory_iterator(directory);
            return std::size_t(std::distance(begin(listing), end(listing)));
        };
        std::ifstream maps("/proc/self/maps");
        std::ifstream memory("/proc/self/statm");
        std::string line;
        Footprint now{count("/proc/self/task"), count("/proc/self/fd"), 0, 0};
        while (std::getline(maps, line)) {
            ++now.mappings;
        }
        long total = 0;
        memory >> total >> now.resident_kib;
        now.resident_kib *= 4;
        return now;
    }
};

void cycles(const NodeSegmentOptions& options, int count) {
    std::size_t threads_before = Footprint::now().threads;
    one_lifetime(options, true);
    require(Footprint::now().threads == threads_before, "no thread is left after the first lifetime");
    for (int i = 0; i < 10; ++i) {
        one_lifetime(options, false);
    }
    Footprint before = Footprint::now();
    for (int i = 0; i < count; ++i) {
        one_lifetime(options, false);
    }
    Footprint after = Footprint::now();
    std::printf("rank %u: threads %zu -> %zu, descriptors %zu -> %zu, mappings %zu -> %zu, resident %ld -> %ld KiB\n",
        own_rank, before.threads, after.threads, before.descriptors, after.descriptors, before.mappings, after.mappings,
        before.resident_kib, after.resident_kib);
    require(after.threads == before.threads, "threads grew");
    require(after.descriptors == before.descriptors, "descriptors grew");
    require(after.mappings <= before.mappings + 2, "mappings grew"); // the heap may get another arena
    // Every lifetime publishes keys of its own, which PMIx and we remember.
    require(after.resident_kib - before.resident_kib < 1024 + 8L * count, "memory grew");
}

int as_child() {
    auto runtime = Runtime::create({});
    require(bool(runtime), "child: create", runtime ? "" : runtime.error().text);
    require((*runtime)->is_singleton(), "child: a singleton");
    return 0;
}
} // namespace

int main(int argc, char** argv) {
    NodeSegmentOptions options;
    int count = 0;
    for (int i = 1; i < argc; ++i) {
        std::string word = argv[i];
        if (word == "child") {
            return as_child();
        }
        if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
            wanted_size = std::uint32_t(std::atoi(argv[i]));
            continue;
        }
        require(i + 1 < argc, "option needs a value", word);
        if (word == "--backing") {
            options.backing = std::string(argv[++i]) == "file" ? ShmBacking::file : ShmBacking::memfd;
        } else if (word == "--cycles") {
            count = std::atoi(argv[++i]);
        }
    }
    if (count > 0) {
        cycles(options, count);
    } else {
        one_lifetime(options, true);
        require(std::system((std::string(argv[0]) + " child").c_str()) == 0, "child program");
        one_lifetime(options, true);
    }
    std::printf("rank %u: ok\n", own_rank);
    return 0;
}
