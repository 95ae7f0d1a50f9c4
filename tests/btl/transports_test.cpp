// SPDX-License-Identifier: BSD-3-Clause
// Transports over modules of the test: which way, whose packet, who is called when.
#include "core/progress/progress.h"
#include "frameworks/btl/transports.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace patchbay {
namespace {
using btl::Consumer;
using btl::ConsumerHandle;
using btl::ConsumerId;
using btl::Offers;
using btl::Transports;

constexpr ProcessId self{0, 0};
constexpr ProcessId near{0, 1};
constexpr ProcessId far{0, 9};

// Reaches the processes below a rank, and delivers the headers that the test puts into `arrived`.
class FakeModule final : public btl::Module {
public:
    FakeModule(const char* name, unsigned latency_ns, std::uint32_t ranks, bool unsolicited)
        : _name(name),
          _ranks(ranks),
          _endpoint({0, 1}) {
        _limits.latency_ns = latency_ns;
        _limits.unsolicited = unsolicited;
    }
    const char* name() const noexcept override { return _name; }
    const btl::Limits& limits() const noexcept override { return _limits; }
    void set_receiver(btl::Receiver receiver, void* context) noexcept override {
        _receiver = receiver;
        _context = context;
    }
    bool reaches(ProcessId process) const noexcept override { return process.rank < _ranks; }
    Status open() noexcept override {
        ++opened;
        return {};
    }
    btl::Endpoint* connect(ProcessId) noexcept override { return fails ? nullptr : &_endpoint; }
    btl::SendCode send(btl::Endpoint&, const void*, std::size_t, const void*, std::size_t) noexcept override {
        return btl::SendCode::ok;
    }
    Reservation reserve(btl::Endpoint&, std::size_t, std::size_t) noexcept override { return {}; }
    btl::SendCode commit(btl::Endpoint&, const void*, std::size_t, std::size_t) noexcept override {
        return btl::SendCode::ok;
    }
    void peer_failed(ProcessId process) noexcept override { failed.push_back(process.rank); }
    bool has_ended(JobNumber job) noexcept override { return job != not_ended; }
    void forget(JobNumber job) noexcept override { forgotten.push_back(job); }
    int poll() noexcept override {
        ++polls;
        int delivered = 0;
        for (const std::uint8_t first : std::exchange(arrived, {})) {
            delivered += 1;
            if (!_receiver(_context, _endpoint, &first, 1, nullptr, 0)) {
                arrived.push_back(first);
            }
        }
        return delivered;
    }

    std::vector<std::uint8_t> arrived;
    std::vector<std::uint32_t> failed;
    std::vector<JobNumber> forgotten;
    JobNumber not_ended = own_job;
    int polls = 0;
    int opened = 0;
    bool fails = false;

private:
    class FakeEndpoint final : public btl::Endpoint {
    public:
        explicit FakeEndpoint(ProcessId process) noexcept
            : Endpoint(process) {}
    };
    const char* _name;
    const std::uint32_t _ranks;
    FakeEndpoint _endpoint;
    btl::Limits _limits;
    btl::Receiver _receiver = nullptr;
    void* _context = nullptr;
};

// A consumer that records what it is called for.
struct Record {
    Consumer consumer() {
        return {this,
            [](void* context, btl::Endpoint&, const void* header, std::size_t, const void*, std::size_t) noexcept {
                auto& record = *static_cast<Record*>(context);
                record.received.push_back(*static_cast<const std::uint8_t*>(header));
                return record.takes;
            },
            [](void* context) noexcept {
                auto& record = *static_cast<Record*>(context);
                ++record.worked;
                if (record.again-- > 0) {
                    record.transports->mark(record.id);
                }
                return 1;
            },
            [](void* context, ProcessId process) noexcept {
                static_cast<Record*>(context)->failed.push_back(process.rank);
            },
            [](void* context, JobNumber job) noexcept { return static_cast<Record*>(context)->needed != job; },
            [](void* context, JobNumber job) noexcept { static_cast<Record*>(context)->forgotten.push_back(job); }};
    }
    Transports* transports;
    ConsumerId id;
    std::vector<std::uint8_t> received;
    std::vector<std::uint32_t> failed;
    std::vector<JobNumber> forgotten{};
    JobNumber needed = own_job;
    int worked = 0;
    int again = 0;
    bool takes = true;
};

class TransportsTest : public testing::Test {
protected:
    static FakeModule* make(
        btl::Selection& selection, const char* name, unsigned latency_ns, std::uint32_t ranks, bool unsolicited) {
        auto module = std::make_unique<FakeModule>(name, latency_ns, ranks, unsolicited);
        FakeModule* const made = module.get();
        selection.modules.push_back(std::move(module));
        return made;
    }
    Transports make_transports() {
        btl::Selection selection;
        slow = make(selection, "slow", 900, 10, false);
        fast = make(selection, "fast", 100, 2, true);
        twin = make(selection, "twin", 100, 2, false);
        return Transports(progress, self, std::move(selection));
    }
    ConsumerHandle add(Record& record) {
        auto added = transports.add_consumer(record.id, record.consumer());
        EXPECT_TRUE(added);
        return std::move(*added);
    }

