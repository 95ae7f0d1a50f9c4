// SPDX-License-Identifier: BSD-3-Clause
// Every slackness from 1 to 64 with all starts outstanding at once and increments of both signs: what is in which place
// of the circle after each lap. The receiver then waits for something else while the sender waits for its sends, which
// have to complete because their receives have been started.
#include "tests/mpi_check/check.h"

#include <mpix.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace {

int rank, partner;

// One message of one int, through a request that is then bound to all of `count` ints again: what follows does not
// begin at the start of a ring.
void send_short(MPI_Request bound, bool sends, int* base, int count) {
    CHECK_OK(MPIX_Rebind_channel(bound, base, 1));
    if (!sends) {
        CHECK_OK(MPI_Start(&bound));
    }
    MPI_Sendrecv(nullptr, 0, MPI_INT, partner, 6, nullptr, 0, MPI_INT, partner, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (sends) {
        CHECK_OK(MPI_Start(&bound));
    }
    CHECK_OK(MPI_Wait(&bound, MPI_STATUS_IGNORE));
    CHECK_OK(MPIX_Rebind_channel(bound, base, count));
}

// Both processes call it; the even one sends. Messages of `count` ints, `laps` times around. `after_short`: behind one
// that is shorter.
void circle(int slackness, int count, int sign, int laps, bool after_short = false) {
    const bool sends = rank % 2 == 0;
    std::vector<int> buffer(std::size_t(slackness) * std::size_t(count), -1);
    int* const base = sign > 0 ? buffer.data() : buffer.data() + (slackness - 1) * count;
    const int first = after_short ? 1 : 0; // where in the circle a lap begins
    const auto place = [&](int slot) { return base + sign * ((first + slot) % slackness) * count; };
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "address_base_increment", std::to_string(sign * count).c_str());
    MPI_Request in, bound;
    if (sends) {
        MPI_Send_init(base, count, MPI_INT, partner, 3, MPI_COMM_WORLD, &in);
    } else {
        MPI_Recv_init(base, count, MPI_INT, partner, 3, MPI_COMM_WORLD, &in);
    }
    CHECK_OK(MPIX_Bind_slack_channel(in, &bound, slackness, info));
    if (after_short) {
        send_short(bound, sends, base, count);
    }
    for (int lap = 0; lap < laps; ++lap) {
        const auto value = [&](int slot, int i) { return (lap * slackness + slot) * 1000 + i; };
        if (!sends) {
            for (int slot = 0; slot < slackness; ++slot) {
                CHECK_OK(MPI_Start(&bound));
            }
            MPI_Send(nullptr, 0, MPI_INT, partner, 4, MPI_COMM_WORLD);
            // The sender answers when all its sends are complete.
            MPI_Recv(nullptr, 0, MPI_INT, partner, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int slot = 0; slot < slackness; ++slot) {
                CHECK_OK(MPI_Wait(&bound, MPI_STATUS_IGNORE));
            }
            bool good = true;
            for (int slot = 0; slot < slackness; ++slot) {
                good = good && place(slot)[0] == value(slot, 0) && place(slot)[count - 1] == value(slot, count - 1);
            }
            CHECK(good);
        } else {
            MPI_Recv(nullptr, 0, MPI_INT, partner, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int slot = 0; slot < slackness; ++slot) {
                for (int i = 0; i < count; ++i) {
                    place(slot)[i] = value(slot, i);
                }
                CHECK_OK(MPI_Start(&bound));
            }
            for (int slot = 0; slot < slackness; ++slot) {
                CHECK_OK(MPI_Wait(&bound, MPI_STATUS_IGNORE));
            }
            MPI_Send(nullptr, 0, MPI_INT, partner, 5, MPI_COMM_WORLD);
        }
    }
    CHECK_OK(MPIX_Unbind_channel(&bound));
    MPI_Request_free(&in);
    MPI_Info_free(&info);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    partner = rank ^ 1;
    if (partner < size) {
        for (int slackness = 1; slackness <= 64; ++slackness) {
            circle(slackness, 3, slackness % 2 != 0 ? 1 : -1, 3);
        }
        for (const int sign : {1, -1}) {
            circle(64, 3, sign, 3);
            circle(64, 1000, sign, 2); // more than what is between the processes has room for
            circle(5, 50000, sign, 2);
            circle(1, 15000, sign, 2, true); // as much as it has room for
            circle(2, 6250, sign, 2, true);
            circle(4, 4000, sign, 2, true);
        }
    }
    return finish();
}
