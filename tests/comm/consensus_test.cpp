// SPDX-License-Identifier: BSD-3-Clause
// The consensus component among simulated processes: each has its own table of indices; messages are shared memory.
#include "components/cid/consensus/consensus.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>

using namespace patchbay;

namespace {

// What the members of one construction have told each other.
class Exchange {
public:
    explicit Exchange(std::size_t members)
        : _members(members) {}

    std::size_t contribute(
        std::size_t round, std::span<const std::uint64_t> words, cid::Agreement::Reduction reduction) {
        std::lock_guard lock(_mutex);
        if (round == _rounds.size()) {
            _rounds.push_back({0, {words.begin(), words.end()}});
        }
        Round& now = _rounds[round];
        for (std::size_t i = 0; i < words.size(); ++i) {
            now.words[i] = reduction == cid::Agreement::Reduction::maximum ? std::max(now.words[i], words[i])
                                                                           : std::min(now.words[i], words[i]);
        }
        return ++now.contributions;
    }
    bool complete(std::size_t round) const {
        std::lock_guard lock(_mutex);
        return round < _rounds.size() && _rounds[round].contributions == _members;
    }
    std::vector<std::uint64_t> result(std::size_t round) const {
        std::lock_guard lock(_mutex);
        return _rounds[round].words;
    }

private:
    struct Round {
        std::size_t contributions;
        std::vector<std::uint64_t> words;
    };
    std::size_t _members;
    mutable std::mutex _mutex;
    std::vector<Round> _rounds;
};

class SimulatedAgreement final : public cid::Agreement {
public:
    explicit SimulatedAgreement(Exchange& exchange)
        : _exchange(exchange) {}
    int start(std::span<std::uint64_t> words, Reduction reduction) noexcept override {
        _words = words;
        _exchange.contribute(_round, words, reduction);
        return MPI_SUCCESS;
    }
    bool ready() const noexcept override { return _exchange.complete(_round); }
    bool advance(int* code) noexcept override {
        *code = MPI_SUCCESS;
        if (!ready()) {
            return false;
        }
        std::ranges::copy(_exchange.result(_round), _words.begin());
        ++_round;
        return true;
    }

private:
    Exchange& _exchange;
    std::size_t _round = 0;
    std::span<std::uint64_t> _words;
};

// One process's part in one construction.
struct Part {
    Part(cid::IndexTable& table, Exchange& exchange, std::uint64_t key)
        : agreement(exchange),
          assignment(table, counters, {comm, nullptr, agreement, nullptr, key, {}}) {}
    ~Part() { delete comm.name_service; }

    Communicator comm;
    SimulatedAgreement agreement;
    cid::Counters counters;
    cid::ConsensusAssignment assignment;
    bool finished = false;

    void step() {
        int code = MPI_SUCCESS;
        if (!finished && assignment.ready() && assignment.advance(&code)) {
            finished = true;
            EXPECT_EQ(code, MPI_SUCCESS);
        }
    }
};

struct Job {
    explicit Job(std::size_t processes)
        : tables(processes) {}
    std::vector<cid::IndexTable> tables;

    // All processes make `count` communicators at once, each process in its own order.
    std::vector<std::vector<std::unique_ptr<Part>>> begin(std::size_t count) {
        std::vector<std::vector<std::unique_ptr<Part>>> parts(count);
        for (std::size_t c = 0; c < count; ++c) {
            exchanges.push_back(std::make_unique<Exchange>(tables.size()));
            for (cid::IndexTable& table : tables) {
                parts[c].push_back(std::make_unique<Part>(table, *exchanges.back(), exchanges.size()));
            }
        }
        return parts;
    }
    std::vector<std::unique_ptr<Exchange>> exchanges;
};

std::uint16_t common_index(const std::vector<std::unique_ptr<Part>>& parts) {
    for (const auto& part : parts) {
        EXPECT_TRUE(part->finished);
        EXPECT_EQ(part->comm.index, parts.front()->comm.index);
        EXPECT_EQ(part->comm.name_service->peer_index(0), part->comm.index);
    }
    return parts.front()->comm.index;
}

void run_in_turn(std::vector<std::unique_ptr<Part>>& parts) {
    while (!std::ranges::all_of(parts, [](const auto& part) { return part->finished; })) {
        for (auto& part : parts) {
            part->step();
        }
    }
}

} // namespace