    Progress progress;
    FakeModule* slow = nullptr;
    FakeModule* fast = nullptr;
    FakeModule* twin = nullptr;
    Transports transports{make_transports()};
    Record pml{&transports, ConsumerId::pml, {}, {}};
    Record chan{&transports, ConsumerId::chan, {}, {}};
};

TEST_F(TransportsTest, TheWaysToAProcessBestFirst) {
    EXPECT_EQ(transports.module_to(near), fast) << "the one with the higher priority of two equally fast ones";
    EXPECT_EQ(transports.module_to(near, 1), twin);
    EXPECT_EQ(transports.module_to(near, 2), slow);
    EXPECT_EQ(transports.module_to(near, 3), nullptr);
    EXPECT_EQ(transports.module_to(far), slow);
    EXPECT_EQ(transports.module_to({0, 10}), nullptr);
    EXPECT_EQ(transports.one_sided_to(near, Offers::none), nullptr) << "none of them is one-sided";
}

TEST_F(TransportsTest, PacketsGoToTheirConsumers) {
    const ConsumerHandle first = add(pml);
    const ConsumerHandle second = add(chan);
    fast->arrived = {btl::first_byte(ConsumerId::pml, 1), btl::first_byte(ConsumerId::chan, 31),
        btl::first_byte(ConsumerId::pml, 15), btl::first_byte(ConsumerId::chan, 0)};
    EXPECT_EQ(progress.poll(), 4);
    EXPECT_EQ(pml.received, (std::vector<std::uint8_t>{1, 15}));
    EXPECT_EQ(chan.received, (std::vector<std::uint8_t>{2 << 5 | 31, 2 << 5}));
    EXPECT_FALSE(transports.add_consumer(ConsumerId::chan, chan.consumer())) << "there is one already";
}

TEST_F(TransportsTest, APacketThatIsNotTakenComesAgain) {
    const ConsumerHandle handle = add(chan);
    chan.takes = false;
    fast->arrived = {btl::first_byte(ConsumerId::chan, 7)};
    progress.poll();
    chan.takes = true;
    progress.poll();
    progress.poll();
    EXPECT_EQ(chan.received.size(), 2u);
}

TEST_F(TransportsTest, APacketForNobodyIsReportedAndLost) {
    const ConsumerHandle handle = add(pml);
    { const ConsumerHandle ended = add(chan); }
    fast->arrived = {btl::first_byte(ConsumerId::chan, 7), btl::first_byte(ConsumerId::osc, 0)};
    testing::internal::CaptureStderr();
    progress.poll();
    const std::string printed = testing::internal::GetCapturedStderr();
    EXPECT_NE(printed.find("no consumer 2"), std::string::npos) << printed;
    EXPECT_NE(printed.find("no consumer 1"), std::string::npos) << printed;
    EXPECT_TRUE(pml.received.empty() && chan.received.empty() && fast->arrived.empty());
}

TEST_F(TransportsTest, ModulesArePolledWhileThereIsAConsumerAndANeed) {
    progress.poll();
    EXPECT_EQ(fast->polls, 0);
    {
        const ConsumerHandle handle = add(pml);
        progress.poll();
        EXPECT_EQ(fast->polls, 1);
        EXPECT_EQ(slow->polls, 0) << "nobody sends to this process by it yet";
        EXPECT_TRUE(transports.may_expect());
        EXPECT_TRUE(transports.expect(near));
        EXPECT_EQ(fast->opened + twin->opened + slow->opened, 0) << "the other process uses the fastest one, too";
        EXPECT_TRUE(transports.expect(far));
        EXPECT_EQ(slow->opened, 1);
        EXPECT_EQ(transports.connect(*twin, near).module, twin);
        EXPECT_EQ(transports.connect(near).module, fast);
        EXPECT_FALSE(transports.may_expect());
        progress.poll();
        EXPECT_TRUE(fast->polls == 2 && twin->polls == 1 && slow->polls == 1);
    }
    progress.poll();
    EXPECT_EQ(fast->polls, 2);
}

TEST_F(TransportsTest, WaysThatFail) {
    fast->fails = true;
    EXPECT_FALSE(transports.connect(near));
    EXPECT_FALSE(transports.connect({0, 100}));
    const std::string text = transports.unreachable_text({0, 100});
    EXPECT_EQ(text.find("no btl in use (fast, twin, slow) reaches process 100"), 0U) << text;
    EXPECT_EQ(transports.unreachable_text(near), "");
}

TEST_F(TransportsTest, AMarkedConsumerWorksOnceAtTheEndOfAPoll) {
    const ConsumerHandle first = add(pml);
    const ConsumerHandle second = add(chan);
    EXPECT_EQ(progress.poll(), 0);
    transports.mark(ConsumerId::chan);
    EXPECT_EQ(progress.poll(), 1);
    EXPECT_EQ(progress.poll(), 0);
    EXPECT_TRUE(chan.worked == 1 && pml.worked == 0);
    chan.again = 2;
    transports.mark(ConsumerId::chan);
    transports.mark(ConsumerId::pml);
    EXPECT_EQ(progress.poll(), 2);
    EXPECT_EQ(progress.poll(), 1);
    EXPECT_EQ(progress.poll(), 1);
    EXPECT_EQ(progress.poll(), 0);
    EXPECT_TRUE(chan.worked == 4 && pml.worked == 1);
}

TEST_F(TransportsTest, AFailureLosesNoPacketOfLaterConsumers) {
    fast->arrived = {btl::first_byte(ConsumerId::chan, 1)};
    transports.peer_failed(far);
    const ConsumerHandle handle = add(chan);
    progress.poll();
    EXPECT_EQ(chan.received.size(), 1u);
}

TEST_F(TransportsTest, AllAreToldOnceOfAFailureAfterWhatHasArrived) {
    const ConsumerHandle first = add(pml);
    const ConsumerHandle second = add(chan);
    fast->arrived = {btl::first_byte(ConsumerId::chan, 1)};
    EXPECT_FALSE(transports.has_failed(far));
    transports.peer_failed(near);
    EXPECT_EQ(chan.received.size(), 1u);
    transports.peer_failed(far);
    transports.peer_failed(near);
    EXPECT_TRUE(transports.has_failed(far) && transports.has_failed(near) && !transports.has_failed(self));
    EXPECT_EQ(pml.failed, (std::vector<std::uint32_t>{1, 9}));
    EXPECT_EQ(chan.failed, pml.failed);
    EXPECT_EQ(slow->failed, pml.failed);
    EXPECT_EQ(fast->failed, std::vector<std::uint32_t>{1});
}

TEST_F(TransportsTest, AJobIsForgottenWhenAllModulesAndConsumersCanDoWithoutIt) {
    const ConsumerHandle handle = add(pml);
    twin->not_ended = 3;
    pml.needed = 4;
    transports.peer_failed({5, 0});
    transports.peer_failed({4, 0});
    fast->arrived = {0};
    const JobNumber jobs[] = {3, 4, 5};
    transports.forget_ended(jobs);
    EXPECT_EQ(pml.received.size(), 1u) << "what has arrived comes first";
    for (const FakeModule* module : {slow, fast, twin}) {
        EXPECT_EQ(module->forgotten, std::vector<JobNumber>{5}) << module->name();
    }
    EXPECT_EQ(pml.forgotten, std::vector<JobNumber>{5});
    EXPECT_FALSE(transports.has_failed({5, 0}));
    EXPECT_TRUE(transports.has_failed({4, 0}));
}

} // namespace
} // namespace patchbay
