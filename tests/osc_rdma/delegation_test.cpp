// SPDX-License-Identifier: BSD-3-Clause
// The protocol of an entry: a target that is late, that fails with the operation in hand, that sleeps, and one that
// serves entries while they are taken back.
#include "components/osc/rdma/control_block.h"
#include "components/osc/rdma/delegations.h"
#include "components/osc/rdma/mailboxes.h"
#include "object/communicator.h"
#include "tests/osc_rdma/shared_words.h"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

// No communicator exists here; the library that is linked refers to it.
void patchbay::Communicator::destroy(Communicator*) noexcept {}

namespace patchbay::osc::rdma {
namespace {

using Outcome = Delegations::Outcome;
using namespace std::chrono_literals;

struct alignas(64) Line {
    std::byte bytes[64];
};

// The mailboxes of member 1, as member 0 uses them.
struct Pair {
    MailboxLayout layout;
    std::vector<Line> memory;
    Doorbell bell;
    Progress progress;
    Failures failures;
    DelegationCounters counters;
    Delegations delegations;

    explicit Pair(std::chrono::nanoseconds patience, int size = 2)
        : layout(size, MailboxLayout::fitting_payload(size, 4096, 1 << 20, 4096)),
          memory(layout.bytes() / sizeof(Line)),
          failures(size),
          delegations(size, nullptr, 1 << 20, patience, progress, failures, counters) {
        delegations.add(1, 0, base(), layout, bell);
    }
    std::byte* base() { return memory.data()->bytes; }
    MailboxEntry& entry() { return layout.at(base(), 0); }
    std::uint64_t count(DelegationCounters::Variable variable) { return *counters.read(variable, nullptr, 0); }
    Outcome put(std::uint64_t place, std::uint64_t value) {
        Delegations::Entry used = delegations.use(1, sizeof value);
        if (!used) {
            return Outcome::not_done;
        }
        used->kind = EntryKind::put;
        used->bytes = sizeof value;
        used->place = place;
        std::memcpy(used->payload(), &value, sizeof value);
        return delegations.run(used);
    }
};

TEST(Delegation, EntriesFitIntoTheirMemory) {
    EXPECT_EQ(MailboxLayout::fitting_payload(1, 4096, 1 << 20, 4096), 0u);
    EXPECT_EQ(MailboxLayout::fitting_payload(2, 4096, 1 << 20, 0), 0u);
    EXPECT_EQ(MailboxLayout::fitting_payload(2, 4096, 100, 4096), 0u); // not a line for the hints and an entry
    EXPECT_EQ(MailboxLayout::fitting_payload(2, 4096, 128, 4096), 32u);
    EXPECT_EQ(MailboxLayout::fitting_payload(2, 1 << 20, 1 << 20, 8), 32u);
    for (int size : {2, 3, 17, 100}) {
        for (std::size_t most : {256u, 4096u, 65536u}) {
            const std::size_t payload = MailboxLayout::fitting_payload(size, 1 << 20, most, 1 << 20);
            EXPECT_TRUE(MailboxLayout(size, payload).bytes() <= most);
        }
    }
    for (int own = 0; own < 4; ++own) {
        for (int origin = 0; origin < 4; ++origin) {
            if (origin != own) {
                EXPECT_EQ(MailboxLayout::origin_of(MailboxLayout::entry_of(origin, own), own), origin);
            }
        }
    }
}

// Nobody serves: the operation is taken back, and fewer and fewer are left to the target.
TEST(Delegation, OperationsAreTakenBack) {
    Pair pair(1us);
    for (int i = 0; i < 1000; ++i) {
        EXPECT_TRUE(pair.put(0, 1) == Outcome::not_done);
        EXPECT_TRUE(pair.entry().state.load() == EntryState::free);
    }
    EXPECT_TRUE(pair.count(DelegationCounters::retracted) >= 10);
    EXPECT_TRUE(pair.count(DelegationCounters::retracted) < 40);
}

// It claims the operation and fails: the origin learns of it asleep.
TEST(Delegation, AFailedTargetEndsTheWait) {
    Pair pair(10s);
    std::thread target([&] {
        auto posted = EntryState::posted;
        while (!pair.entry().state.compare_exchange_weak(posted, EntryState::claimed)) {
            posted = EntryState::posted;
        }
        std::this_thread::sleep_for(50ms);
        pair.failures.note(1);
        pair.progress.wake();
    });
    EXPECT_TRUE(pair.put(0, 1) == Outcome::failed);
    target.join();
}

// It cannot have the lock: nothing is done.
TEST(Delegation, AnOperationIsDeclined) {
    Pair pair(10s);
    std::thread target([&] {
        auto posted = EntryState::posted;
        while (!pair.entry().state.compare_exchange_weak(posted, EntryState::claimed)) {
            posted = EntryState::posted;
        }
        pair.entry().state.store(EntryState::declined, std::memory_order_release);
    });
    EXPECT_TRUE(pair.put(0, 1) == Outcome::not_done);
    target.join();
    EXPECT_EQ(pair.count(DelegationCounters::delegated), 0u);
}

// Nothing is left to a target that sleeps, and it is woken once in a while.
TEST(Delegation, ASleepingTargetIsWokenRarely) {
    Pair pair(10s);
    int wakes = 0;
    for (int i = 0; i < 10000; ++i) {
        if (!pair.bell.flag_is_up()) {
            pair.bell.prepare();
            wakes += i > 0 ? 1 : 0;
        }
        Delegations::Entry entry = pair.delegations.use(1, 8);
        EXPECT_TRUE(!entry);
    }
    EXPECT_TRUE(wakes >= 1);
    EXPECT_TRUE(wakes <= 9);
}

// Posted, served and taken back at once: each operation is carried out by one of both. `size`: with 2 members the
// target looks at the entry, otherwise at the hints.
void served_or_taken_back(int size) {
    Pair pair(300ns, size);
    test::SharedBlocks blocks{};
    test::SharedWords words(blocks, 1, size, test::Access::mapped);
    std::vector<std::uint64_t> window(512, 0);
    Progress progress;
    Failures failures(size);
    DelegationCounters counters;
    UpdateLock updates(words, ControlLayout(size).update_lock, progress, failures);
    auto bells = std::make_unique<Doorbell*[]>(std::size_t(size));
    Doorbell origin;
    for (int i = 0; i < size; ++i) {
        bells[std::size_t(i)] = &origin;
    }
    std::uint64_t direct = 0;
    constexpr std::uint64_t operations = 20000;
    {
        Mailboxes mailboxes(pair.base(), pair.layout, 1,
            {reinterpret_cast<std::byte*>(window.data()), window.size() * sizeof(std::uint64_t)}, std::move(bells),
            updates, progress, counters);
        std::atomic<bool> end{false};
        std::thread target([&] {
            for (unsigned i = 0; !end.load(); ++i) {
                progress.poll();
                if (i % 1000 == 0) {
                    sched_yield();
                }
            }
        });
        for (std::uint64_t i = 0; i < operations; ++i) {
            const std::uint64_t place = i % window.size() * sizeof(std::uint64_t);
            if (pair.put(place, i) == Outcome::not_done) {
                ++direct;
            } else {
                EXPECT_EQ(window[i % window.size()], i);
            }
        }
        EXPECT_TRUE(pair.put(window.size() * sizeof(std::uint64_t) - 4, 1) == Outcome::not_done); // outside
        end.store(true);
        target.join();
    }
    EXPECT_EQ(pair.count(DelegationCounters::delegated) + direct, operations);
    EXPECT_EQ(*counters.read(DelegationCounters::served, nullptr, 0), pair.count(DelegationCounters::delegated));
}

TEST(Delegation, TheTargetLooksAtTheEntry) {
    served_or_taken_back(2);
}
TEST(Delegation, TheTargetLooksAtHints) {
    served_or_taken_back(5);
}

} // namespace
} // namespace patchbay::osc::rdma
