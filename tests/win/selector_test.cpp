// SPDX-License-Identifier: BSD-3-Clause
// How the members of a window agree on a component.
#include "frameworks/osc/selector.h"

#include "core/component/describe.h"
#include "core/core.h"
#include "tests/fakes/unused_context.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace patchbay;

namespace {

struct Behaviour {
    const char* name;
    int priority;
    bool shared_only = false; // refuses windows that are not allocated
};

template <const Behaviour& behaviour>
class Fake final : public osc::Component {
public:
    Capability capabilities() const noexcept override { return Capability::none; }
    Result<int> query(Context&, const Window& window) override {
        if (behaviour.shared_only && window.flavor != MPI_WIN_FLAVOR_SHARED) {
            return Error{Errc::not_available, "only shared windows"};
        }
        return behaviour.priority;
    }
    Result<std::unique_ptr<osc::Module>> create(Context&, Window&) noexcept override {
        return Error{Errc::not_available, "a fake"};
    }
};

constexpr Behaviour slow{"slow", 10};
constexpr Behaviour fast{"fast", 50, true};
constexpr Behaviour middle{"middle", 30};

template <const Behaviour& behaviour>
constexpr ComponentDescriptor described = describe<Fake<behaviour>>(
    "osc", osc::interface_version, behaviour.name, "1.0.0", "a fake");

class TestContext final : public UnusedContext {
public:
    explicit TestContext(Core& core)
        : _core(core) {}
    Core& core() noexcept override { return _core; }

private:
    Core& _core;
};

class SelectorTest : public testing::Test {
protected:
    void SetUp() override {
        static constexpr const ComponentDescriptor* components[] = {
            &described<slow>, &described<fast>, &described<middle>};
        auto made = Core::create(components, {}, {});
        ASSERT_TRUE(made) << made.error().text;
        core = std::move(*made);
        core->decisions.enable(true);
        auto opened = framework.open(*core);
        ASSERT_TRUE(opened) << opened.error().text;
        lease.emplace(std::move(*opened));
        window.size = 2;
        window.comm = &comm;
    }
    void TearDown() override {
        comm.view = nullptr;
        window.comm = nullptr;
    }

    std::vector<std::string> names(const osc::Selector::Candidates& candidates) {
        std::vector<std::string> result;
        for (const auto& candidate : candidates) {
            result.push_back(candidate.name);
        }
        return result;
    }
    osc::Selector::Candidates query(int flavor, const std::string& only = {}) {
        window.flavor = flavor;
        TestContext context(*core);
        auto found = selector.query(context, window, only);
        EXPECT_TRUE(found) << found.error().text;
        return found ? std::move(*found) : osc::Selector::Candidates();
    }
    Status keep_common(osc::Selector::Candidates& own, const osc::Selector::Offers& of_rank_0) {
        TestContext context(*core);
        const std::array offers{of_rank_0, osc::Selector::offers_of(own)};
        return selector.keep_common(context, window, own, offers);
    }

    std::unique_ptr<Core> core;
    Framework<osc::Component> framework{"osc", osc::interface_version};
    std::optional<Lease> lease;
    osc::Selector selector{framework};
    Communicator comm;
    Window window;
};

using Names = std::vector<std::string>;

// None of these components has Capability::peers_threads.
TEST_F(SelectorTest, ComponentsThatDoNotSayThatTheyServeThreadsAreNotAsked) {
    int place = 0;
    comm.view = reinterpret_cast<threads::View*>(&place);
    TestContext context(*core);
    const auto found = selector.query(context, window, {});
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().text.find("threads"), std::string::npos) << found.error().text;
}

TEST_F(SelectorTest, ComponentsAreInOrderOfPriority) {
    EXPECT_EQ(names(query(MPI_WIN_FLAVOR_SHARED)), (Names{"fast", "middle", "slow"}));
    EXPECT_EQ(names(query(MPI_WIN_FLAVOR_CREATE)), (Names{"middle", "slow"}));
    EXPECT_EQ(names(query(MPI_WIN_FLAVOR_SHARED, "slow")), (Names{"slow"}));
    EXPECT_EQ(names(query(MPI_WIN_FLAVOR_SHARED, "^fast")), (Names{"middle", "slow"}));
}

TEST_F(SelectorTest, NoComponent) {
    window.flavor = MPI_WIN_FLAVOR_CREATE;
    TestContext context(*core);
    const auto found = selector.query(context, window, "fast");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, Errc::not_available);
    EXPECT_NE(found.error().text.find("only shared windows"), std::string::npos) << found.error().text;
}

// What a member refuses is left out in all of them.
TEST_F(SelectorTest, RefusedByOne) {
    auto own = query(MPI_WIN_FLAVOR_SHARED);
    const auto of_rank_0 = osc::Selector::offers_of(query(MPI_WIN_FLAVOR_CREATE));
    ASSERT_TRUE(keep_common(own, of_rank_0));
    EXPECT_EQ(names(own), (Names{"middle", "slow"}));
}

TEST_F(SelectorTest, TheOrderIsThatOfRank0) {
    auto own = query(MPI_WIN_FLAVOR_CREATE);
    auto of_rank_0 = osc::Selector::offers_of(own);
    std::swap(of_rank_0[0], of_rank_0[1]);
    ASSERT_TRUE(keep_common(own, of_rank_0));
    EXPECT_EQ(names(own), (Names{"slow", "middle"}));
}

TEST_F(SelectorTest, NothingInCommon) {
    auto own = query(MPI_WIN_FLAVOR_SHARED, "fast");
    const Status common = keep_common(own, osc::Selector::offers_of(query(MPI_WIN_FLAVOR_CREATE)));
    ASSERT_FALSE(common);
    EXPECT_EQ(common.error().code, Errc::not_available);
    EXPECT_NE(common.error().text.find("fast"), std::string::npos) << common.error().text;
}

} // namespace
