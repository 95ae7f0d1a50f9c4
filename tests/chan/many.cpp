// SPDX-License-Identifier: BSD-3-Clause
// Many iterations of one channel in each direction between neighbours, each message as the answer to the one before,
// which gives the ready property without any other message; and one large message.
//   many_program ITERATIONS LARGE_BYTES
#include "tests/mpi_check/check.h"

#include <mpix.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

int rank, size;

// Ping-pong with the partner: the receive of an answer is started before the message.
void ping_pong(int partner, std::int64_t count, int iterations) {
    std::vector<std::int32_t> out(std::size_t(count) + 1), in(std::size_t(count) + 1);
    MPI_Request ins[2], bound[2];
    MPI_Send_init_c(out.data(), count, MPI_INT, partner, 0, MPI_COMM_WORLD, &ins[0]);
    MPI_Recv_init_c(in.data(), count, MPI_INT, partner, 0, MPI_COMM_WORLD, &ins[1]);
    CHECK_OK(MPIX_Bind_channels(ins, bound, 2, nullptr));
    const bool first = rank < partner;
    CHECK_OK(MPI_Start(&bound[1]));
    MPI_Sendrecv(nullptr, 0, MPI_INT, partner, 9, nullptr, 0, MPI_INT, partner, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    bool good = true;
    for (int i = 0; i < iterations && good; ++i) {
        const auto send = [&] {
            for (std::int64_t k = 0; k < count; k += count < 1000 ? 1 : 997) {
                out[std::size_t(k)] = std::int32_t(i * 7 + k + rank);
            }
            CHECK_OK(MPI_Start(&bound[0]));
        };
        if (first) {
            send();
        }
        CHECK_OK(MPI_Wait(&bound[1], MPI_STATUS_IGNORE));
        for (std::int64_t k = 0; k < count && good; k += count < 1000 ? 1 : 997) {
            good = in[std::size_t(k)] == std::int32_t(i * 7 + k + partner);
        }
        if (i + 1 < iterations) {
            CHECK_OK(MPI_Start(&bound[1])); // before the partner can send again
        }
        if (!first) {
            send();
        }
        CHECK_OK(MPI_Wait(&bound[0], MPI_STATUS_IGNORE));
    }
    CHECK(good);
    CHECK_OK(MPIX_Unbind_channels(bound, 2));
    MPI_Request_free(&ins[0]);
    MPI_Request_free(&ins[1]);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int iterations = argc > 1 ? std::atoi(argv[1]) : 20000;
    const std::int64_t large = argc > 2 ? std::atoll(argv[2]) : std::int64_t(16) << 20;
    const int partner = rank ^ 1;
    if (partner < size) {
        ping_pong(partner, 2, iterations);
        ping_pong(partner, 0, iterations / 20);
        ping_pong(partner, 3000, iterations / 20);
        ping_pong(partner, large / 4, 3);
    }
    return finish();
}
