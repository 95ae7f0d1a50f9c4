// SPDX-License-Identifier: BSD-3-Clause
// One-sided operations of the btls that offer them.
#include "components/btl/self/module.h"
#include "core/progress/progress.h"
#include "tests/btl/sm_node.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <random>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>

namespace patchbay {
namespace {
using btl::Atomic;
using btl::Offers;
using btl::OneSided;
using btl::RemoteKey;
using btl::RemotePiece;
using btl::Started;
using btl::Wake;
using btl::Width;
using btl::sm::Settings;
using btl::sm::SingleCopy;
using test::memfd;
using test::SmNode;

constexpr std::size_t mib = 1024 * 1024;
constexpr std::uint32_t no_slot = SharedHeap::no_owner;

Settings settings_with(SingleCopy single_copy) {
    Settings settings;
    settings.single_copy = single_copy;
    return settings;
}

// What the processes of a test tell each other.
struct Board {
    std::atomic<int> step;
    std::atomic<std::uint64_t> number;
    RemoteKey keys[4];
    std::uint64_t words[4];

    void wait_for(int wanted) const {
        while (step.load() < wanted) {
            std::this_thread::yield();
        }
    }
};

std::uint64_t hash(const std::byte* bytes, std::size_t count) {
    std::uint64_t value = 14695981039346656037u;
    for (std::size_t at = 0; at < count; ++at) {
        value = (value ^ std::uint64_t(bytes[at])) * 1099511628211u;
    }
    return value;
}

// Pieces of [0, room) that do not overlap, of `total` bytes, some of them empty, in random order.
std::vector<RemotePiece> random_pieces(std::size_t total, std::size_t room, std::size_t count, std::mt19937& random) {
    std::vector<RemotePiece> pieces;
    std::size_t left = total;
    std::size_t gaps = room - total;
    std::size_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t gap = random() % (2 * gaps / (count - i) + 1);
        const std::size_t bytes = i + 1 == count ? left : std::min(left, random() % (2 * left / (count - i) + 1));
        at += std::min(gap, gaps);
        gaps -= std::min(gap, gaps);
        pieces.push_back({at, bytes});
        at += bytes;
        left -= bytes;
    }
    std::ranges::shuffle(pieces, random);
    return pieces;
}

std::vector<iovec> at_memory(std::byte* base, const std::vector<RemotePiece>& pieces) {
    std::vector<iovec> list;
    for (const RemotePiece& piece : pieces) {
        list.push_back({base + piece.offset, piece.bytes});
    }
    return list;
}

// What put() and get() are to do, byte by byte.
void copy_slowly(std::byte* to, const std::vector<RemotePiece>& where, const std::byte* from,
    const std::vector<RemotePiece>& whence) {
    std::vector<std::byte> bytes;
    for (const RemotePiece& piece : whence) {
        bytes.insert(bytes.end(), from + piece.offset, from + piece.offset + piece.bytes);
    }
    std::size_t at = 0;
    for (const RemotePiece& piece : where) {
        std::copy_n(bytes.begin() + std::ptrdiff_t(at), piece.bytes, to + piece.offset);
        at += piece.bytes;
    }
}

constexpr std::size_t room = 4 * mib + 64 * 1024;

// Puts and gets of all sizes, over lists of up to more pieces than one system call takes; `shadow` is what the memory
// of `key`, which is full of zeros, contains afterwards. Returns what went wrong.
std::string exercise(OneSided& ops, btl::Endpoint& peer, const RemoteKey& key, std::vector<std::byte>& shadow) {
    std::mt19937 random{7};
    std::vector<std::byte> mine(room);
    std::vector<std::byte> fetched(room);
    std::vector<std::byte> wanted(room);
    std::ranges::generate(mine, [&] { return std::byte(random()); });
    constexpr std::size_t sizes[] = {0, 1, 8, 100, 4096, 70000, mib, 4 * mib};
    for (const std::size_t size : sizes) {
        for (const auto& [here, there] :
            {std::pair{1, 1}, std::pair{1, 40}, std::pair{40, 1}, std::pair{3000, 2500}, std::pair{200, 3000}}) {
            std::ranges::generate(mine, [&] { return std::byte(random()); });
            const auto local = random_pieces(size, room, std::size_t(here), random);
            const auto remote = random_pieces(size, room, std::size_t(there), random);
            const Started put = ops.put(peer, at_memory(mine.data(), local), key, remote, Wake::nobody, nullptr);
            if (!put.is_done()) {
                return "put of " + std::to_string(size) + ": error " + std::to_string(put.error);
            }
            copy_slowly(shadow.data(), remote, mine.data(), local);
            const auto back = random_pieces(size, room, std::size_t(here), random);
            std::ranges::fill(fetched, std::byte(0));
            std::ranges::fill(wanted, std::byte(0));
            copy_slowly(wanted.data(), back, shadow.data(), remote);
            const Started got = ops.get(peer, at_memory(fetched.data(), back), key, remote, nullptr);
            if (!got.is_done() || fetched != wanted) {
                return "get of " + std::to_string(size) + " differs, or error " + std::to_string(got.error);
            }
        }
    }
    if (!ops.flush(peer, nullptr).is_done()) {
        return "flush";
    }
    const iovec whole{fetched.data(), room};
    const RemotePiece all{0, room};
    const Started got = ops.get(peer, std::span(&whole, 1), key, std::span(&all, 1), nullptr);
    return got.is_done() && fetched == shadow ? "" : "other memory has changed";
}

bool fine(const std::string& problem) {
    if (!problem.empty()) {
        std::fprintf(stderr, "one_sided: %s\n", problem.c_str());
    }
    return problem.empty();
}

class Memories : public testing::TestWithParam<const char*> {
protected:
    static bool is_mapped() { return std::string(GetParam()) == "mapped"; }
};

TEST_P(Memories, PutsAndGetsOfAllSizesAndLists) {
    const int fd = memfd();
    auto* board = test::shared_memory<Board>();
    EXPECT_TRUE(test::run_processes(2, 100, [&](int rank) {
        SmNode node(fd, std::uint32_t(rank), 2, settings_with(SingleCopy::automatic));
        OneSided& ops = *node.sm->one_sided();
        if (rank == 1) {
            std::vector<std::byte> own(is_mapped() ? 0 : room);
            std::byte* memory = own.data();
            if (is_mapped()) {
                memory = node.segment->heap().alloc(room, no_slot)->bytes.data();
            }
            board->keys[0] = *ops.register_memory(memory, room);
            board->step = 1;
            board->wait_for(2);
            const bool same = hash(memory, room) == board->number;
            ops.deregister_memory(board->keys[0]);
            return same;
        }
        board->wait_for(1);
        btl::Endpoint& peer = *node.sm->connect({0, 1});
        const RemoteKey key = board->keys[0];
        const Offers offered = ops.offered(peer, key);
        SmNode::require(has_all(offered, Offers::put | Offers::get | Offers::notify), "put, get, notify");
        SmNode::require(has_all(offered, Offers::map | Offers::atomics_64) == is_mapped(), "map");
        SmNode::require((ops.map(peer, key) != nullptr) == is_mapped(), "mapped");
        std::vector<std::byte> shadow(room);
        const bool good = fine(exercise(ops, peer, key, shadow));
        board->number = hash(shadow.data(), room);
        board->step = 2;
        return good;
    }));
    close(fd);
}

INSTANTIATE_TEST_SUITE_P(Sm, Memories, testing::Values("mapped", "cma"));

// A range of all addresses, as a dynamic window has.
TEST(OneSidedSm, ARangeMayBeTheAddressSpace) {
    const int fd = memfd();
    auto* board = test::shared_memory<Board>();
    EXPECT_TRUE(test::run_processes(2, 100, [&](int rank) {
        SmNode node(fd, std::uint32_t(rank), 2, settings_with(SingleCopy::cma));
        OneSided& ops = *node.sm->one_sided();
        if (rank == 1) {
            std::uint64_t variable = 1;
            board->keys[0] = *ops.register_memory(nullptr, ~std::uint64_t(0));
            board->words[0] = reinterpret_cast<std::uintptr_t>(&variable);
            board->step = 1;
            board->wait_for(2);
            return *static_cast<volatile std::uint64_t*>(&variable) == 77;
        }
        board->wait_for(1);
        btl::Endpoint& peer = *node.sm->connect({0, 1});
        std::uint64_t value = 77;
        const iovec local{&value, sizeof value};
        const RemotePiece variable{board->words[0], sizeof value};
        const RemotePiece nowhere{16, sizeof value};
        const Started put =
            ops.put(peer, std::span(&local, 1), board->keys[0], std::span(&variable, 1), Wake::nobody, nullptr);
        const Started lost =
            ops.put(peer, std::span(&local, 1), board->keys[0], std::span(&nowhere, 1), Wake::nobody, nullptr);
        const Started none = ops.get(peer, std::span(&local, 1), board->keys[0], std::span(&nowhere, 1), nullptr);
        board->step = 2;
        return put.is_done() && lost.error == EFAULT && none.error == EFAULT;
    }));
    close(fd);
}

// Many processes at once, beside processor atomics of the owner.
TEST(OneSidedSm, AtomicsOfSeveralProcessesLoseNothing) {
    constexpr int ranks = 5;
    constexpr std::uint64_t each = 4000;
    const int fd = memfd();
    auto* board = test::shared_memory<Board>();
    EXPECT_TRUE(test::run_processes(ranks, 100, [&](int rank) {
        SmNode node(fd, std::uint32_t(rank), ranks, settings_with(SingleCopy::automatic));
        OneSided& ops = *node.sm->one_sided();
        if (rank == 0) {
            const SharedBlock block = *node.segment->heap().alloc(64, no_slot);
            board->keys[0] = *ops.register_memory(block.bytes.data(), 64);
            auto* words = reinterpret_cast<std::uint64_t*>(block.bytes.data());
            board->step = 1;
            for (std::uint64_t i = 0; i < each; ++i) {
                std::atomic_ref<std::uint64_t>(words[0]).fetch_add(3);
                std::atomic_ref<std::uint32_t>(reinterpret_cast<std::uint32_t&>(words[1])).fetch_add(1);
            }
            board->wait_for(ranks);
            const std::uint64_t sum = each * 3 + each * (ranks - 1) * ranks / 2;
            return words[0] == sum && std::uint32_t(words[1]) == each * ranks && words[1] >> 32 == 0 &&
                words[2] == each * (ranks - 1) * 7 && board->number == sum - each * 3;
        }
        board->wait_for(1);
        btl::Endpoint& peer = *node.sm->connect({0, 0});
        const RemoteKey key = board->keys[0];
        const auto amount = std::uint64_t(rank);
        bool good = true;
        std::uint64_t before = 0;
        for (std::uint64_t i = 0; i < each; ++i) {
            std::uint64_t fetched = 0;
            good &= ops.fetch_op(peer, Atomic::add, Width::bits64, key, 0, amount, &fetched, Wake::nobody, nullptr)
                        .is_done();
            good &= i == 0 || fetched >= before + amount;
            before = fetched;
            good &= ops.fetch_op(peer, Atomic::add, Width::bits32, key, 8, 1, nullptr, Wake::nobody, nullptr).is_done();
            std::uint64_t seen = 0;
            std::uint64_t compare;
            do {
                compare = seen;
                good &=
                    ops.compare_swap(peer, Width::bits64, key, 16, compare, compare + 7, &seen, Wake::nobody, nullptr)
                        .is_done();
            } while (seen != compare);
        }
        board->number += each * amount;
        ++board->step;
        return good;
    }));
    close(fd);
}

template <class Word>
void check_operations(OneSided& ops, btl::Endpoint& peer, const RemoteKey& key, Width width) {
    constexpr Word first = Word(0xf0f0f0f0f0f0f0f0);
    constexpr Word operand = Word(0x8000000180000003);
    constexpr Word all = Word(~Word(0));
    struct Case {
        Atomic op;
        Word operand;
        Word after;
    };
    const Case cases[] = {{Atomic::add, operand, Word(first + operand)}, {Atomic::add, all, Word(first - 1)},
        {Atomic::bit_and, operand, Word(first & operand)}, {Atomic::bit_or, operand, Word(first | operand)},
        {Atomic::bit_xor, operand, Word(first ^ operand)}, {Atomic::swap, operand, operand},
        {Atomic::load, operand, first}};
    for (const Case& one : cases) {
        Word words[3] = {1, 2, 3};
        const auto run = [&](Atomic op, Word with, Word* fetched) {
            return ops.fetch_op(peer, op, width, key, sizeof(Word), std::uint64_t(with), fetched, Wake::nobody, nullptr)
                .is_done();
        };
        ASSERT_TRUE(run(Atomic::swap, first, nullptr));
        ASSERT_TRUE(run(one.op, one.operand, &words[1]));
        EXPECT_EQ(words[1], first) << int(one.op);
        ASSERT_TRUE(run(Atomic::load, 0, &words[1]));
        EXPECT_EQ(words[1], one.after) << int(one.op);
        EXPECT_TRUE(words[0] == 1 && words[2] == 3);
    }
    Word seen[2] = {0, 9};
    const auto swap = [&](Word compare, Word desired) {
        return ops
            .compare_swap(peer, width, key, sizeof(Word), std::uint64_t(compare), std::uint64_t(desired), seen,
                Wake::nobody, nullptr)
            .is_done();
    };
    ASSERT_TRUE(swap(first, all)); // swapped
    EXPECT_EQ(seen[0], first);
    ASSERT_TRUE(swap(first, 1)); // not swapped
    EXPECT_EQ(seen[0], all);
    ASSERT_TRUE(swap(all, 2));
    EXPECT_EQ(seen[0], all);
    EXPECT_EQ(seen[1], 9);
}

// Two processes of a node in one.
class Pair : public testing::Test {
protected:
    ~Pair() override {
        owner.reset();
        close(fd);
    }
    const int fd = memfd();
    SmNode user{fd, 0, 3, settings_with(SingleCopy::automatic)};
    std::optional<SmNode> owner{std::in_place, fd, 1, 3, settings_with(SingleCopy::automatic)};
    OneSided& ops = *user.sm->one_sided();
    btl::Endpoint& peer = *user.sm->connect({0, 1});
    SharedBlock block = *owner->segment->heap().alloc(256, no_slot);
    std::array<std::uint64_t, 8> other{};
    RemoteKey mapped = *owner->sm->one_sided()->register_memory(block.bytes.data(), 256);
    RemoteKey unmapped = *owner->sm->one_sided()->register_memory(other.data(), sizeof other);

