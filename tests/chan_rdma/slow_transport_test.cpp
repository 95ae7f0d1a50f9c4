// SPDX-License-Identifier: BSD-3-Clause
// Both halves of a channel over a transport whose operations end later than they begin.
#include "components/chan/rdma/receive_half.h"
#include "components/chan/rdma/send_half.h"
#include "object/recipe.h"
#include "object/status.h"
#include "tests/chan_rdma/slow_module.h"
#include "tests/fakes/unused_context.h"

#include <array>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <vector>

void patchbay::Communicator::destroy(Communicator*) noexcept {}

namespace patchbay::chan::rdma {
namespace {

class OnlyProgress final : public UnusedContext {
public:
    Progress& progress() noexcept override { return _progress; }

private:
    Progress _progress;
};

Ref<Datatype> every_other_int(int count) {
    Recipe recipe;
    recipe.combiner = MPI_COMBINER_VECTOR;
    recipe.integers = {count, 1, 2};
    recipe.types.push_back(Ref<Datatype>::share(to_object<Datatype>(MPI_INT)));
    Ref<Datatype> type;
    EXPECT_EQ(Datatype::create(std::move(recipe), &type), MPI_SUCCESS);
    EXPECT_EQ(type->commit(), MPI_SUCCESS);
    return type;
}

struct Shape {
    std::uint32_t slackness = 1;
    bool synchronous = false;
    bool gaps_out = false;
    bool gaps_in = false;
};

class SlowTransport : public testing::Test {
protected:
    static constexpr int count = 1000;

    SlowTransport() {
        btl::Selection selection;
        selection.modules.push_back(std::make_unique<test::SlowModule>());
        module = static_cast<test::SlowModule*>(selection.modules.front().get());
        transports = std::make_unique<btl::Transports>(context.progress(), ProcessId{}, std::move(selection));
        gaps = every_other_int(count);
    }
    ~SlowTransport() override {
        for (Channel* half : {receive, send}) {
            if (half != nullptr) {
                half->begin_unbinding();
                half->disconnect();
                half->end_unbinding(MPI_SUCCESS);
                half->recycle_complete();
            }
        }
    }

    void bind(const Shape& shape) {
        out.resize(std::size_t(2 * count) * shape.slackness);
        in.resize(std::size_t(2 * count) * shape.slackness);
        const Datatype* const plain = to_object<Datatype>(MPI_INT);
        const auto side = [&](bool sends, std::vector<int>& buffer, bool with_gaps) {
            Binding binding{};
            binding.side = {sends, shape.synchronous, buffer.data(), with_gaps ? 1 : count,
                with_gaps ? gaps.get() : plain, shape.slackness, MPI_Aint(2 * count * sizeof(int))};
            binding.comm = &comm;
            binding.bytes = count * sizeof(int);
            return binding;
        };
        auto partner = Partner::find(*transports, ProcessId{});
        ASSERT_TRUE(partner);
        Offer of_receive, of_send;
        auto made = ReceiveHalf::make(context, side(false, in, shape.gaps_in), shared.use(context, *transports),
            *partner, nullptr, 4096, of_receive);
        ASSERT_TRUE(made);
        receive = *made;
        made = SendHalf::make(
            context, side(true, out, shape.gaps_out), shared.use(context, *transports), *partner, nullptr, of_send);
        ASSERT_TRUE(made);
        send = *made;
        receive->enter_list();
        send->enter_list();
        EXPECT_EQ(send->connect(std::as_bytes(std::span(&of_receive, 1))), MPI_SUCCESS);
        EXPECT_EQ(receive->connect(std::as_bytes(std::span(&of_send, 1))), MPI_SUCCESS);
    }

    // The element of a message, in the memory of its slot.
    static std::size_t at(std::uint32_t slot, bool with_gaps, int i) {
        return std::size_t(2 * count) * slot + std::size_t(with_gaps ? 2 * i : i);
    }
    void wait(Channel& half) {
        for (int polls = 0; !half.has_completed(); ++polls) {
            ASSERT_LT(polls, 1000);
            context.progress().poll();
        }
    }

