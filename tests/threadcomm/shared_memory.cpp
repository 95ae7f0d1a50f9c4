// SPDX-License-Identifier: BSD-3-Clause
// The collectives that coll/threads serves: sizes on both sides of a slot and of a block, members that run ahead,
// datatypes that differ between members, ops that are passed on, communicators that are freed at once.
#include "tests/mpi_check/shared_ints.h"
#include "tests/threadcomm/region.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace {

constexpr int counts[] = {0, 1, 2, 12, 13, 16, 17, 1023, 1024, 1025, 5000};

// The value of an element in one rank and round: sums stay exact.
long value(int rank, int round, int i) {
    return long(rank + 1) * 1000 + round * 7 + i % 97;
}
long sum(int size, int round, int i) {
    return long(size) * (size + 1) / 2 * 1000 + long(size) * (round * 7 + i % 97);
}

template <class T>
void reductions(const Here& here, MPI_Datatype type) {
    int round = 0;
    for (const int count : counts) {
        std::vector<T> in(std::size_t(count) + 1), out(std::size_t(count) + 1), place(std::size_t(count) + 1);
        for (int root = 0; root < here.size; ++root, ++round) {
            for (int i = 0; i < count; ++i) {
                in[std::size_t(i)] = place[std::size_t(i)] = T(value(here.rank, round, i));
            }
            out.assign(out.size(), T(-1));
            place.back() = T(-1);
            const auto is_sum = [&](const std::vector<T>& result) {
                for (int i = 0; i < count; ++i) {
                    if (result[std::size_t(i)] != T(sum(here.size, round, i))) {
                        return false;
                    }
                }
                return result.back() == T(-1);
            };
            CHECK_OK(MPI_Reduce(in.data(), out.data(), count, type, MPI_SUM, root, here.comm));
            CHECK(here.rank == root ? is_sum(out) : std::count(out.begin(), out.end(), T(-1)) == count + 1);
            const bool is_root = here.rank == root;
            CHECK_OK(MPI_Reduce(is_root ? MPI_IN_PLACE : in.data(), is_root ? place.data() : nullptr, count, type,
                MPI_SUM, root, here.comm));
            CHECK(!is_root || is_sum(place));
            out.assign(out.size(), T(-1));
            CHECK_OK(MPI_Allreduce(in.data(), out.data(), count, type, MPI_SUM, here.comm));
            CHECK(is_sum(out));
            std::copy_n(in.begin(), count, place.begin());
            CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, place.data(), count, type, MPI_SUM, here.comm));
            CHECK(is_sum(place));
        }
    }
}

// No member waits for the others after each of these, so that some run ahead as far as they can; the buffer of a root
// is its own again when the call returns.
void run_ahead(const Here& here) {
    for (int round = 0; round < 2000; ++round) {
        const int root = round % 5 == 0 ? round / 5 % here.size : 0;
        long word = here.rank == root ? round : -1;
        CHECK_OK(MPI_Bcast(&word, 1, MPI_LONG, root, here.comm));
        CHECK_EQUAL(word, long(round));
        word = -2;
        if (round % 3 == 0) {
            const int one = round;
            int all = -1;
            CHECK_OK(MPI_Reduce(&one, &all, 1, MPI_INT, MPI_SUM, root, here.comm));
            CHECK(here.rank != root || all == round * here.size);
        }
        if (round % 17 == 0) {
            std::vector<int> many(1000, here.rank == root ? round : -1);
            CHECK_OK(MPI_Bcast(many.data(), 1000, MPI_INT, root, here.comm));
            CHECK_EQUAL(many[0] + many[999], 2 * round);
            many.assign(1000, -3);
        }
    }
}

// `entered`: in memory that all processes share; 0 before.
void barriers(MPI_Comm comm, int* entered) {
    int size = 0;
    CHECK_OK(MPI_Comm_size(comm, &size));
    for (int round = 1; round <= 300; ++round) {
        __atomic_fetch_add(entered, 1, __ATOMIC_RELAXED);
        CHECK_OK(MPI_Barrier(comm));
        CHECK(__atomic_load_n(entered, __ATOMIC_RELAXED) >= round * size);
        CHECK_OK(MPI_Barrier(comm));
        CHECK_EQUAL(__atomic_load_n(entered, __ATOMIC_RELAXED), round * size);
        CHECK_OK(MPI_Barrier(comm));
    }
}

// Communicators with some of the threads of each process, in another order, and with one thread of each process.
void barriers_of_parts(const Here& here, int* entered) {
    for (const int parts : {2, 3, here.size}) {
        MPI_Comm part;
        const int color = here.rank % parts;
        CHECK_OK(MPI_Comm_split(here.comm, color, -here.rank, &part));
        barriers(part, &entered[color]);
        CHECK_OK(MPI_Comm_free(&part));
        CHECK_OK(MPI_Barrier(here.comm));
        if (here.rank < parts) {
            entered[here.rank] = 0;
        }
        CHECK_OK(MPI_Barrier(here.comm));
    }
}

// The root has a vector, the others a block, or the other way round.
void layouts(const Here& here) {
    for (const int count : {3, 700, 3000}) {
        for (const bool root_has_gaps : {true, false}) {
            MPI_Datatype every_second;
            CHECK_OK(MPI_Type_vector(count, 1, 2, MPI_INT, &every_second));
            CHECK_OK(MPI_Type_commit(&every_second));
            std::vector<int> data(std::size_t(2 * count), -1);
            const bool gaps = (here.rank == 0) == root_has_gaps;
            const auto place = [&](int i) { return std::size_t(gaps ? 2 * i : i); };
            for (int i = 0; here.rank == 0 && i < count; ++i) {
                data[place(i)] = i + 5;
            }
            CHECK_OK(MPI_Bcast(data.data(), gaps ? 1 : count, gaps ? every_second : MPI_INT, 0, here.comm));
            for (int i = 0; i < count; ++i) {
                CHECK_EQUAL(data[place(i)], i + 5);
            }
            CHECK(!gaps || data[1] == -1);
            CHECK_OK(MPI_Type_free(&every_second));
        }
    }
}

