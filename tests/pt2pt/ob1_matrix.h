// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/pt2pt/ob1_job.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

// The jobs in which each test of pml/ob1 runs, and the data that it sends.
namespace patchbay::test {

inline const Datatype& byte() {
    return *to_object<Datatype>(MPI_BYTE);
}

inline std::vector<unsigned char> pattern(std::size_t size, unsigned seed) {
    std::vector<unsigned char> data(size);
    for (std::size_t i = 0; i < size; ++i) {
        data[i] = static_cast<unsigned char>(i * 131 + (i >> 8) * 17 + seed);
    }
    return data;
}

inline JobOptions without_single_copy(int ranks) {
    JobOptions options;
    options.ranks = ranks;
    options.sm.single_copy = btl::sm::SingleCopy::none;
    return options;
}

inline std::vector<JobOptions> matrix() {
    JobOptions two, four, small;
    four.ranks = 4;
    small.ranks = 3;
    small.sm.shape = {8, 4096};
    small.sm.eager_limit = 1024;
    small.ob1.fetch_chunk = 10000;
    JobOptions threaded;
    threaded.threaded = true;
    JobOptions alone, breaking;
    alone.ranks = 1;
    breaking.get_breaks = true;
    return {two, four, small, threaded, without_single_copy(2), without_single_copy(4), alone, breaking};
}

inline std::string name_of(const testing::TestParamInfo<JobOptions>& info) {
    const JobOptions& job = info.param;
    return std::to_string(info.index) + "_ranks" + std::to_string(job.ranks) +
        (job.sm.single_copy == btl::sm::SingleCopy::none ? "_copy" : "") + (job.threaded ? "_threaded" : "") +
        (job.get_breaks ? "_breaking" : "");
}

} // namespace patchbay::test