    void run(const Shape& shape, int messages) {
        bind(shape);
        const int most = int(shape.slackness);
        for (int first = 0; first < messages; first += most) {
            // A synchronous send may be started first.
            if (!shape.synchronous) {
                start_all(*receive, most);
            }
            for (int k = 0; k < most; ++k) {
                for (int i = 0; i < count; ++i) {
                    out[at(std::uint32_t(k), shape.gaps_out, i)] = 1000 * (first + k) + i;
                }
                EXPECT_EQ(send->start(), MPI_SUCCESS);
            }
            if (shape.synchronous) {
                for (int polls = 0; polls < 20; ++polls) {
                    context.progress().poll();
                }
                EXPECT_FALSE(send->has_completed());
                start_all(*receive, most);
            }
            for (int k = 0; k < most; ++k) {
                wait(*receive);
                EXPECT_EQ(receive->error, MPI_SUCCESS);
                EXPECT_EQ(status_bytes(receive->status), count * sizeof(int));
                int wrong = 0;
                for (int i = 0; i < count; ++i) {
                    wrong += in[at(std::uint32_t(k), shape.gaps_in, i)] != 1000 * (first + k) + i;
                }
                EXPECT_EQ(wrong, 0) << "message " << first + k;
                receive->end_start();
                wait(*send);
                EXPECT_EQ(send->error, MPI_SUCCESS);
                send->end_start();
            }
            EXPECT_FALSE(send->is_active());
            EXPECT_FALSE(receive->is_active());
        }
    }
    static void start_all(Channel& half, int starts) {
        for (int i = 0; i < starts; ++i) {
            EXPECT_EQ(half.start(), MPI_SUCCESS);
        }
    }

    OnlyProgress context;
    test::SlowModule* module = nullptr;
    std::unique_ptr<btl::Transports> transports;
    Communicator comm;
    Ref<Datatype> gaps;
    Shared shared;
    std::vector<int> out, in;
    Channel* receive = nullptr;
    Channel* send = nullptr;
};

TEST_F(SlowTransport, InPlace) {
    run({}, 20);
}
TEST_F(SlowTransport, Slack) {
    run({.slackness = 5}, 50);
}
TEST_F(SlowTransport, GapsOnBothSides) {
    run({.slackness = 3, .gaps_out = true, .gaps_in = true}, 30);
}
TEST_F(SlowTransport, GapsOfTheSender) {
    run({.gaps_out = true}, 10);
}
TEST_F(SlowTransport, GapsOfTheReceiver) {
    run({.slackness = 2, .gaps_in = true}, 10);
}
TEST_F(SlowTransport, SynchronousSendsWaitForTheReceive) {
    run({.slackness = 4, .synchronous = true}, 40);
}
TEST_F(SlowTransport, ManyUsesOfASlot) {
    run({}, 20000); // more than the number of a use has values
}

TEST_F(SlowTransport, Rebind) {
    bind({});
    std::vector<int> elsewhere(count, -1);
    EXPECT_EQ(receive->rebind(elsewhere.data(), 10), MPI_SUCCESS);
    EXPECT_EQ(send->rebind(out.data(), 10), MPI_SUCCESS);
    std::iota(out.begin(), out.end(), 0);
    start_all(*receive, 1);
    start_all(*send, 1);
    wait(*receive);
    EXPECT_EQ(receive->error, MPI_SUCCESS);
    EXPECT_EQ(status_bytes(receive->status), 10 * sizeof(int));
    EXPECT_EQ(elsewhere[9], 9);
    EXPECT_EQ(elsewhere[10], -1);
    receive->end_start();
    wait(*send);
    send->end_start();
    // Longer than the receiver's buffer: nothing behind it is written.
    EXPECT_EQ(send->rebind(out.data(), 11), MPI_SUCCESS);
    start_all(*receive, 1);
    start_all(*send, 1);
    wait(*receive);
    EXPECT_EQ(receive->error, MPI_ERR_TRUNCATE);
    EXPECT_EQ(elsewhere[10], -1);
    receive->end_start();
    wait(*send);
    send->end_start();
}

TEST_F(SlowTransport, FailureOfThePartner) {
    bind({.slackness = 2});
    module->fails_at = module->operations + 1;
    start_all(*receive, 2);
    start_all(*send, 2);
    wait(*send);
    send->end_start();
    wait(*send);
    EXPECT_EQ(send->error, MPI_ERR_PROC_ABORTED);
    send->end_start();
    receive->partner_failed();
    for (int i = 0; i < 2; ++i) {
        wait(*receive);
        receive->end_start();
    }
    EXPECT_EQ(receive->error, MPI_ERR_PROC_ABORTED);
    start_all(*send, 1); // and all later ones
    wait(*send);
    EXPECT_EQ(send->error, MPI_ERR_PROC_ABORTED);
    send->end_start();
}

} // namespace
} // namespace patchbay::chan::rdma