// 2 x 2 matrices modulo 2^32, whose product does not commute.
void multiply(void* in, void* inout, int* length, MPI_Datatype*) {
    const auto* a = static_cast<const std::uint32_t*>(in);
    auto* b = static_cast<std::uint32_t*>(inout);
    for (int i = 0; i < *length; i += 4, a += 4, b += 4) {
        const std::uint32_t product[] = {
            a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
        std::copy_n(product, 4, b);
    }
}

void passed_on(const Here& here) {
    MPI_Datatype matrix;
    CHECK_OK(MPI_Type_contiguous(4, MPI_UINT32_T, &matrix));
    CHECK_OK(MPI_Type_commit(&matrix));
    MPI_Op op;
    CHECK_OK(MPI_Op_create(
        [](void* in, void* inout, int* length, MPI_Datatype* type) {
            int words = *length * 4;
            multiply(in, inout, &words, type);
        },
        0, &op));
    std::uint32_t expected[] = {1, 0, 0, 1};
    for (int rank = here.size - 1; rank >= 0; --rank) {
        std::uint32_t factor[] = {1, std::uint32_t(rank + 1), std::uint32_t(rank + 2), 3};
        int words = 4;
        MPI_Datatype none = MPI_UINT32_T;
        multiply(factor, expected, &words, &none);
    }
    const std::uint32_t mine[] = {1, std::uint32_t(here.rank + 1), std::uint32_t(here.rank + 2), 3};
    std::uint32_t product[4];
    CHECK_OK(MPI_Allreduce(mine, product, 1, matrix, op, here.comm));
    CHECK(std::equal(product, product + 4, expected));
    struct {
        double value;
        int rank;
    } best{double(here.rank % 3), here.rank}, result{};
    CHECK_OK(MPI_Allreduce(&best, &result, 1, MPI_DOUBLE_INT, MPI_MAXLOC, here.comm));
    CHECK_EQUAL(result.rank, std::min(here.size - 1, 2));
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPI_Type_free(&matrix));
}

// A member that waits in a collective goes on with its messages: the long one is not complete before the barrier.
void messages_meanwhile(const Here& here) {
    std::vector<int> data(100000, here.rank), got(100000, -1);
    const int right = (here.rank + 1) % here.size, left = (here.rank + here.size - 1) % here.size;
    MPI_Request requests[2];
    CHECK_OK(MPI_Isend(data.data(), 100000, MPI_INT, right, 1, here.comm, &requests[0]));
    if (here.rank % 2 == 0) {
        CHECK_OK(MPI_Barrier(here.comm));
    }
    CHECK_OK(MPI_Irecv(got.data(), 100000, MPI_INT, left, 1, here.comm, &requests[1]));
    if (here.rank % 2 != 0) {
        CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Barrier(here.comm));
    }
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_EQUAL(got[99999], left);
}

// Members that wait for all get the error, and the communicator can be used afterwards.
void different_counts(const Here& here) {
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(here.comm, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    std::vector<int> data(1000, 1), result(1000, -1);
    for (const auto& [of_first, of_others] : {std::pair{2, 3}, {100, 3}, {3, 100}, {0, 3}, {0, 100}, {999, 1000}}) {
        const int count = here.rank == 0 ? of_first : of_others;
        CHECK_CLASS(MPI_Allreduce(data.data(), result.data(), count, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
        const int code = MPI_Reduce(data.data(), result.data(), count, MPI_INT, MPI_SUM, 0, comm);
        if (here.rank == 0) {
            CHECK_CLASS(code, MPI_ERR_COUNT);
        }
        CHECK_OK(MPI_Barrier(comm));
        CHECK_OK(MPI_Allreduce(data.data(), result.data(), 1000, MPI_INT, MPI_SUM, comm));
        CHECK_EQUAL(result[999], here.size);
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

// A root is through with its communicator before another member has constructed its own.
void freed_at_once(const Here& here) {
    for (int round = 0; round < 20; ++round) {
        MPI_Comm half;
        CHECK_OK(MPI_Comm_split(here.comm, here.rank % 2, round % 2 != 0 ? here.rank : -here.rank, &half));
        int rank = -1, size = -1;
        CHECK_OK(MPI_Comm_rank(half, &rank));
        CHECK_OK(MPI_Comm_size(half, &size));
        int word = rank == 0 ? here.rank % 2 + 10 * round : -1;
        CHECK_OK(MPI_Bcast(&word, 1, MPI_INT, 0, half));
        CHECK_EQUAL(word, here.rank % 2 + 10 * round);
        CHECK_OK(MPI_Comm_free(&half));
    }
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    for (const int threads : {1, 2, 3, 4, 8}) {
        int* const entered = shared_ints(MPI_COMM_WORLD, 40); // 33 are used
        int processes = 1;
        MPI_Comm_size(MPI_COMM_WORLD, &processes);
        in_region(threads, true, [&](const Here& here) {
            reductions<int>(here, MPI_INT);
            reductions<double>(here, MPI_DOUBLE);
            run_ahead(here);
            layouts(here);
            passed_on(here);
            messages_meanwhile(here);
            freed_at_once(here);
            barriers(here.comm, &entered[32]);
            if (processes == 1 && here.size > 1 && std::getenv("PATCHBAY_MCA_coll") == nullptr) {
                different_counts(here);
            }
        });
        in_region(threads, false, [&](const Here& here) { barriers_of_parts(here, entered); });
    }
    return finish();
}