    int put_error(const RemoteKey& key, std::uint64_t offset, std::uint64_t bytes, std::uint64_t local_bytes) {
        std::array<std::byte, 512> memory{};
        const iovec local{memory.data(), local_bytes};
        const RemotePiece remote{offset, bytes};
        return ops.put(peer, std::span(&local, 1), key, std::span(&remote, 1), Wake::target, nullptr).error;
    }
    int get_error(const RemoteKey& key, std::uint64_t offset, std::uint64_t bytes, std::uint64_t local_bytes) {
        std::array<std::byte, 512> memory{};
        const iovec local{memory.data(), local_bytes};
        const RemotePiece remote{offset, bytes};
        return ops.get(peer, std::span(&local, 1), key, std::span(&remote, 1), nullptr).error;
    }
    int add_error(const RemoteKey& key, std::uint64_t offset, Width width = Width::bits64) {
        return ops.fetch_op(peer, Atomic::add, width, key, offset, 1, nullptr, Wake::target, nullptr).error;
    }
    int swap_error(const RemoteKey& key, std::uint64_t offset, Width width = Width::bits64) {
        return ops.compare_swap(peer, width, key, offset, 0, 0, nullptr, Wake::target, nullptr).error;
    }
};

TEST_F(Pair, EachAtomicOperation) {
    check_operations<std::uint64_t>(ops, peer, mapped, Width::bits64);
    check_operations<std::uint32_t>(ops, peer, mapped, Width::bits32);
}

TEST_F(Pair, MappedMemoryIsThatOfTheOwner) {
    std::byte* seen = ops.map(peer, mapped);
    ASSERT_NE(seen, nullptr);
    EXPECT_NE(seen, block.bytes.data());
    block.bytes[17] = std::byte(99);
    EXPECT_EQ(seen[17], std::byte(99));
    EXPECT_EQ(ops.map(peer, unmapped), nullptr);
    // A part of a block, and what begins in a block but ends elsewhere.
    const RemoteKey part = *owner->sm->one_sided()->register_memory(block.bytes.data() + 16, 8);
    EXPECT_EQ(ops.map(peer, part), seen + 16);
    const RemoteKey beyond = *owner->sm->one_sided()->register_memory(block.bytes.data(), std::uint64_t(1) << 40);
    EXPECT_EQ(ops.map(peer, beyond), nullptr);
}

TEST_F(Pair, PlacesOutsideOfTheRangeAndListsThatDifferAreRefused) {
    for (const RemoteKey& key : {mapped, unmapped}) {
        const std::uint64_t range = key == mapped ? 256 : sizeof other;
        EXPECT_EQ(put_error(key, 0, range, range), 0);
        EXPECT_EQ(put_error(key, range, 0, 0), 0);
        EXPECT_EQ(put_error(key, 1, range, range), ERANGE);
        EXPECT_EQ(get_error(key, range + 1, 0, 0), ERANGE);
        EXPECT_EQ(put_error(key, ~std::uint64_t(0), 2, 2), ERANGE);
        EXPECT_EQ(get_error(key, 8, ~std::uint64_t(0) - 4, 8), ERANGE);
        EXPECT_EQ(put_error(key, 0, 8, 9), EINVAL);
        EXPECT_EQ(get_error(key, 0, 9, 8), EINVAL);
    }
    EXPECT_EQ(add_error(mapped, 248), 0);
    EXPECT_EQ(add_error(mapped, 256), ERANGE);
    EXPECT_EQ(add_error(mapped, 252), ERANGE);
    EXPECT_EQ(add_error(mapped, 4), EINVAL);
    EXPECT_EQ(swap_error(mapped, 4), EINVAL);
    EXPECT_EQ(add_error(mapped, 252, Width::bits32), 0);
    EXPECT_EQ(swap_error(mapped, 253, Width::bits32), ERANGE);
    EXPECT_EQ(swap_error(mapped, 2, Width::bits32), EINVAL);
    EXPECT_EQ(add_error(unmapped, 0), EOPNOTSUPP);
    EXPECT_EQ(swap_error(unmapped, 0), EOPNOTSUPP);
}

TEST_F(Pair, KeysOfOthersAreRefused) {
    SmNode third(fd, 2, 3, settings_with(SingleCopy::automatic));
    Progress progress;
    btl::self::SelfModule self({0, 1}, progress, 1024, 1024);
    RemoteKey changed = mapped;
    changed.words[0] ^= 1;
    const RemoteKey wrong[] = {{}, *third.sm->one_sided()->register_memory(block.bytes.data(), 256),
        *ops.register_memory(other.data(), 64), *self.one_sided()->register_memory(other.data(), 64), changed};
    for (const RemoteKey& key : wrong) {
        EXPECT_EQ(ops.offered(peer, key), Offers::none);
        EXPECT_EQ(ops.map(peer, key), nullptr);
        EXPECT_EQ(put_error(key, 0, 8, 8), EACCES);
        EXPECT_EQ(get_error(key, 0, 8, 8), EACCES);
        EXPECT_EQ(add_error(key, 0), EACCES);
        EXPECT_EQ(swap_error(key, 0), EACCES);
    }
    btl::Endpoint& here = *self.connect({0, 1});
    EXPECT_EQ(self.one_sided()->offered(here, mapped), Offers::none);
}

// A process may finalize the library, and initialize it again.
TEST_F(Pair, KeysEndWithTheLibraryOfTheirOwner) {
    EXPECT_EQ(put_error(mapped, 0, 8, 8), 0);
    owner.reset();
    EXPECT_EQ(put_error(mapped, 0, 8, 8), ESRCH);
    EXPECT_EQ(get_error(unmapped, 0, 8, 8), ESRCH);
    EXPECT_EQ(add_error(mapped, 0), ESRCH);
    EXPECT_EQ(ops.offered(peer, unmapped), Offers::none);
    owner.emplace(fd, 1, 3, settings_with(SingleCopy::automatic));
    EXPECT_EQ(put_error(mapped, 0, 8, 8), EACCES);
    EXPECT_EQ(get_error(unmapped, 0, 8, 8), EACCES);
    const RemoteKey again = *owner->sm->one_sided()->register_memory(other.data(), sizeof other);
    EXPECT_EQ(put_error(again, 0, 8, 8), 0);
}

TEST_F(Pair, WhatIsKnownToHaveFailedIsNotTouched) {
    user.sm->peer_failed({0, 2});
    EXPECT_EQ(put_error(mapped, 0, 8, 8), 0);
    user.sm->peer_failed({0, 1});
    EXPECT_EQ(put_error(mapped, 0, 8, 8), ESRCH);
    EXPECT_EQ(get_error(unmapped, 0, 8, 8), ESRCH);
    EXPECT_EQ(add_error(mapped, 0), ESRCH);
}

TEST(OneSidedSm, WithoutSingleCopyOnlyMappedMemoryIsReached) {
    const int fd = memfd();
    {
        SmNode user(fd, 0, 2, settings_with(SingleCopy::none));
        SmNode owner(fd, 1, 2, settings_with(SingleCopy::none));
        std::uint64_t variable = 5;
        const SharedBlock block = *owner.segment->heap().alloc(64, no_slot);
        OneSided& ops = *user.sm->one_sided();
        btl::Endpoint& peer = *user.sm->connect({0, 1});
        const RemoteKey key = *owner.sm->one_sided()->register_memory(&variable, sizeof variable);
        EXPECT_EQ(ops.offered(peer, key), Offers::none);
        const iovec local{&variable, sizeof variable};
        const RemotePiece remote{0, sizeof variable};
        EXPECT_EQ(
            ops.put(peer, std::span(&local, 1), key, std::span(&remote, 1), Wake::nobody, nullptr).error, EOPNOTSUPP);
        const RemoteKey mapped = *owner.sm->one_sided()->register_memory(block.bytes.data(), 64);
        EXPECT_EQ(ops.offered(peer, mapped), ops.offers());
    }
    close(fd);
}

// Makes the kernel refuse process_vm_readv and process_vm_writev in this process, as a container may.
void forbid_access() {
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{std::size(code), code};
    SmNode::require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
    SmNode::require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "seccomp");
}

