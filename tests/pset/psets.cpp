// SPDX-License-Identifier: BSD-3-Clause
// Process sets inside a job: psets SOURCE. SOURCE names the component that defines the set "first" (rank 0 alone):
// launcher, static, both (the parameter then defines "second", too) or none. SOURCE may be the expected number of ranks
// instead, under a launcher that is not ours.
#include "core/runtime/runtime.h"
#include "frameworks/pset/sets.h"
#include "mpi/library/library.h"
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {
using namespace patchbay;

std::uint32_t rank;
std::uint32_t size;

std::vector<ProcessId> processes(std::uint32_t first, std::uint32_t count) {
    std::vector<ProcessId> all;
    for (std::uint32_t i = 0; i < count; ++i) {
        all.push_back({0, first + i});
    }
    return all;
}

bool has(pset::Sets& sets, const char* name, const std::vector<ProcessId>& members) {
    auto set = sets.find(name);
    if (!set) {
        std::fprintf(stderr, "%s: %s\n", name, set.error().text.c_str());
    }
    return set && (*set)->members() == members && (*set)->name == name;
}

// The library defines these sets: it sends no request and opens no component.
void check_own_sets(Instance& instance) {
    pset::Sets& sets = instance.psets();
    CHECK(has(sets, "mpi://WORLD", processes(0, size)));
    CHECK(has(sets, "mpi://SELF", processes(rank, 1)));
    CHECK(has(sets, "mpix://SHARED", processes(0, size))); // all processes run on this node
    CHECK(*sets.name(0) == "mpi://WORLD" && *sets.name(1) == "mpi://SELF" && *sets.name(2) == "mpix://SHARED");
    CHECK(sets.name(3).error().code == Errc::invalid);
    CHECK(sets.requests() == 0 && instance.pset_framework().components().empty());
    const auto group = (*sets.find("mpi://WORLD"))->group(instance.self());
    CHECK(group->size() == int(size) && group->rank() == int(rank));
}

// Many threads look the set up at once; the library makes one request.
void check_one_request(pset::Sets& sets, bool has_request) {
    std::vector<std::thread> threads;
    std::vector<char> good(8, 0);
    for (char& result : good) {
        threads.emplace_back([&sets, &result] { result = has(sets, "first", processes(0, 1)); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(std::count(good.begin(), good.end(), 1) == 8);
    CHECK(sets.requests() == (has_request ? 1 : 0));
    CHECK(has(sets, "first", processes(0, 1)));
    CHECK(sets.requests() == (has_request ? 1 : 0));
}

void check_unknown(pset::Sets& sets, bool has_request) {
    for (int round = 1; round <= 3; ++round) {
        const std::uint64_t before = sets.requests();
        auto set = sets.find("no such set");
        CHECK(!set && set.error().code == Errc::not_found);
        CHECK(sets.requests() - before == (has_request ? 1 : 0));
    }
    CHECK(!sets.find(""));
    CHECK(!sets.find("mpi://WORLD/"));
    CHECK(!sets.find(std::string(5000, 'x')));
}

bool listed(pset::Sets& sets, const std::string& wanted) {
    auto count = sets.count();
    int found = 0;
    for (std::size_t number = 0; number < *count; ++number) {
        found += *sets.name(number) == wanted;
    }
    CHECK(found <= 1);
    return found == 1;
}

// The list holds only sets that contain this process, and the numbers do not change.
void check_list(pset::Sets& sets, bool defined) {
    auto count = sets.count();
    CHECK(bool(count) && *count >= 3);
    std::vector<std::string> names;
    for (std::size_t number = 0; number < *count; ++number) {
        names.push_back(*sets.name(number));
        auto set = sets.find(names.back());
        CHECK(bool(set) && (*set)->contains({0, rank}));
    }
    CHECK(sets.name(*count).error().code == Errc::invalid);
    CHECK(*sets.count() == *count);
    for (std::size_t number = 0; number < *count; ++number) {
        CHECK(*sets.name(number) == names[number]);
    }
    CHECK(listed(sets, "first") == (defined && rank == 0));
}

// A set that is defined later, and its next version.
void check_later(Instance& instance) {
    pset::Sets& sets = instance.psets();
    CHECK(!sets.find("later"));
    const std::size_t before = *sets.count();
    MPI_Barrier(MPI_COMM_WORLD);
    const std::vector<ProcessId> none_but_last = processes(size - 1, 1);
    const std::vector<ProcessId> all = processes(0, size);
    if (rank == 0) {
        CHECK(bool(instance.runtime().define_pset("later", all)));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(has(sets, "later", processes(0, size)));
    CHECK(*sets.count() == before + 1 && *sets.name(before) == "later");
    const std::uint64_t requests = sets.requests();
    auto first = sets.find("later");
    CHECK((*first)->version == 1 && sets.requests() == requests);
    MPI_Barrier(MPI_COMM_WORLD);
    if (size == 1) {
        return;
    }
    if (rank == 0) {
        CHECK(*instance.runtime().define_pset("later", none_but_last) == 2);
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    auto second = sets.find("later");
    while (second && (*second)->version == 1 && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        second = sets.find("later");
    }
    CHECK(second && (*second)->version == 2 && (*second)->members() == processes(size - 1, 1));
    CHECK(sets.requests() == requests + 1);
    CHECK((*first)->version == 1 && (*first)->size() == size); // a set that is held does not change
    CHECK(*sets.count() == before + 1);
}

// When the machine has one NUMA node, all ranks are in its set, bound or not.
void check_hardware(Instance& instance, bool source) {
    pset::Sets& sets = instance.psets();
    if (source && std::system("test $(ls -d /sys/devices/system/node/node[0-9]* | wc -l) -eq 1") == 0) {
        CHECK(listed(sets, "mpix://NUMA/0"));
        CHECK(has(sets, "mpix://NUMA/0", processes(0, size)));
    }
    if (source &&
        std::system("test $(grep -lx 3 /sys/devices/system/cpu/cpu*/cache/index*/level | "
                    "sed s/level/shared_cpu_list/ | xargs cat | sort -u | wc -l) -eq 1") == 0) {
        CHECK(has(sets, "mpix://L3CACHE/0", processes(0, size)));
    }
    CHECK(!sets.find("mpix://NUMA/123456"));
    CHECK(!sets.find("mpix://CORE"));
}

} // namespace

int main(int argc, char** argv) {
    std::string source = argc > 1 ? argv[1] : "none";
    const int wanted = std::atoi(source.c_str());
    if (wanted > 0) {
        source = "foreign launcher";
    }
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    Instance& instance = *library().instance();
    rank = instance.runtime().rank();
    size = instance.runtime().size();
    const bool launcher = source == "launcher" || source == "both";
    const bool defined = source != "none" && wanted == 0;
    CHECK(wanted == 0 || size == std::uint32_t(wanted));
    check_own_sets(instance);
    if (defined) {
        check_one_request(instance.psets(), launcher);
        CHECK(source != "both" || has(instance.psets(), "second", processes(0, 1)));
    }
    check_unknown(instance.psets(), launcher);
    check_list(instance.psets(), defined);
    // Under our mpirun only component pmix has the hardware sets; elsewhere the process finds its hardware itself.
    check_hardware(instance, launcher || wanted > 0 || (source == "static" && instance.runtime().is_singleton()));
    if (launcher) {
        check_later(instance);
    }
    MPI_Finalize();
    return failures();
}
