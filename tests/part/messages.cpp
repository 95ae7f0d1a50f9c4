// SPDX-License-Identifier: BSD-3-Clause
// Two ranks, others only finalize. How many messages a start needs, with the parameter mpi_part_message_size that the
// first argument repeats; how many of them are carried by channels, with the parameter mpi_part_channels that the
// second one repeats, and with info key patchbay_effort; and that a start after the first allocates no memory. It looks
// at the requests behind the handles.
#include "core/runtime/runtime.h"
#include "frameworks/pml/partitioned.h"
#include "mpi/instance/instance.h"
#include "object/handle.h"
#include "tests/mpi_check/check.h"
#include "tests/mpi_check/shared_ints.h"

#include <algorithm>
#include <cstdlib>
#include <sched.h>
#include <span>
#include <string>
#include <vector>

extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* __libc_calloc(std::size_t count, std::size_t size);
extern "C" void* __libc_realloc(void* memory, std::size_t size);

namespace {

long allocations = 0;
int rank, size;
int* phases; // of both ranks

// Waits for the other rank without a message.
void await_other() {
    shared_set(&phases[rank], phases[rank] + 1);
    while (shared_get(&phases[1 - rank]) < phases[rank]) {
        sched_yield();
    }
}

using patchbay::pml::Partitioned;
using patchbay::pml::PartitionedRequest;

Partitioned& object(MPI_Request handle) {
    return *static_cast<Partitioned*>(patchbay::to_object<patchbay::Request>(handle));
}

// `info` is that of both initializations.
void expect_messages(std::span<char> out, std::span<char> in, int partitions, int bytes, int receive_partitions,
    int wanted, int channels, MPI_Info info = MPI_INFO_NULL) {
    std::fill(out.begin(), out.end(), 'x');
    std::fill(in.begin(), in.end(), ' ');
    const int next = 1 - rank, previous = next;
    const int receive_bytes = int(in.size()) / receive_partitions;
    MPI_Request requests[2];
    CHECK_OK(MPI_Psend_init(out.data(), partitions, bytes, MPI_CHAR, next, 4, MPI_COMM_WORLD, info, &requests[0]));
    CHECK_OK(MPI_Precv_init(
        in.data(), receive_partitions, receive_bytes, MPI_CHAR, previous, 4, MPI_COMM_WORLD, info, &requests[1]));
    for (int round = 0; round < 5; ++round) {
        const long before = allocations;
        CHECK_OK(MPI_Startall(2, requests));
        await_other(); // an unexpected message needs memory
        CHECK_OK(MPI_Pready_range(0, partitions - 1, requests[0]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        if (round > 0 && size == 2) { // others that finalize have this process allocate, too
            CHECK_EQUAL(allocations - before, 0);
        }
        await_other();
        CHECK_EQUAL(object(requests[0]).messages(), wanted);
        CHECK_EQUAL(object(requests[1]).messages(), wanted);
        CHECK_EQUAL(object(requests[0]).channels(), channels);
        CHECK_EQUAL(object(requests[1]).channels(), channels);
    }
    CHECK(std::equal(in.begin(), in.end(), out.begin()));
    PartitionedRequest what{};
    CHECK(object(requests[1]).bound_partitions(&what));
    CHECK(what.buffer == in.data() && what.partitions == receive_partitions && what.count == receive_bytes &&
        what.type == patchbay::to_object<patchbay::Datatype>(MPI_CHAR) && what.peer == previous && what.tag == 4 &&
        !what.sends);
    CHECK(object(requests[0]).bound_partitions(&what) && what.sends && what.peer == next);
    patchbay::pml::PersistentRequest other{};
    CHECK(!object(requests[0]).bound(&other));
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

bool all_by_channels = false;

void expect_messages(int partitions, int bytes, int receive_partitions, int wanted) {
    std::vector<char> out(std::size_t(partitions) * std::size_t(bytes)), in(out.size());
    expect_messages(out, in, partitions, bytes, receive_partitions, wanted, all_by_channels ? wanted : 0);
}

// No message has a channel where one of its sides asks for the least effort.
void expect_effort(const char* of_rank_0, const char* of_rank_1, int channels) {
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "patchbay_effort", rank == 0 ? of_rank_0 : of_rank_1));
    std::vector<char> out(64 * 64), in(out.size());
    expect_messages(out, in, 64, 64, 64, 4, channels, info);
    CHECK_OK(MPI_Info_free(&info));
}

// Memory that both have mapped. The sender writes to it where that is faster: a long message, where processes share
// cores.
void expect_direct_messages(int partitions, int bytes, int receive_partitions, int wanted) {
    const patchbay::Communicator& world = *patchbay::to_object<patchbay::Communicator>(MPI_COMM_WORLD);
    const bool is_faster =
        world.instance->runtime().oversubscribed() && std::int64_t(partitions) * bytes / wanted >= (32 << 10);
    const std::size_t size = std::size_t(partitions) * std::size_t(bytes);
    std::vector<char> out(size);
    char* in = nullptr;
    CHECK_OK(MPI_Alloc_mem(MPI_Aint(size), MPI_INFO_NULL, &in));
    expect_messages(out, {in, size}, partitions, bytes, receive_partitions, wanted, is_faster ? wanted : 0);
    CHECK_OK(MPI_Free_mem(in));
}

} // namespace

extern "C" {
void* malloc(std::size_t bytes) {
    ++allocations;
    return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
    ++allocations;
    return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
    ++allocations;
    return __libc_realloc(memory, bytes);
}
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        std::fprintf(stderr, "two ranks are needed\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    phases = shared_ints(MPI_COMM_WORLD, 2);
    if (rank > 1) {
        return finish();
    }
    const std::string message_size = argc > 1 ? argv[1] : "default";
    all_by_channels = argc > 2 && std::string(argv[2]) == "all";
    if (message_size == "0") {
        expect_messages(64, 64, 64, 64);
        expect_messages(64, 64, 1, 64);
        expect_messages(1, 64, 64, 1);
    } else if (message_size == "1000") {
        expect_messages(64, 64, 64, 4); // of 16 partitions, 1024 bytes
        expect_messages(63, 64, 9, 3);  // the last one has 31
        expect_messages(10, 64, 64, 1); // less than one message
        expect_messages(8, 1000, 4, 8);
        expect_messages(8, 999, 4, 4);
        expect_effort("0", "0", 0);
        expect_effort("0", "1", 0);
        expect_effort("1", "0", 0);
        for (const char* effort : {"1", "2", "3", "4"}) { // 4 is ignored
            expect_effort(effort, "1", all_by_channels ? 4 : 0);
        }
    } else {
        expect_messages(64, 64, 64, 1);
        expect_messages(64, 16384, 64, 8);
        expect_messages(2, 1 << 20, 8, 2);
        expect_direct_messages(64, 16384, 16, 8);
        expect_direct_messages(64, 64, 1, 1);
    }
    return finish();
}
