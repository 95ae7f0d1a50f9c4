// SPDX-License-Identifier: BSD-3-Clause
// A thread that waits for requests of its process and of a thread communicator goes on with both: whichever is first in
// the array, and also where it waits for one of the process only while another thread needs it on the thread
// communicator.
#include "tests/threadcomm/region.h"

#include <array>
#include <utility>

namespace {

enum class Form { wait_any, wait_some, test_any, test_some };

// The index of a request that has completed.
int complete_one(Form form, std::array<MPI_Request, 2>& requests) {
    int index = MPI_UNDEFINED, done = 0;
    std::array<int, 2> indices{};
    switch (form) {
    case Form::wait_any:
        CHECK_OK(MPI_Waitany(2, requests.data(), &index, MPI_STATUS_IGNORE));
        return index;
    case Form::wait_some:
        CHECK_OK(MPI_Waitsome(2, requests.data(), &done, indices.data(), MPI_STATUSES_IGNORE));
        return indices[0];
    case Form::test_any:
        while (done == 0) {
            CHECK_OK(MPI_Testany(2, requests.data(), &index, &done, MPI_STATUS_IGNORE));
        }
        return index;
    case Form::test_some:
        while (done == 0) {
            CHECK_OK(MPI_Testsome(2, requests.data(), &done, indices.data(), MPI_STATUSES_IGNORE));
        }
        return indices[0];
    }
    return MPI_UNDEFINED;
}

// Rank 0 receives from the process itself and from the other thread, whose message comes first.
void first_of_two(const Here& here, Form form, bool process_first) {
    int value = here.rank, of_process = -1, of_thread = -1;
    if (here.rank == 0) {
        std::array<MPI_Request, 2> requests{};
        CHECK_OK(MPI_Irecv(&of_process, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &requests[process_first ? 0 : 1]));
        CHECK_OK(MPI_Irecv(&of_thread, 1, MPI_INT, 1, 0, here.comm, &requests[process_first ? 1 : 0]));
        CHECK_OK(MPI_Barrier(here.comm));
        CHECK_EQUAL(complete_one(form, requests), process_first ? 1 : 0);
        CHECK_EQUAL(of_thread, 1);
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 1, 1, here.comm));
        CHECK_OK(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
        CHECK_EQUAL(of_process, 1);
    } else {
        CHECK_OK(MPI_Barrier(here.comm));
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 0, here.comm));
        CHECK_OK(MPI_Recv(&of_thread, 1, MPI_INT, 0, 1, here.comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_SELF));
    }
}

// Rank 0 waits for a message of the process, which rank 1 sends when its synchronous message on the thread communicator
// has been received.
void waits_for_the_process(const Here& here, bool in_array) {
    int value = here.rank, of_process = -1, of_thread = -1;
    if (here.rank == 0) {
        std::array<MPI_Request, 2> requests{};
        CHECK_OK(MPI_Irecv(&of_process, 1, MPI_INT, 0, 6, MPI_COMM_SELF, &requests[0]));
        CHECK_OK(MPI_Irecv(&of_thread, 1, MPI_INT, 1, 2, here.comm, &requests[1]));
        CHECK_OK(MPI_Barrier(here.comm));
        if (!in_array) {
            CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        }
        CHECK_OK(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
        CHECK_EQUAL(of_process, 1);
        CHECK_EQUAL(of_thread, 1);
    } else {
        CHECK_OK(MPI_Barrier(here.comm));
        CHECK_OK(MPI_Ssend(&value, 1, MPI_INT, 0, 2, here.comm));
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 6, MPI_COMM_SELF));
    }
}

} // namespace

int main() {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_SELF, 2, &comm));
    run_threads(comm, 2, [](const Here& here) {
        for (const Form form : {Form::wait_any, Form::wait_some, Form::test_any, Form::test_some}) {
            first_of_two(here, form, true);
            first_of_two(here, form, false);
        }
        waits_for_the_process(here, true);
        waits_for_the_process(here, false);
    });
    CHECK_OK(MPIX_Threadcomm_free(&comm));
    return finish();
}
