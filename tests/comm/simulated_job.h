// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Components of framework cid with simulated processes. Each process has an index table; shared memory replaces
// messages.
#include "frameworks/cid/cid.h"
#include "frameworks/cid/counters.h"
#include "frameworks/cid/index_table.h"
#include "frameworks/cid/reduce_words.h"
#include "object/error_cause.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace patchbay::test {

// The words that the members of one construction exchange.
class Exchange {
public:
    explicit Exchange(std::size_t members)
        : _members(members) {}

    std::size_t contribute(
        std::size_t round, std::span<const std::uint64_t> words, cid::GroupReduction::Operation operation) {
        std::lock_guard lock(_mutex);
        if (round == _rounds.size()) {
            _rounds.push_back({0, {words.begin(), words.end()}});
        }
        Round& now = _rounds[round];
        for (std::size_t i = 0; i < words.size(); ++i) {
            reduce_word(now.words[i], words[i], operation);
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

class SimulatedReduction final : public cid::GroupReduction {
public:
    explicit SimulatedReduction(Exchange& exchange)
        : _exchange(exchange) {}
    int start(std::span<std::uint64_t> words, Operation operation) noexcept override {
        _words = words;
        _exchange.contribute(_round, words, operation);
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

// The part of one process in one construction.
struct Part {
    explicit Part(Exchange& exchange)
        : reduction(exchange) {}
    ~Part() { delete comm.id; }

    Communicator comm;
    SimulatedReduction reduction;
    cid::Counters counters;
    std::unique_ptr<cid::Allocation> allocation;
    bool finished = false;
    int code = MPI_SUCCESS;
    std::string cause; // the text with which this process reports the error

    void step() {
        if (!finished && allocation->ready() && allocation->advance(&code)) {
            finished = true;
            cause = noted_cause(code);
        }
    }
    std::uint64_t rounds() const { return counters.rounds.value(); }
};

struct Job {
    // Begins the part of one process. `number` identifies the CID allocation; only the leader, process 0, has it.
    using Begin = std::function<std::unique_ptr<cid::Allocation>(std::size_t process, cid::Counters& counters,
        const cid::NewCommunicator& what, std::optional<std::uint64_t> number)>;
    using Parts = std::vector<std::unique_ptr<Part>>; // one per process

    Job(std::size_t processes, Begin begin)
        : tables(processes),
          refusals(processes, MPI_SUCCESS),
          begin_part(std::move(begin)) {}

    // A construction for which no process has called begin_part().
    Parts prepare() {
        Parts parts;
        exchanges.push_back(std::make_unique<Exchange>(tables.size()));
        for (std::size_t process = 0; process < tables.size(); ++process) {
            parts.push_back(std::make_unique<Part>(*exchanges.back()));
        }
        return parts;
    }
    void begin(Parts& parts, std::size_t process, std::uint64_t number) {
        Part& part = *parts[process];
        cid::NewCommunicator what{part.comm, nullptr, part.reduction, nullptr, {}}; // the same in all processes
        what.refusal = refusals[process];
        part.allocation = begin_part(
            process, part.counters, what, process == 0 ? std::optional<std::uint64_t>(number) : std::nullopt);
    }
    // All processes make `count` communicators at once.
    std::vector<Parts> begin(std::size_t count) {
        std::vector<Parts> parts;
        for (std::size_t c = 0; c < count; ++c) {
            parts.push_back(prepare());
            for (std::size_t process = 0; process < tables.size(); ++process) {
                begin(parts.back(), process, exchanges.size());
            }
        }
        return parts;
    }

    std::vector<cid::IndexTable> tables;
    std::vector<int> refusals; // of the processes, in constructions that begin later
    Begin begin_part;
    std::vector<std::unique_ptr<Exchange>> exchanges;
};

inline std::uint16_t common_index(const Job::Parts& parts) {
    for (const auto& part : parts) {
        EXPECT_TRUE(part->finished);
        EXPECT_EQ(part->code, MPI_SUCCESS);
        EXPECT_EQ(part->comm.index, parts.front()->comm.index);
        if (part->comm.id != nullptr) {
            EXPECT_EQ(part->comm.id->peer_index(0), part->comm.index);
        }
    }
    return parts.front()->comm.index;
}

// The cause of the error in a process with `used` indices in use, when no index is free in all members.
inline std::string none_common(const std::string& component, std::uint32_t used) {
    return component + ": no index is free in all members of a communicator to be made (this process uses " +
        std::to_string(used) + " of ";
}

inline bool all_finished(const Job::Parts& parts) {
    return std::ranges::all_of(parts, [](const auto& part) { return part->finished; });
}

inline void run_round_robin(Job::Parts& parts) {
    while (!all_finished(parts)) {
        for (auto& part : parts) {
            part->step();
        }
    }
}

// Advances random parts until all have finished; false when they have not after `most_steps` steps.
inline bool run_at_random(std::vector<Job::Parts>& all, std::mt19937& random, std::size_t most_steps) {
    for (std::size_t steps = 0; steps < most_steps; ++steps) {
        if (steps % 64 == 0 && std::ranges::all_of(all, all_finished)) {
            return true;
        }
        Job::Parts& parts = all[random() % all.size()];
        parts[random() % parts.size()]->step();
    }
    return false;
}

// Runs every part in its own thread.
inline void run_in_threads(std::vector<Job::Parts>& all) {
    std::vector<std::thread> threads;
    for (auto& parts : all) {
        for (auto& part : parts) {
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
}

// The indices of all communicators; fails when two are equal.
inline std::set<std::uint16_t> distinct_indices(const std::vector<Job::Parts>& all) {
    std::set<std::uint16_t> indices;
    for (const auto& parts : all) {
        EXPECT_TRUE(indices.insert(common_index(parts)).second);
    }
    return indices;
}

// Processes that refuse a communicator take part, and all of them get the error in the first reduction.
template <class Job>
void check_refusals() {
    Job job(3);
    const auto codes = [&job] {
        auto parts = job.begin(1);
        run_round_robin(parts[0]);
        std::vector<int> codes;
        for (const auto& part : parts[0]) {
            EXPECT_TRUE(part->finished);
            EXPECT_EQ(part->rounds(), 1u);
            codes.push_back(part->code);
        }
        return codes;
    };
    job.refusals = {MPI_SUCCESS, MPI_ERR_NO_MEM, MPI_SUCCESS};
    EXPECT_EQ(codes(), std::vector<int>(3, MPI_ERR_NO_MEM));
    job.refusals = {MPI_ERR_NO_SPACE, MPI_SUCCESS, MPI_ERR_NO_SPACE};
    EXPECT_EQ(codes(), std::vector<int>(3, MPI_ERR_NO_SPACE));
    job.refusals = {MPI_ERR_NO_SPACE, MPI_SUCCESS, MPI_ERR_NO_MEM}; // each returns its own
    const std::vector<int> different = codes();
    EXPECT_EQ(different[0], MPI_ERR_NO_SPACE);
    EXPECT_NE(different[1], MPI_SUCCESS);
    EXPECT_EQ(different[2], MPI_ERR_NO_MEM);
    job.refusals = {MPI_SUCCESS, MPI_SUCCESS, MPI_SUCCESS};
    auto parts = job.begin(1);
    run_round_robin(parts[0]);
    EXPECT_EQ(common_index(parts[0]), cid::IndexTable::predefined); // they have kept no index
}

} // namespace patchbay::test
