// SPDX-License-Identifier: BSD-3-Clause
// The numbers that MPI_Dims_create chooses, against a search that tries everything.
#include "mpi/topologies/dims.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <gtest/gtest.h>
#include <vector>

using namespace patchbay;

namespace {

std::vector<int> dims_of(int nodes, std::vector<int> dims) {
    EXPECT_TRUE(create_dims(nodes, dims)) << nodes;
    return dims;
}

std::vector<int> free_dims(int nodes, std::size_t count) {
    return dims_of(nodes, std::vector<int>(count, 0));
}

// The least difference between the largest and the smallest of `count` factors.
int least_difference(int rest, std::size_t count, int largest, int smallest) {
    if (count == 0) {
        return rest == 1 ? largest - smallest : INT_MAX;
    }
    int least = INT_MAX;
    for (int factor = 1; factor <= rest; ++factor) {
        if (rest % factor == 0) {
            least = std::min(least,
                least_difference(rest / factor, count - 1, std::max(largest, factor), std::min(smallest, factor)));
        }
    }
    return least;
}

long long product(const std::vector<int>& dims) {
    long long result = 1;
    for (const int size : dims) {
        result *= size;
    }
    return result;
}

TEST(Dims, AreBalanced) {
    for (std::size_t count = 1; count <= 4; ++count) {
        for (int nodes = 1; nodes <= (count == 4 ? 100 : 300); ++nodes) {
            const std::vector<int> dims = free_dims(nodes, count);
            EXPECT_EQ(product(dims), nodes);
            EXPECT_TRUE(std::is_sorted(dims.rbegin(), dims.rend())) << nodes;
            EXPECT_EQ(dims.front() - dims.back(), least_difference(nodes, count, 0, INT_MAX)) << nodes << ' ' << count;
        }
    }
}

TEST(Dims, ManyDimensions) {
    const std::vector<int> dims = free_dims(6, 1'000'000);
    EXPECT_EQ(dims[0], 3);
    EXPECT_EQ(dims[1], 2);
    EXPECT_EQ(std::count(dims.begin(), dims.end(), 1), 1'000'000 - 2);
}

TEST(Dims, ExamplesOfTheStandard) {
    EXPECT_EQ(dims_of(6, {0, 0}), (std::vector<int>{3, 2}));
    EXPECT_EQ(dims_of(7, {0, 0}), (std::vector<int>{7, 1}));
    EXPECT_EQ(dims_of(6, {0, 3, 0}), (std::vector<int>{2, 3, 1}));
    std::vector<int> impossible = {0, 3, 0};
    EXPECT_FALSE(create_dims(7, impossible));
    EXPECT_EQ(impossible, (std::vector<int>{0, 3, 0}));
}

TEST(Dims, GivenElementsStay) {
    EXPECT_EQ(dims_of(24, {0, 2, 0}), (std::vector<int>{4, 2, 3}));
    EXPECT_EQ(dims_of(12, {3, 4}), (std::vector<int>{3, 4}));
    std::vector<int> too_few = {3, 2};
    EXPECT_FALSE(create_dims(12, too_few));
    std::vector<int> large = {INT_MAX, 0};
    EXPECT_FALSE(create_dims(12, large));
    EXPECT_EQ(dims_of(INT_MAX, {INT_MAX, 0}), (std::vector<int>{INT_MAX, 1}));
}

// The differences are the same as those of 20 x 18 x 14, 25 x 24 x 18, 13 x 12 x 6 x 6 and 14 x 12 x 12 x 7 x 7.
TEST(Dims, OfEqualDifferencesTheLargestLastFactorsAreTaken) {
    EXPECT_EQ(free_dims(5040, 3), (std::vector<int>{21, 16, 15}));
    EXPECT_EQ(free_dims(10800, 3), (std::vector<int>{27, 20, 20}));
    EXPECT_EQ(free_dims(5616, 4), (std::vector<int>{13, 9, 8, 6}));
    EXPECT_EQ(free_dims(98784, 5), (std::vector<int>{14, 14, 9, 8, 7}));
}

TEST(Dims, Powers) {
    EXPECT_EQ(free_dims(1 << 30, 3), (std::vector<int>{1024, 1024, 1024}));
    EXPECT_EQ(free_dims(4096, 3), (std::vector<int>{16, 16, 16}));
    EXPECT_EQ(free_dims(32, 3), (std::vector<int>{4, 4, 2}));
    EXPECT_EQ(free_dims(1, 5), (std::vector<int>(5, 1)));
}

// Numbers with many divisors, and many dimensions: the search is cut off early.
TEST(Dims, LargeNumbersTakeNoTime) {
    for (const int nodes : {735134400, 1396755360, 1 << 30, 2147483646, 2147483647, 1162261467}) {
        for (const std::size_t count : {2, 3, 4, 5, 8, 12, 31, 100}) {
            const std::vector<int> dims = free_dims(nodes, count);
            EXPECT_EQ(product(dims), nodes);
            EXPECT_TRUE(std::is_sorted(dims.rbegin(), dims.rend()));
        }
    }
    EXPECT_EQ(free_dims(2147483647, 2), (std::vector<int>{2147483647, 1}));
}

} // namespace
