// SPDX-License-Identifier: BSD-3-Clause
// Transfers and words over a btl whose operations end later than they begin.
#include "components/common/run_operation.h"
#include "components/osc/rdma/btl_words.h"
#include "components/osc/rdma/errors.h"
#include "components/osc/rdma/transfer.h"
#include "object/handle.h"
#include "object/recipe.h"
#include "tests/osc_rdma/slow_one_sided.h"

#include <gtest/gtest.h>
#include <random>
#include <vector>

void patchbay::Communicator::destroy(Communicator*) noexcept {}

namespace patchbay::osc::rdma {
namespace {
using test::AnyEndpoint;
using test::SlowOneSided;

constexpr std::size_t room = 1024 * 1024;

Ref<Datatype> vector_type(int blocks, int length, int stride) {
    Recipe recipe;
    recipe.combiner = MPI_COMBINER_VECTOR;
    recipe.integers = {blocks, length, stride};
    recipe.types.push_back(Ref<Datatype>::share(to_object<Datatype>(MPI_BYTE)));
    Ref<Datatype> type;
    EXPECT_EQ(Datatype::create(std::move(recipe), &type), MPI_SUCCESS);
    EXPECT_EQ(type->commit(), MPI_SUCCESS);
    return type;
}

class TransferTest : public testing::Test {
protected:
    TransferTest() {
        std::mt19937 random{5};
        for (auto* const memory : {&there, &here}) {
            for (std::byte& byte : *memory) {
                byte = std::byte(random());
            }
        }
        peer.one_sided = &btl;
        peer.endpoint = &endpoint;
        reach = Reach{&peer, 1, {}, place_bias, nullptr};
    }

    // Both directions against a copy by the convertors; returns the number of operations.
    int move(Direction direction, const Datatype& local, MPI_Count local_count, const Datatype& remote,
        MPI_Count remote_count, std::uint64_t place) {
        std::vector<std::byte> expected_there = there;
        std::vector<std::byte> expected_here = here;
        Convertor from(local, local_count, expected_here.data());
        Convertor to(remote, remote_count, expected_there.data() + place);
        std::vector<std::byte> stream(from.total());
        if (direction == Direction::put) {
            from.pack(stream.data(), stream.size());
            to.unpack(stream.data(), stream.size());
        } else {
            to.pack(stream.data(), stream.size());
            from.unpack(stream.data(), stream.size());
        }
        const int before = btl.operations;
        Convertor mine(local, local_count, here.data());
        Convertor places(remote, remote_count, reinterpret_cast<const void*>(place_bias + place));
        EXPECT_EQ(Transfer(progress, reach, direction, nullptr).run(mine, places, mine.total()), 0);
        EXPECT_GT(peer.started.load(), 0u);
        EXPECT_EQ(common::run_operation(progress, [&](btl::Completion* end) { return btl.flush(endpoint, end); }), 0);
        EXPECT_EQ(btl.pending(), 0u);
        EXPECT_TRUE(here == expected_here);
        EXPECT_TRUE(there == expected_there);
        return btl.operations - before;
    }