TEST(OneSidedSm, WhatTheKernelRefusesIsNotOffered) {
    const int fd = memfd();
    auto* board = test::shared_memory<Board>();
    EXPECT_TRUE(test::run_processes(2, 100, [&](int rank) {
        SmNode node(fd, std::uint32_t(rank), 2, settings_with(SingleCopy::automatic));
        OneSided& ops = *node.sm->one_sided();
        if (rank == 1) {
            std::uint64_t variable = 1;
            const SharedBlock block = *node.segment->heap().alloc(64, no_slot);
            board->keys[0] = *ops.register_memory(&variable, sizeof variable);
            board->keys[1] = *ops.register_memory(block.bytes.data(), 64);
            board->step = 1;
            board->wait_for(2);
            return true;
        }
        board->wait_for(1);
        btl::Endpoint& peer = *node.sm->connect({0, 1});
        forbid_access();
        node.decisions.enable(true);
        bool good = ops.offered(peer, board->keys[0]) == Offers::none;
        std::uint64_t value = 77;
        const iovec local{&value, sizeof value};
        const RemotePiece remote{0, sizeof value};
        good &=
            ops.put(peer, std::span(&local, 1), board->keys[0], std::span(&remote, 1), Wake::nobody, nullptr).error ==
            EPERM;
        good &= ops.get(peer, std::span(&local, 1), board->keys[0], std::span(&remote, 1), nullptr).error == EPERM;
        good &= ops.offered(peer, board->keys[1]) == ops.offers();
        good &=
            ops.put(peer, std::span(&local, 1), board->keys[1], std::span(&remote, 1), Wake::nobody, nullptr).is_done();
        good &= node.decisions.decisions().size() == 1;
        board->step = 2;
        return good;
    }));
    close(fd);
}

