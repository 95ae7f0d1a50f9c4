// SPDX-License-Identifier: BSD-3-Clause
// Channels to memory of MPI_Alloc_mem: it is memory that the processes of the node share, so that no copy is between
// them; and it is the program's until it is freed, also when MPI has been finalized and the channel never was unbound.
#include "tests/mpi_check/check.h"

#include <mpix.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace {

int rank, size;

// Whether the mapping in which `memory` lies is one that processes can share.
bool is_shared(const void* memory) {
    std::FILE* const maps = std::fopen("/proc/self/maps", "r");
    char line[4096];
    bool shared = false;
    while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
        unsigned long long from, to;
        char flags[5];
        if (std::sscanf(line, "%llx-%llx %4s", &from, &to, flags) == 3) {
            const auto place = reinterpret_cast<std::uintptr_t>(memory);
            shared = shared || (place >= from && place < to && flags[3] == 's');
        }
    }
    if (maps != nullptr) {
        std::fclose(maps);
    }
    return shared;
}

char* allocate(std::size_t bytes) {
    char* memory = nullptr;
    CHECK_OK(MPI_Alloc_mem(MPI_Aint(bytes), MPI_INFO_NULL, &memory));
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % 64 == 0);
    std::memset(memory, 0, bytes);
    return memory;
}

void transfer(std::size_t bytes, int partner) {
    char* const out = allocate(bytes);
    char* const in = allocate(bytes);
    if (bytes >= 4096) {
        CHECK(is_shared(in));
    }
    MPI_Request ins[2], bound[2];
    MPI_Send_init(out, int(bytes), MPI_CHAR, partner, 0, MPI_COMM_WORLD, &ins[0]);
    MPI_Recv_init(in, int(bytes), MPI_CHAR, partner, 0, MPI_COMM_WORLD, &ins[1]);
    CHECK_OK(MPIX_Bind_channels(ins, bound, 2, nullptr));
    for (int round = 1; round <= 20; ++round) {
        std::memset(out, round + rank, bytes);
        CHECK_OK(MPI_Start(&bound[1]));
        MPI_Sendrecv(
            nullptr, 0, MPI_INT, partner, 9, nullptr, 0, MPI_INT, partner, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_OK(MPI_Start(&bound[0]));
        CHECK_OK(MPI_Waitall(2, bound, MPI_STATUSES_IGNORE));
        CHECK(in[0] == char(round + partner) && std::memcmp(in, in + 1, bytes - 1) == 0);
    }
    CHECK_OK(MPIX_Unbind_channels(bound, 2));
    MPI_Request_free(&ins[0]);
    MPI_Request_free(&ins[1]);
    CHECK_OK(MPI_Free_mem(in));
    CHECK_OK(MPI_Free_mem(out));
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int partner = rank ^ 1;
    for (const std::size_t bytes : {std::size_t(100), std::size_t(4096), std::size_t(70001), std::size_t(1) << 20}) {
        if (partner < size) {
            transfer(bytes, partner);
        }
    }
    // Many large blocks: some have no place in the node's memory, and are ordinary.
    char* many[300];
    for (char*& memory : many) {
        memory = allocate(std::size_t(512) << 10);
    }
    for (char* memory : many) {
        CHECK_OK(MPI_Free_mem(memory));
    }
    // A short block and one that is a mapping of its own outlive the library.
    char* const kept[] = {allocate(5000), allocate(std::size_t(600) << 10)};
    const int code = finish();
    std::memset(kept[0], 1, 5000);
    std::memset(kept[1], 1, std::size_t(600) << 10);
    MPI_Free_mem(kept[0]);
    MPI_Free_mem(kept[1]);
    return code;
}