    Progress progress;
    std::vector<std::byte> there{room};
    std::vector<std::byte> here{room};
    SlowOneSided btl{progress, there.data(), room};
    AnyEndpoint endpoint;
    Peer peer;
    Reach reach;
};

TEST_F(TransferTest, Blocks) {
    const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
    for (const Direction direction : {Direction::put, Direction::get}) {
        EXPECT_EQ(move(direction, byte, 8, byte, 8, 0), 1);
        EXPECT_EQ(move(direction, byte, 300000, byte, 300000, 77), 1);
    }
}

TEST_F(TransferTest, DerivedTypes) {
    const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
    // Few large blocks, many small ones, and more than one operation has of them.
    const struct {
        int blocks, length, stride;
    } shapes[] = {{3, 5000, 9000}, {4000, 8, 24}, {100, 64, 4096}, {600, 800, 1500}, {20, 1, 30000}};
    for (const Direction direction : {Direction::put, Direction::get}) {
        for (const auto& shape : shapes) {
            const Ref<Datatype> type = vector_type(shape.blocks, shape.length, shape.stride);
            const MPI_Count bytes = type->size;
            move(direction, byte, bytes, *type, 1, 13);
            move(direction, *type, 1, byte, bytes, 13);
            move(direction, *type, 1, *type, 1, 4096);
            if (bytes % 200 == 0) {
                const Ref<Datatype> other = vector_type(int(bytes / 200), 200, 333);
                move(direction, *type, 1, *other, 1, 0);
                move(direction, *other, 1, *type, 1, 0);
            }
        }
    }
}

// What README.md says about short pieces: a range of them is read by one operation, and blocks of the own process cost
// no entry each.
TEST_F(TransferTest, ShortPieces) {
    const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
    const Ref<Datatype> dense = vector_type(1000, 8, 16);
    EXPECT_EQ(move(Direction::get, byte, 8000, *dense, 1, 0), 4) << "256 pieces each, as one range";
    EXPECT_EQ(move(Direction::put, *dense, 1, byte, 8000, 0), 1);
    EXPECT_EQ(move(Direction::put, byte, 8000, *dense, 1, 0), 4) << "what is between the pieces must not be written";
}

TEST_F(TransferTest, RequestIsCompleteWithTheLastOperation) {
    const Ref<Datatype> type = vector_type(600, 800, 1500);
    Communicator comm;
    auto* const request = new TransferRequest(progress, comm);
    Convertor mine(*type, 1, here.data());
    Convertor places(*type, 1, reinterpret_cast<const void*>(place_bias));
    EXPECT_EQ(Transfer(progress, reach, Direction::put, request).run(mine, places, mine.total()), 0);
    request->end_of_starts();
    EXPECT_GT(btl.pending(), 0u);
    EXPECT_FALSE(request->is_complete());
    progress.poll();
    EXPECT_TRUE(request->is_complete());
    EXPECT_EQ(request->error, MPI_SUCCESS);
    request->recycle();
}

TEST_F(TransferTest, FailureIsThatOfTheRequest) {
    const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
    Communicator comm;
    auto* const request = new TransferRequest(progress, comm);
    btl.fails_at = btl.operations;
    Convertor mine(byte, 100, here.data());
    EXPECT_EQ(Transfer(progress, reach, Direction::put, request).run_block(here.data(), place_bias, 100), 0);
    request->end_of_starts();
    progress.poll();
    ASSERT_TRUE(request->is_complete());
    EXPECT_EQ(request->error, MPI_ERR_PROC_ABORTED);
    EXPECT_FALSE(request->cause().empty());
    request->recycle();
}

TEST_F(TransferTest, OutsideOfTheRange) {
    EXPECT_EQ(
        Transfer(progress, reach, Direction::put, nullptr).run_block(here.data(), place_bias + room - 4, 8), ERANGE);
    EXPECT_EQ(code_of(ERANGE), MPI_ERR_RMA_RANGE);
}

TEST_F(TransferTest, Words) {
    std::vector<std::uint64_t> own(64);
    BtlWords words(0, 2, reinterpret_cast<std::byte*>(own.data()), progress);
    words.set_way(1, {&btl, &endpoint, {}});
    std::uint64_t value = 0;
    EXPECT_EQ(words.set(1, 3, 5), MPI_SUCCESS);
    EXPECT_EQ(words.fetch_add(1, 3, 7, value), MPI_SUCCESS);
    EXPECT_EQ(value, 5u);
    bool swapped = true;
    EXPECT_EQ(words.compare_swap(1, 3, 5, 1, swapped), MPI_SUCCESS);
    EXPECT_FALSE(swapped);
    EXPECT_EQ(words.compare_swap(1, 3, 12, 100, swapped), MPI_SUCCESS);
    EXPECT_TRUE(swapped);
    EXPECT_EQ(words.load(1, 3, value), MPI_SUCCESS);
    EXPECT_EQ(value, 100u);
    EXPECT_EQ(words.exchange(0, 2, 9), MPI_SUCCESS);
    EXPECT_EQ(words.own(2).load(), 9u);
    btl.fails_at = btl.operations;
    EXPECT_EQ(words.load(1, 3, value), MPI_ERR_PROC_ABORTED);
}

} // namespace
} // namespace patchbay::osc::rdma