// A process is killed; what it leaves in the segment can still be read, its own memory cannot.
TEST(OneSidedSm, APeerThatDies) {
    const int fd = memfd();
    auto* board = test::shared_memory<Board>();
    const pid_t victim = fork();
    if (victim == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        SmNode node(fd, 1, 2, settings_with(SingleCopy::automatic));
        std::vector<std::byte> memory(mib);
        board->keys[0] = *node.sm->one_sided()->register_memory(memory.data(), mib);
        board->keys[1] =
            *node.sm->one_sided()->register_memory(node.segment->heap().alloc(mib, no_slot)->bytes.data(), mib);
        board->step = 1;
        for (;;) {
            pause();
        }
    }
    {
        SmNode node(fd, 0, 2, settings_with(SingleCopy::automatic));
        OneSided& ops = *node.sm->one_sided();
        board->wait_for(1);
        btl::Endpoint& peer = *node.sm->connect({0, 1});
        std::vector<std::byte> memory(mib);
        const iovec local{memory.data(), mib};
        const RemotePiece remote{0, mib};
        const auto put = [&](const RemoteKey& key) {
            return ops.put(peer, std::span(&local, 1), key, std::span(&remote, 1), Wake::target, nullptr).error;
        };
        const auto get = [&](const RemoteKey& key) {
            return ops.get(peer, std::span(&local, 1), key, std::span(&remote, 1), nullptr).error;
        };
        EXPECT_EQ(put(board->keys[0]), 0);
        kill(victim, SIGKILL);
        int error = 0;
        for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
             error == 0 && std::chrono::steady_clock::now() < end;) {
            error = put(board->keys[0]);
        }
        EXPECT_EQ(error, ESRCH); // also before it is waited for
        waitpid(victim, nullptr, 0);
        EXPECT_EQ(put(board->keys[0]), ESRCH);
        EXPECT_EQ(get(board->keys[0]), ESRCH);
        EXPECT_EQ(get(board->keys[1]), 0);
        EXPECT_TRUE(ops.flush(peer, nullptr).is_done());
        node.sm->peer_failed({0, 1});
        EXPECT_EQ(get(board->keys[1]), ESRCH);
    }
    close(fd);
}

