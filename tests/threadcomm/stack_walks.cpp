// SPDX-License-Identifier: BSD-3-Clause
// The checking mode walks the stack for what it checks, and messages between threads are not: neither they themselves
// nor the messages of processes in which they travel.
#include "tests/threadcomm/region.h"

#include <dlfcn.h>
#include <unwind.h>

#include <atomic>

namespace {

std::atomic<int> walks{0};

} // namespace

// In place of the function of the compiler's library, which it calls.
extern "C" _Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn function, void* argument) {
    using Function = _Unwind_Reason_Code (*)(_Unwind_Trace_Fn, void*);
    walks.fetch_add(1, std::memory_order_relaxed);
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, "_Unwind_Backtrace"))(function, argument);
}

namespace {

void exchange(const Here& here, std::size_t length) {
    const int right = (here.rank + 1) % here.size, left = (here.rank + here.size - 1) % here.size;
    std::vector<int> out(length, here.rank), in(length, -1);
    for (int i = 0; i < 50; ++i) {
        CHECK_OK(MPI_Sendrecv(out.data(), int(length), MPI_INT, right, 1, in.data(), int(length), MPI_INT, left, 1,
            here.comm, MPI_STATUS_IGNORE));
        CHECK(in.back() == left);
    }
}

} // namespace

int main() {
    MPI_Init(nullptr, nullptr);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    in_region(2, true, [](const Here& here) {
        exchange(here, 1); // the first message finds its way, too
        exchange(here, 20'000);
        const int before = walks.load();
        exchange(here, 1);
        exchange(here, 20'000);
        CHECK_EQUAL(walks.load() - before, 0);
        CHECK_OK(MPI_Barrier(here.comm)); // a thread that has finished may be noted, and looked for
    });
    const int before = walks.load();
    MPI_Request request = MPI_REQUEST_NULL;
    int out = 0, in = 0;
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, rank, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(walks.load() > before); // this is how a walk is counted
    return finish();
}
