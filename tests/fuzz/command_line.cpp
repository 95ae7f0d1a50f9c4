// SPDX-License-Identifier: BSD-3-Clause
// The words of mpirun's command line, one a line, and the layout of the job that they describe.
#include "launch/command_line.h"
#include "launch/placement.h"
#include "tests/fuzz/bytes.h"

#include <limits>

using namespace patchbay;
using namespace patchbay::launch;

namespace {

constexpr int cores = 4;
constexpr std::int64_t most_ranks = 10000; // so that an input takes little memory

std::int64_t ranks_of(const JobSpec& job) {
    std::int64_t ranks = 0;
    for (const AppSpec& app : job.apps) {
        ranks += app.ranks.value_or(cores);
    }
    return ranks;
}

void check_layout(const JobSpec& job) {
    // More ranks than that are refused, or cost memory and nothing else.
    const bool too_many = ranks_of(job) > std::numeric_limits<int>::max();
    if (ranks_of(job) > most_ranks && !too_many) {
        return;
    }
    auto layout = lay_out(job, "host", cores);
    if (!layout) {
        REQUIRE(!layout.error().text.empty());
        return;
    }
    REQUIRE(!too_many && layout->ranks > 0);
    for (int rank = 0; rank < layout->ranks; ++rank) {
        const int app = layout->app_of(rank);
        REQUIRE(layout->apps[app].first_rank <= rank && rank < layout->apps[app].first_rank + layout->apps[app].size);
    }
    for (const JobLayout::Pset& set : layout->psets) {
        REQUIRE(!set.ranks.empty() && set.ranks.front() >= 0 && set.ranks.back() < layout->ranks);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Bytes bytes(data, size);
    std::vector<std::string> words;
    while (!bytes.empty()) {
        words.emplace_back(bytes.until('\n').substr(0, 1000));
    }
    auto line = parse_command_line(words);
    if (!line) {
        REQUIRE(!line.error().text.empty());
        return 0;
    }
    if (line->request == CommandLine::Request::run) {
        REQUIRE(!line->job.apps.empty());
        for (const AppSpec& app : line->job.apps) {
            REQUIRE(!app.argv.empty() && app.ranks.value_or(1) > 0);
        }
        check_layout(line->job);
    }
    return 0;
}