constexpr std::uint64_t wakes = 5;

// Sleeps until the sum of two words, one of them in the segment, is 1, 2 and so on. Returns what went wrong.
std::string sleep_and_count(SmNode& node, Board& board) {
    OneSided& ops = *node.sm->one_sided();
    std::atomic<std::uint64_t> variable{0};
    const SharedBlock block = *node.segment->heap().alloc(64, no_slot);
    auto& word = *reinterpret_cast<std::atomic<std::uint64_t>*>(block.bytes.data());
    board.keys[0] = *ops.register_memory(&variable, sizeof variable);
    board.keys[1] = *ops.register_memory(block.bytes.data(), 64);
    board.step = 1;
    board.wait_for(2); // the first contact is a packet, which wakes, too
    Doorbell& bell = node.segment->own_control().bell;
    for (std::uint64_t wanted = 1; wanted <= wakes; ++wanted) {
        const std::uint32_t sequence = bell.prepare();
        all_cores_barrier();
        if (variable + word >= wanted) {
            return "counted without sleep " + std::to_string(wanted);
        }
        if (!bell.sleep(sequence, std::chrono::seconds(30)) || variable + word != wanted) {
            return "woken with " + std::to_string(variable + word) + " instead of " + std::to_string(wanted);
        }
        bell.cancel();
    }
    const std::uint32_t sequence = bell.prepare();
    board.step = 3;
    const bool woken = bell.sleep(sequence, std::chrono::milliseconds(200));
    bell.cancel();
    board.wait_for(4);
    return woken || variable + word != wakes + 1 ? "woken, or without the last put" : "";
}

