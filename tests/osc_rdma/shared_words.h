// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/rdma/control_block.h"
#include "core/progress/progress.h"
#include "tests/core_runtime/processes.h"

#include <chrono>
#include <sched.h>
#include <thread>

namespace patchbay::osc::rdma::test {

inline constexpr int most_members = 16;
inline constexpr std::size_t block_words = 512;

// Control blocks in memory that forked processes share, as a btl would offer them.
struct SharedBlocks {
    struct alignas(64) Member {
        Doorbell bell;
        Words::Place words[block_words];
    };
    Member members[most_members];
};

// How a process reaches the blocks of the others: mapped, or by functions that only look like a network's, with a pause
// before and after each so that operations of several processes come in every order.
enum class Access : std::uint8_t { mapped, far };

class SharedWords final : public Words {
public:
    SharedWords(SharedBlocks& blocks, int rank, int size, Access access)
        : Words(rank, size),
          _blocks(blocks) {
        set_own(blocks.members[rank].words);
        for (int member = 0; member < size && access == Access::mapped; ++member) {
            set_mapped(member, blocks.members[member].words, &blocks.members[member].bell);
        }
    }

protected:
    int far_load(int member, Word word, std::uint64_t& value) noexcept override {
        pause();
        value = at(member, word).load();
        pause();
        return MPI_SUCCESS;
    }
    int far_set(int member, Word word, std::uint64_t value, bool wake) noexcept override {
        pause();
        at(member, word).store(value);
        if (wake) {
            _blocks.members[member].bell.notify();
        }
        pause();
        return MPI_SUCCESS;
    }
    int far_exchange(int member, Word word, std::uint64_t value) noexcept override {
        return far_set(member, word, value, false);
    }
    int far_fetch_add(int member, Word word, std::uint64_t amount, std::uint64_t& before) noexcept override {
        pause();
        before = at(member, word).fetch_add(amount);
        pause();
        return MPI_SUCCESS;
    }
    int far_compare_swap(
        int member, Word word, std::uint64_t expected, std::uint64_t desired, bool& swapped) noexcept override {
        pause();
        swapped = at(member, word).compare_exchange_strong(expected, desired);
        pause();
        return MPI_SUCCESS;
    }

private:
    Words::Place& at(int member, Word word) noexcept { return _blocks.members[member].words[word]; }
    void pause() noexcept {
        _state = _state * 6364136223846793005u + 1442695040888963407u + std::uint64_t(rank);
        if (_state >> 62 == 0) {
            sched_yield();
        } else if (_state >> 58 == 63) {
            std::this_thread::sleep_for(std::chrono::microseconds(200)); // long enough for all others
        }
    }

    SharedBlocks& _blocks;
    std::uint64_t _state = 1;
};

// No spinning, no yielding, and sleeps that never end by themselves: one wake-up lost is a hang.
inline WaitPolicy always_sleep() {
    WaitPolicy policy;
    policy.spin = std::chrono::nanoseconds(0);
    policy.yield = std::chrono::nanoseconds(0);
    policy.first_polls = 1;
    policy.longest_sleep = std::chrono::hours(24);
    return policy;
}

// A process of a window of `size` members.
struct Node {
    Node(SharedBlocks& blocks, int rank, int size, Access access, const WaitPolicy& policy = always_sleep())
        : progress(false, policy),
          layout(size),
          words(blocks, rank, size, access),
          failures(size) {
        (void)register_all_cores_barrier();
        progress.set_doorbell(&blocks.members[rank].bell);
    }
    Progress progress;
    const ControlLayout layout;
    SharedWords words;
    Failures failures;
};

} // namespace patchbay::osc::rdma::test
