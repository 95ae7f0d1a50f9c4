// SPDX-License-Identifier: BSD-3-Clause
// The protocol of an entry: a target that is late, that fails with the operation in hand, that sleeps, and one that
// serves entries while they are taken back.
#include "components/osc/rdma/control_block.h"
#include "components/osc/rdma/delegations.h"
#include "components/osc/rdma/mailboxes.h"
#include "components/osc/rdma/stream.h"
#include "object/communicator.h"
#include "tests/osc_rdma/own_space.h"
#include "tests/osc_rdma/shared_words.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
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
    const std::unique_ptr<Peer[]> members(new Peer[std::size_t(size)]());
    std::uint64_t direct = 0;
    constexpr std::uint64_t operations = 20000;
    {
        Mailboxes mailboxes(pair.base(), pair.layout, 1,
            {reinterpret_cast<std::byte*>(window.data()), window.size() * sizeof(std::uint64_t)}, std::move(bells),
            updates, members.get(), progress, counters);
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

// The target copies to and from the buffer of the origin, which does something else meanwhile.
TEST(Delegation, TheTargetCopiesBuffersOfTheOrigin) {
    Pair pair(10s);
    test::SharedBlocks blocks{};
    test::SharedWords words(blocks, 1, 2, test::Access::mapped);
    std::vector<std::uint64_t> window(8192, 0);
    test::OwnSpace space;
    test::AnyEndpoint endpoint;
    const std::unique_ptr<Peer[]> members(new Peer[2]());
    members[0].one_sided = &space;
    members[0].endpoint = &endpoint;
    Progress progress;
    Failures failures(2);
    UpdateLock updates(words, ControlLayout(2).update_lock, progress, failures);
    Doorbell origin;
    auto bells = std::make_unique<Doorbell*[]>(2);
    bells[0] = &origin;
    Mailboxes mailboxes(pair.base(), pair.layout, 1,
        {reinterpret_cast<std::byte*>(window.data()), window.size() * sizeof(std::uint64_t)}, std::move(bells), updates,
        members.get(), progress, pair.counters);
    std::vector<std::uint64_t> buffer(window.size(), 7);
    const auto leave = [&](EntryKind kind, std::size_t first, std::size_t count) {
        Delegations::Entry used = pair.delegations.use(1, count * sizeof(std::uint64_t));
        EXPECT_TRUE(bool(used));
        used->kind = kind;
        used->bytes = std::uint32_t(count * sizeof(std::uint64_t));
        used->place = first * sizeof(std::uint64_t);
        const OriginBuffer there{test::OwnSpace::key, reinterpret_cast<std::uintptr_t>(buffer.data())};
        std::memcpy(used->payload(), &there, sizeof there);
        pair.delegations.post(used);
        EXPECT_EQ(progress.poll(), 1);
        return pair.delegations.collect(used);
    };
    EXPECT_TRUE(leave(EntryKind::put_from_origin, 4096, 4096) == Outcome::done);
    EXPECT_EQ(window[4095], 0u);
    EXPECT_EQ(window[4096], 7u);
    EXPECT_EQ(window[8191], 7u);
    window[1] = 5;
    EXPECT_TRUE(leave(EntryKind::get_to_origin, 1, 4096) == Outcome::done);
    EXPECT_EQ(buffer[0], 5u);
    EXPECT_EQ(buffer[1], 0u);
    EXPECT_EQ(buffer[4095], 7u);
    EXPECT_TRUE(leave(EntryKind::put_from_origin, 4096, 4097) == Outcome::not_done); // outside
    space.error = EPERM;
    EXPECT_TRUE(leave(EntryKind::get_to_origin, 1, 4096) == Outcome::not_done);
    EXPECT_TRUE(pair.entry().state.load() == EntryState::declined);
}

// One that is not begun in time is taken back.
TEST(Delegation, AnOperationInTwoStepsIsTakenBack) {
    Pair pair(1us);
    Delegations::Entry used = pair.delegations.use(1, 8);
    ASSERT_TRUE(bool(used));
    used->kind = EntryKind::put;
    used->bytes = 8;
    used->place = 0;
    pair.delegations.post(used);
    EXPECT_TRUE(pair.entry().state.load() == EntryState::posted);
    EXPECT_TRUE(pair.delegations.collect(used) == Outcome::not_done);
    EXPECT_TRUE(pair.entry().state.load() == EntryState::free);
}

// Puts and gets of many pieces, by a target that comes and goes: what the origin is told to be complete is complete,
// and nothing else has changed.
TEST(Delegation, StreamsToATargetThatComesAndGoes) {
    Pair pair(2us);
    test::SharedBlocks blocks{};
    test::SharedWords words(blocks, 1, 2, test::Access::mapped);
    constexpr std::size_t bytes = 60000;
    std::vector<std::byte> window(bytes);
    const std::unique_ptr<Peer[]> members(new Peer[2]());
    Progress progress;
    Failures failures(2);
    UpdateLock updates(words, ControlLayout(2).update_lock, progress, failures);
    Doorbell origin;
    auto bells = std::make_unique<Doorbell*[]>(2);
    bells[0] = &origin;
    int complete = 0;
    int in_part = 0;
    {
        Mailboxes mailboxes(pair.base(), pair.layout, 1, {window.data(), bytes}, std::move(bells), updates,
            members.get(), progress, pair.counters);
        std::atomic<bool> end{false};
        std::thread target([&] {
            std::mt19937 random(1);
            while (!end.load()) {
                for (unsigned i = random() % 3000; i > 0; --i) {
                    progress.poll();
                }
                std::this_thread::sleep_for(std::chrono::microseconds(random() % 100));
            }
        });
        std::mt19937 random(2);
        const std::size_t most = Stream::most_of_piece(pair.layout.payload());
        ASSERT_TRUE(most > 0);
        std::vector<std::byte> expected(bytes);
        std::vector<std::byte> buffer(bytes);
        // Where the processes of a busy machine leave the target no core, it takes long until it is there in time.
        const auto latest = std::chrono::steady_clock::now() + 30s;
        const auto is_enough = [&](int tries) {
            return (tries > 20000 && complete > 0) || (tries > 3000 && complete >= 1000 && in_part >= 10) ||
                std::chrono::steady_clock::now() > latest;
        };
        for (int i = 0; !is_enough(i); ++i) {
            Delegations::Entry used = pair.delegations.use(1, 1);
            if (!used) {
                continue;
            }
            const bool is_put = random() % 2 == 0;
            const std::size_t size = 1 + random() % (bytes / 2);
            const std::size_t place = random() % (bytes - size);
            const auto fill = std::byte(random());
            std::fill(buffer.begin(), buffer.end(), fill);
            used->kind = is_put ? EntryKind::stream_put : EntryKind::stream_get;
            used->place = place;
            std::size_t done = 0;
            const Outcome outcome = pair.delegations.stream(used, buffer.data(), size, 1 + random() % most, &done);
            EXPECT_TRUE(outcome == (done == size ? Outcome::done : Outcome::not_done));
            complete += outcome == Outcome::done ? 1 : 0;
            in_part += done > 0 && done < size ? 1 : 0;
            if (is_put) {
                std::fill_n(expected.begin() + std::ptrdiff_t(place), done, fill);
                ASSERT_TRUE(window == expected);
            } else {
                ASSERT_TRUE(std::equal(
                    buffer.begin(), buffer.begin() + std::ptrdiff_t(done), expected.begin() + std::ptrdiff_t(place)));
                ASSERT_TRUE(std::all_of(buffer.begin() + std::ptrdiff_t(done), buffer.end(),
                    [fill](std::byte one) { return one == fill; }));
            }
        }
        end.store(true);
        target.join();
    }
    EXPECT_TRUE(complete > 0);
}

// Halves take the place of streams only after several slow ones in a row, for some bytes, and longer each time.
TEST(Delegation, SlowStreamsAreLeftForAWhile) {
    constexpr std::size_t bytes = StreamChoice::from;
    const auto run_stream = [](StreamChoice& choice, std::chrono::nanoseconds time) {
        EXPECT_FALSE(choice.takes_halves(bytes));
        if (choice.is_timed(bytes)) {
            choice.note(time, bytes);
        }
    };
    const auto count_halves = [](StreamChoice& choice) {
        int halves = 0;
        while (choice.takes_halves(bytes)) {
            ++halves;
        }
        return halves;
    };
    StreamChoice near;
    for (int i = 0; i < 1000; ++i) {
        run_stream(near, i % 10 == 0 ? 50us : 2us); // some are interrupted
    }
    EXPECT_EQ(count_halves(near), 0);
    StreamChoice far;
    int streams = 0;
    int before = 0;
    for (int rounds = 0; rounds < 3; ++rounds) {
        int halves = 0;
        for (; (halves = count_halves(far)) == 0 && streams < 100; ++streams) {
            run_stream(far, 5us);
        }
        EXPECT_GT(halves, before);
        EXPECT_FALSE(far.takes_halves(bytes - 1)) << "short ones are streams";
        before = halves;
    }
    EXPECT_LT(streams, 20);
    for (int i = 0; i < 1000; ++i) {
        run_stream(far, 2us); // the cores are near each other again
    }
    EXPECT_EQ(count_halves(far), 0);
}

TEST(Delegation, AFailedTargetEndsAStream) {
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
    std::vector<std::byte> buffer(10000);
    std::size_t done = 1;
    {
        Delegations::Entry used = pair.delegations.use(1, buffer.size());
        ASSERT_TRUE(bool(used));
        used->kind = EntryKind::stream_put;
        used->place = 0;
        EXPECT_TRUE(pair.delegations.stream(used, buffer.data(), buffer.size(), 1024, &done) == Outcome::failed);
    }
    EXPECT_EQ(done, 0u);
    target.join();
}

TEST(Delegation, TheTargetLooksAtTheEntry) {
    served_or_taken_back(2);
}
TEST(Delegation, TheTargetLooksAtHints) {
    served_or_taken_back(5);
}

} // namespace
} // namespace patchbay::osc::rdma
