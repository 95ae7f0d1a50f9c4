// SPDX-License-Identifier: BSD-3-Clause
// Dynamic windows: only the target knows what is attached. An access outside of it changes nothing, and the call that
// completes the operation returns MPI_ERR_RMA_RANGE, in every kind of epoch; the next epoch is not disturbed.
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <vector>

namespace {

int rank, size, target;
constexpr int ints = 5000; // more than one control message takes
MPI_Win win;
std::vector<int> memory(ints);
std::vector<MPI_Aint> places;

MPI_Aint inside() {
    return places[std::size_t(target)];
}
MPI_Aint outside(int count) {
    return inside() + MPI_Aint(sizeof(int)) * (ints - count + 1);
}

void put(MPI_Aint place, int count) {
    static const std::vector<int> data(ints, 77);
    CHECK_OK(MPI_Put(data.data(), count, MPI_INT, target, place, count, MPI_INT, win));
}

void passive(int count) {
    std::vector<int> back(std::size_t(count), -1);
    const std::vector<int> ones(std::size_t(count), 1);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    put(outside(count), count);
    CHECK_CLASS(MPI_Win_flush(target, win), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_flush(target, win));
    CHECK_OK(MPI_Get(back.data(), count, MPI_INT, target, outside(count), count, MPI_INT, win));
    CHECK_CLASS(MPI_Win_flush(target, win), MPI_ERR_RMA_RANGE);
    CHECK_EQUAL(back[0], -1);
    CHECK_OK(MPI_Get_accumulate(ones.data(), count, MPI_INT, back.data(), count, MPI_INT, target, outside(count), count,
        MPI_INT, MPI_SUM, win));
    CHECK_CLASS(MPI_Win_flush_local(target, win), MPI_ERR_RMA_RANGE);
    MPI_Request request;
    CHECK_OK(MPI_Rget(back.data(), count, MPI_INT, target, outside(count), count, MPI_INT, win, &request));
    CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Accumulate(back.data(), count, MPI_INT, target, outside(count), count, MPI_INT, MPI_SUM, win));
    CHECK_CLASS(MPI_Win_unlock(target, win), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_lock_all(0, win));
    put(outside(count), count);
    CHECK_CLASS(MPI_Win_flush_all(win), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_unlock_all(win));
}

void active(int count) {
    CHECK_OK(MPI_Win_fence(0, win));
    put(outside(count), count);
    CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_RMA_RANGE);
    put(inside(), count);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_EQUAL(memory[std::size_t(count) - 1], 77);
    CHECK(std::find(memory.begin() + count, memory.end(), 77) == memory.end());
    std::fill(memory.begin(), memory.end(), rank);
    MPI_Group all, to, from;
    const int origin = (rank + size - 1) % size;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &target, &to);
    MPI_Group_incl(all, 1, &origin, &from);
    CHECK_OK(MPI_Win_post(from, 0, win));
    CHECK_OK(MPI_Win_start(to, 0, win));
    put(outside(count), count);
    put(inside(), 1);
    CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_wait(win));
    CHECK_EQUAL(memory[0], 77);
    memory[0] = rank;
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

// Regions side by side are one; what is detached is not exposed.
void regions() {
    CHECK_OK(MPI_Win_detach(win, memory.data()));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    put(inside(), 1);
    CHECK_CLASS(MPI_Win_unlock(target, win), MPI_ERR_RMA_RANGE);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_attach(win, memory.data() + 100, 100 * sizeof(int)));
    CHECK_OK(MPI_Win_attach(win, memory.data(), 100 * sizeof(int)));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    put(inside(), 200);
    CHECK_OK(MPI_Win_flush(target, win));
    put(inside(), 201);
    CHECK_CLASS(MPI_Win_unlock(target, win), MPI_ERR_RMA_RANGE);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(memory[199], 77);
    CHECK_EQUAL(memory[200], rank);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    target = (rank + 1) % size;
    std::fill(memory.begin(), memory.end(), rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); // of the requests
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Win_attach(win, memory.data(), MPI_Aint(memory.size() * sizeof(int))));
    places.resize(std::size_t(size));
    MPI_Aint own;
    MPI_Get_address(memory.data(), &own);
    MPI_Allgather(&own, 1, MPI_AINT, places.data(), 1, MPI_AINT, MPI_COMM_WORLD);
    for (const int count : {10, 3000}) {
        passive(count);
        MPI_Barrier(MPI_COMM_WORLD);
        active(count);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    regions();
    CHECK_OK(MPI_Win_free(&win));
    return finish();
}