TEST(consensus, equal_tables_agree_in_one_round) {
    Job job(5);
    auto parts = job.begin(1);
    run_in_turn(parts[0]);
    EXPECT_EQ(common_index(parts[0]), cid::IndexTable::predefined);
    EXPECT_EQ(parts[0][0]->assignment.rounds(), 1u);
}

TEST(consensus, the_lowest_index_that_is_free_everywhere) {
    Job job(3);
    job.tables[0].reserve(3);
    job.tables[1].reserve(3);
    job.tables[1].reserve(4);
    auto parts = job.begin(1);
    run_in_turn(parts[0]);
    EXPECT_EQ(common_index(parts[0]), 5);
    EXPECT_EQ(parts[0][0]->assignment.rounds(), 2u);
    EXPECT_EQ(job.tables[2].reserve_lowest(0), 3u); // what was only proposed is free again
}

TEST(consensus, an_index_that_is_free_in_nobody_else_is_passed_over) {
    Job job(2);
    for (const std::uint32_t taken : {3u, 5u}) {
        job.tables[0].reserve(taken);
    }
    for (const std::uint32_t taken : {4u, 6u}) {
        job.tables[1].reserve(taken);
    }
    auto parts = job.begin(1);
    run_in_turn(parts[0]);
    EXPECT_GE(common_index(parts[0]), 7);
}

TEST(consensus, no_index_left_is_an_error_everywhere) {
    Job job(2);
    job.tables[1].set_limit(4);
    job.tables[1].reserve(3);
    job.tables[1].reserve(4);
    auto parts = job.begin(1);
    int code[2] = {MPI_SUCCESS, MPI_SUCCESS};
    EXPECT_FALSE(parts[0][0]->assignment.advance(&code[0]));
    EXPECT_TRUE(parts[0][1]->assignment.advance(&code[1]));
    EXPECT_TRUE(parts[0][0]->assignment.advance(&code[0]));
    EXPECT_EQ(code[0], MPI_ERR_NO_SPACE);
    EXPECT_EQ(code[1], MPI_ERR_NO_SPACE);
    parts.clear();
    EXPECT_EQ(job.tables[0].live(), cid::IndexTable::predefined);
}

// Several threads per process make communicators at once and take each other's indices away, in any order.
TEST(consensus, many_at_once_in_any_order) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        constexpr std::size_t processes = 4;
        constexpr std::size_t count = 8;
        Job job(processes);
        for (cid::IndexTable& table : job.tables) {
            for (std::uint32_t index = 2; index < 10; ++index) {
                if (random() % 3 == 0) {
                    table.reserve(index);
                }
            }
        }
        auto parts = job.begin(count);
        std::size_t steps = 0;
        const auto open = [&] {
            return std::ranges::any_of(parts, [](const auto& one) {
                return std::ranges::any_of(one, [](const auto& part) { return !part->finished; });
            });
        };
        while (open() && steps++ < 200000) {
            parts[random() % count][random() % processes]->step();
        }
        std::set<std::uint16_t> indices;
        for (const auto& one : parts) {
            indices.insert(common_index(one));
            EXPECT_LT(one[0]->assignment.rounds(), 60u) << "seed " << seed;
        }
        EXPECT_EQ(indices.size(), count) << "seed " << seed;
    }
}

TEST(consensus, many_at_once_in_real_threads) {
    constexpr std::size_t processes = 2;
    constexpr std::size_t count = 4;
    Job job(processes);
    for (int round = 0; round < 50; ++round) {
        auto parts = job.begin(count);
        std::vector<std::thread> threads;
        for (auto& one : parts) {
            for (auto& part : one) {
                threads.emplace_back([&part] {
                    while (!part->finished) {
                        part->step();
                        std::this_thread::yield();
                    }
                });
            }
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        std::set<std::uint16_t> indices;
        for (const auto& one : parts) {
            indices.insert(common_index(one));
        }
        EXPECT_EQ(indices.size(), count);
        for (const std::uint16_t index : indices) {
            for (cid::IndexTable& table : job.tables) {
                table.release(index);
            }
        }
    }
}
