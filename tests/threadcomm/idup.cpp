// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_idup of thread communicators: several under way, over parents that share some of their threads, beside the
// blocking constructors. Messages show that no two communicators are one.
#include "tests/threadcomm/region.h"

#include <array>

namespace {

// Each rank sends its number with the same tag on every communicator; the receives are posted in the opposite order.
void exchange(const std::vector<MPI_Comm>& comms) {
    std::vector<int> out(comms.size()), in(comms.size(), -1);
    std::vector<MPI_Request> requests;
    std::vector<int> expected(comms.size());
    for (std::size_t i = comms.size(); i-- > 0;) {
        int rank = 0, size = 0;
        MPI_Comm_rank(comms[i], &rank);
        MPI_Comm_size(comms[i], &size);
        const int left = (rank + size - 1) % size;
        expected[i] = left * 1000 + int(i);
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, left, 0, comms[i], &requests.emplace_back()));
    }
    for (std::size_t i = 0; i < comms.size(); ++i) {
        int rank = 0, size = 0;
        MPI_Comm_rank(comms[i], &rank);
        MPI_Comm_size(comms[i], &size);
        out[i] = rank * 1000 + int(i);
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, (rank + 1) % size, 0, comms[i], &requests.emplace_back()));
    }
    CHECK_OK(MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
    CHECK(in == expected);
}

int copy_number(MPI_Comm, int, void*, void* value, void* result, int* flag) {
    *static_cast<void**>(result) = static_cast<char*>(value) + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

void duplicate(const Here& here, int key) {
    MPI_Comm even, quarter;
    CHECK_OK(MPI_Comm_split(here.comm, here.rank % 2, here.rank, &even));
    CHECK_OK(MPI_Comm_split(here.comm, here.rank / 2, -here.rank, &quarter));
    char anchor[2] = {};
    CHECK_OK(MPI_Comm_set_attr(here.comm, key, anchor));
    std::array<MPI_Comm, 6> made;
    made.fill(MPI_COMM_NULL);
    std::array<MPI_Request, 5> requests;
    // The members of `even` and of `quarter` begin theirs in different orders.
    CHECK_OK(MPI_Comm_idup(here.comm, &made[0], &requests[0]));
    const bool even_first = here.rank % 4 < 2;
    CHECK_OK(MPI_Comm_idup(even_first ? even : quarter, &made[even_first ? 1 : 2], &requests[even_first ? 1 : 2]));
    CHECK_OK(MPI_Comm_idup(even_first ? quarter : even, &made[even_first ? 2 : 1], &requests[even_first ? 2 : 1]));
    CHECK_OK(MPI_Comm_idup_with_info(here.comm, MPI_INFO_NULL, &made[3], &requests[3]));
    CHECK_OK(MPI_Comm_dup(here.comm, &made[5]));
    CHECK_OK(MPI_Comm_idup(even, &made[4], &requests[4]));
    CHECK_OK(MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
    void* copied = nullptr;
    int found = 0, same = MPI_UNEQUAL;
    CHECK_OK(MPI_Comm_get_attr(made[0], key, static_cast<void*>(&copied), &found));
    CHECK(found && copied == anchor + 1);
    CHECK_OK(MPI_Comm_compare(here.comm, made[3], &same));
    CHECK(same == MPI_CONGRUENT);
    exchange({made.begin(), made.end()});
    CHECK_OK(MPI_Barrier(made[0]));
    // The parent may be freed before the duplicate is complete.
    MPI_Comm late;
    MPI_Request request;
    CHECK_OK(MPI_Comm_idup(made[0], &late, &request));
    CHECK_OK(MPI_Comm_free(&made[0]));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(late));
    made[0] = late;
    CHECK_OK(MPI_Comm_delete_attr(here.comm, key));
    for (MPI_Comm& comm : made) {
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK_OK(MPI_Comm_free(&even));
    CHECK_OK(MPI_Comm_free(&quarter));
}

} // namespace

int main() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int key = MPI_KEYVAL_INVALID;
    CHECK_OK(MPI_Comm_create_keyval(copy_number, MPI_COMM_NULL_DELETE_FN, &key, nullptr));
    for (const int threads : {1, 2, 4}) {
        in_region(threads, threads != 4, [key](const Here& here) {
            for (int round = 0; round < 5; ++round) {
                duplicate(here, key);
            }
        });
    }
    CHECK_OK(MPI_Comm_free_keyval(&key));
    return finish();
}
