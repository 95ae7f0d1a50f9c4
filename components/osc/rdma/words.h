// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/rdma/failures.h"
#include "core/progress/doorbell.h"
#include "include/mpi.h"

#include <atomic>
#include <cstdint>
#include <memory>

namespace patchbay::osc::rdma {

// The place of a word of 64 bits in a control block.
using Word = std::uint32_t;

// Access to the words of the control blocks of all members of a window: where all members have a block mapped, by the
// processor, otherwise by operations that a derived class carries out. Either is the only way to that block in all
// members, its owner included, because the atomics of a network are not atomic with those of a processor.
//
// The functions that access a member return when the word has been read or written, and are sequentially consistent,
// but for set(), which only releases. They return an MPI code: MPI_ERR_PROC_ABORTED if the member has failed. Any
// thread.
class Words {
public:
    using Place = std::atomic<std::uint64_t>;

    Words(int rank, int size)
        : rank(rank),
          size(size),
          _mapped(new Mapped[std::size_t(size)]()) {}
    virtual ~Words() = default;
    Words(const Words&) = delete;
    Words& operator=(const Words&) = delete;

    const int rank;
    const int size;

    // A word that this process waits for, and that others write by set_and_wake().
    const Place& own(Word word) const noexcept { return _own[word]; }

    int load(int member, Word word, std::uint64_t& value) noexcept {
        if (Place* const block = mapped(member)) [[likely]] {
            value = block[word].load(std::memory_order_seq_cst);
            return MPI_SUCCESS;
        }
        return far_load(member, word, value);
    }
    int set(int member, Word word, std::uint64_t value) noexcept {
        if (Place* const block = mapped(member)) [[likely]] {
            block[word].store(value, std::memory_order_release);
            return MPI_SUCCESS;
        }
        return far_set(member, word, value, false);
    }
    // The member, which may wait for the word asleep, looks at it.
    int set_and_wake(int member, Word word, std::uint64_t value) noexcept {
        const Mapped& there = _mapped[std::size_t(member)];
        if (there.block != nullptr) [[likely]] {
            there.block[word].store(value, std::memory_order_release);
            if (there.bell != nullptr) {
                there.bell->notify();
            }
            return MPI_SUCCESS;
        }
        return far_set(member, word, value, true);
    }
    int exchange(int member, Word word, std::uint64_t value) noexcept {
        if (Place* const block = mapped(member)) [[likely]] {
            block[word].exchange(value, std::memory_order_seq_cst);
            return MPI_SUCCESS;
        }
        return far_exchange(member, word, value);
    }
    int fetch_add(int member, Word word, std::uint64_t amount, std::uint64_t& before) noexcept {
        if (Place* const block = mapped(member)) [[likely]] {
            before = block[word].fetch_add(amount, std::memory_order_seq_cst);
            return MPI_SUCCESS;
        }
        return far_fetch_add(member, word, amount, before);
    }
    // *swapped: whether the word was `expected`, and is `desired` now.
    int compare_swap(int member, Word word, std::uint64_t expected, std::uint64_t desired, bool& swapped) noexcept {
        if (Place* const block = mapped(member)) [[likely]] {
            swapped = block[word].compare_exchange_strong(expected, desired, std::memory_order_seq_cst);
            return MPI_SUCCESS;
        }
        return far_compare_swap(member, word, expected, desired, swapped);
    }

protected:
    void set_own(Place* block) noexcept { _own = block; }
    // `bell`: of that process; null: this process cannot ring it.
    void set_mapped(int member, Place* block, Doorbell* bell) noexcept { _mapped[std::size_t(member)] = {block, bell}; }

    virtual int far_load(int member, Word word, std::uint64_t& value) noexcept = 0;
    virtual int far_set(int member, Word word, std::uint64_t value, bool wake) noexcept = 0;
    virtual int far_exchange(int member, Word word, std::uint64_t value) noexcept = 0;
    virtual int far_fetch_add(int member, Word word, std::uint64_t amount, std::uint64_t& before) noexcept = 0;
    virtual int far_compare_swap(
        int member, Word word, std::uint64_t expected, std::uint64_t desired, bool& swapped) noexcept = 0;

private:
    struct Mapped {
        Place* block = nullptr;
        Doorbell* bell = nullptr;
    };
    Place* mapped(int member) const noexcept { return _mapped[std::size_t(member)].block; }

    Place* _own = nullptr;
    std::unique_ptr<Mapped[]> _mapped;
};

} // namespace patchbay::osc::rdma
