// SPDX-License-Identifier: BSD-3-Clause
// All members of an MPI_Allreduce get the same result, bit by bit, also where the result depends on which operand is
// the left one: zeros of both signs, numbers beside NaNs, sums and complex products that are rounded, an op of the
// program.
#include "tests/mpi_check/check.h"

#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

namespace {

int rank = 0;
int ranks = 0;

// Element i of a rank: of each pair of neighbours one has one of two values that an op may take for equal.
double value(int of, int i) {
    const bool odd = (of + i / 4) % 2 != 0;
    switch (i % 4) {
    case 0:
        return odd ? 0.0 : -0.0;
    case 1:
        return odd ? std::numeric_limits<double>::quiet_NaN() : 1.0;
    case 2:
        return 1e16 / (3 * of + 1) * (odd ? -1 : 1);
    default:
        return 0.1 * (of + 1) + 1e-3 * i;
    }
}

// One of the two operands is taken, so that the op commutes only for those who take equal numbers for the same.
void larger(void* in, void* inout, int* count, MPI_Datatype*) {
    const auto* left = static_cast<const double*>(in);
    auto* right = static_cast<double*>(inout);
    for (int i = 0; i < *count; ++i) {
        right[i] = left[i] >= right[i] ? left[i] : right[i];
    }
}

template <class T>
void compare_with_others(const std::vector<T>& mine, const char* op) {
    const int bytes = int(mine.size() * sizeof(T));
    std::vector<T> all(mine.size() * std::size_t(ranks));
    CHECK_OK(MPI_Allgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, MPI_COMM_WORLD));
    for (int other = 0; other < ranks; ++other) {
        const bool equal =
            std::memcmp(mine.data(), all.data() + mine.size() * std::size_t(other), std::size_t(bytes)) == 0;
        if (!equal) {
            std::fprintf(stderr, "%s: the results of %zu elements in ranks %d and %d are different\n", op, mine.size(),
                rank, other);
        }
        CHECK_TEXT(equal, op);
    }
}

template <class T>
void test(const std::vector<T>& contribution, MPI_Datatype type, MPI_Op op, const char* name) {
    const int count = int(contribution.size());
    std::vector<T> result(contribution.size());
    CHECK_OK(MPI_Allreduce(contribution.data(), result.data(), count, type, op, MPI_COMM_WORLD));
    compare_with_others(result, name);
    result = contribution;
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, result.data(), count, type, op, MPI_COMM_WORLD));
    compare_with_others(result, name);
}

void test_all(int count, MPI_Op own) {
    std::vector<double> numbers;
    std::vector<std::complex<double>> complex_numbers;
    for (int i = 0; i < count; ++i) {
        numbers.push_back(value(rank, i));
        complex_numbers.emplace_back(0.1 * (rank + 1) + 1e-3 * i, 0.3 * (rank + 2) - 1e-3 * i);
    }
    test(numbers, MPI_DOUBLE, MPI_SUM, "MPI_SUM");
    test(numbers, MPI_DOUBLE, MPI_PROD, "MPI_PROD");
    test(numbers, MPI_DOUBLE, MPI_MAX, "MPI_MAX");
    test(numbers, MPI_DOUBLE, MPI_MIN, "MPI_MIN");
    test(numbers, MPI_DOUBLE, own, "an op of the program");
    test(complex_numbers, MPI_C_DOUBLE_COMPLEX, MPI_PROD, "MPI_PROD of complex numbers");
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Op own;
    MPI_Op_create(larger, 1, &own);
    for (const int count : {1, 8, 999, 40000}) {
        test_all(count, own);
    }
    MPI_Op_free(&own);
    return finish();
}