// Does each operation that wakes once the other process sleeps, and at last one that wakes nobody.
std::string wake_by_each(SmNode& node, Board& board) {
    OneSided& ops = *node.sm->one_sided();
    board.wait_for(1);
    btl::Endpoint& peer = *node.sm->connect({0, 1});
    board.step = 2;
    Doorbell* bell = ops.bell(peer);
    std::uint64_t numbers[] = {1, 2};
    const RemotePiece place{0, sizeof numbers[0]};
    const auto put = [&](int number, int key, Wake wake) {
        const iovec what{&numbers[number - 1], sizeof numbers[0]};
        return ops.put(peer, std::span(&what, 1), board.keys[key], std::span(&place, 1), wake, nullptr).error;
    };
    const auto wait_for_sleep = [&] {
        while (!bell->flag_is_up()) {
            std::this_thread::yield();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    };
    auto& word = *reinterpret_cast<std::atomic<std::uint64_t>*>(ops.map(peer, board.keys[1]));
    int errors = 0;
    wait_for_sleep();
    errors += put(1, 0, Wake::target); // by CMA: 1 + 0
    wait_for_sleep();
    errors += put(1, 1, Wake::target); // 1 + 1
    wait_for_sleep();
    errors += ops.fetch_op(peer, Atomic::add, Width::bits64, board.keys[1], 0, 1, nullptr, Wake::target, nullptr).error;
    wait_for_sleep();
    errors += ops.compare_swap(peer, Width::bits64, board.keys[1], 0, 2, 3, nullptr, Wake::target, nullptr).error;
    wait_for_sleep();
    word.fetch_add(1); // 1 + 4
    bell->notify();
    board.wait_for(3);
    errors += put(2, 0, Wake::nobody); // 2 + 4
    board.step = 4;
    return errors == 0 ? "" : "errors " + std::to_string(errors);
}

TEST(OneSidedSm, OperationsWakeASleeper) {
    const int fd = memfd();
    auto* board = test::shared_memory<Board>();
    EXPECT_TRUE(test::run_processes(2, 60, [&](int rank) {
        SmNode::require(bool(register_all_cores_barrier()), "barrier");
        SmNode node(fd, std::uint32_t(rank), 2, settings_with(SingleCopy::automatic));
        return fine(rank == 1 ? sleep_and_count(node, *board) : wake_by_each(node, *board));
    }));
    close(fd);
}

class Self : public testing::Test {
protected:
    Progress progress;
    btl::self::SelfModule module{{0, 4}, progress, 1024, 1024};
    OneSided& ops = *module.one_sided();
    btl::Endpoint& peer = *module.connect({0, 4});
};

TEST_F(Self, PutsAndGetsOfAllSizesAndLists) {
    std::vector<std::byte> memory(room);
    std::vector<std::byte> shadow(room);
    const RemoteKey key = *ops.register_memory(memory.data(), room);
    EXPECT_EQ(ops.offered(peer, key), ops.offers());
    EXPECT_EQ(ops.map(peer, key), memory.data());
    EXPECT_EQ(exercise(ops, peer, key, shadow), "");
    EXPECT_EQ(memory, shadow);
}

TEST_F(Self, EachAtomicOperation) {
    std::array<std::uint64_t, 2> words{};
    const RemoteKey key = *ops.register_memory(words.data(), sizeof words);
    check_operations<std::uint64_t>(ops, peer, key, Width::bits64);
    check_operations<std::uint32_t>(ops, peer, key, Width::bits32);
}

TEST_F(Self, WhatIsWrongIsRefused) {
    std::array<std::uint64_t, 2> words{};
    const RemoteKey key = *ops.register_memory(words.data(), sizeof words);
    const auto add = [&](const RemoteKey& with, std::uint64_t offset) {
        return ops.fetch_op(peer, Atomic::add, Width::bits64, with, offset, 1, nullptr, Wake::target, nullptr).error;
    };
    EXPECT_EQ(add(key, 8), 0);
    EXPECT_EQ(add(key, 16), ERANGE);
    EXPECT_EQ(add(key, 4), EINVAL);
    EXPECT_EQ(add({}, 0), EACCES);
    EXPECT_EQ(words[1], 1u);
}

} // namespace
} // namespace patchbay
