// SPDX-License-Identifier: BSD-3-Clause
// How the btls of a job are selected and wrapped.
#include "core/component/describe.h"
#include "core/core.h"
#include "frameworks/btl/forward.h"
#include "frameworks/btl/select.h"
#include "frameworks/wrap_params.h"
#include "tests/fakes/unused_context.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace patchbay;

namespace {

int open_components = 0;
int orphans = 0; // modules that were destroyed when their component was closed already
btl::Limits limits_of_modules;

class FakeModule final : public btl::Module {
public:
    explicit FakeModule(const char* name)
        : _name(name) {}
    ~FakeModule() override { orphans += open_components == 0; }
    const char* name() const noexcept override { return _name; }
    const btl::Limits& limits() const noexcept override { return _limits; }
    void set_receiver(btl::Receiver, void*) noexcept override {}
    bool reaches(ProcessId) const noexcept override { return false; }
    btl::Endpoint* connect(ProcessId) noexcept override { return nullptr; }
    btl::SendCode send(btl::Endpoint&, const void*, std::size_t, const void*, std::size_t) noexcept override {
        return btl::SendCode::failed;
    }
    Reservation reserve(btl::Endpoint&, std::size_t, std::size_t) noexcept override {
        return {btl::SendCode::failed, {}};
    }
    btl::SendCode commit(btl::Endpoint&, const void*, std::size_t, std::size_t) noexcept override {
        return btl::SendCode::failed;
    }
    int poll() noexcept override { return ++_polls; }

private:
    const char* _name;
    const btl::Limits _limits = limits_of_modules;
    int _polls = 0;
};

class FakeComponent : public btl::Component {
public:
    Status open(Core&) override {
        ++open_components;
        return {};
    }
    void close() noexcept override { --open_components; }
    Capability capabilities() const noexcept override { return Capability::thread_multiple; }
};

struct Kind {
    const char* name;
    int priority;
};
constexpr Kind near{"near", 50};
constexpr Kind far{"far", 20};

template <const Kind& kind>
class Transport final : public FakeComponent {
public:
    Result<btl::Candidate> query(Context&) override {
        return btl::Candidate{kind.priority, std::make_unique<FakeModule>(kind.name)};
    }
};

// Wraps all transports, or fails for the second one.
bool fails_for_far = false;

class WrappingModule final : public btl::Forward {
public:
    using Forward::Forward;
    int poll() noexcept override { return 100 + Forward::poll(); }
};

class Wrapper final : public FakeComponent {
public:
    Result<btl::Candidate> query(Context&) override { return Error{Errc::not_available, "it only wraps"}; }
    Status wrap(Context&, std::unique_ptr<btl::Module>& module) override {
        if (fails_for_far && std::string(module->name()) == "far") {
            return Error{Errc::system, "no room"};
        }
        module = std::make_unique<WrappingModule>(std::move(module));
        return {};
    }
};

template <class ComponentT>
constexpr ComponentDescriptor described(const char* name) {
    return describe<ComponentT>("btl", btl::interface_version, name, "1.0.0", "a fake");
}
constexpr ComponentDescriptor near_component = described<Transport<near>>("near");
constexpr ComponentDescriptor far_component = described<Transport<far>>("far");
constexpr ComponentDescriptor wrapper_component = described<Wrapper>("wrapper");
constexpr const ComponentDescriptor* all[] = {&near_component, &far_component, &wrapper_component};

class CoreContext final : public UnusedContext {
public:
    explicit CoreContext(Core& core)
        : _core(core) {}
    Core& core() noexcept override { return _core; }

private:
    Core& _core;
};

class BtlSelect : public testing::Test {
protected:
    Result<btl::Selection> select(std::vector<std::string> environment) {
        ParamSources places;
        places.environment = std::move(environment);
        core = std::move(*Core::create(all, places, {}));
        CoreContext context(*core);
        return btl::select(framework, context);
    }
    void SetUp() override {
        open_components = orphans = 0;
        fails_for_far = false;
        limits_of_modules.header = btl::smallest_header_room;
        limits_of_modules.eager = limits_of_modules.packet = 1024;
    }

    std::unique_ptr<Core> core;
    Framework<btl::Component> framework{"btl", btl::interface_version, wrap_params, std::size(wrap_params)};
};

TEST_F(BtlSelect, AllAreUsedBestFirst) {
    {
        auto selection = select({});
        ASSERT_TRUE(selection) << selection.error().text;
        ASSERT_EQ(selection->modules.size(), 2u);
        EXPECT_STREQ(selection->modules[0]->name(), "near");
        EXPECT_STREQ(selection->modules[1]->name(), "far");
        EXPECT_EQ(selection->modules[0]->poll(), 1);
        EXPECT_EQ(open_components, 3);
    }
    EXPECT_EQ(open_components, 0);
    EXPECT_EQ(orphans, 0);
}

TEST_F(BtlSelect, AnInterposerStandsBeforeEach) {
    {
        auto selection = select({"PATCHBAY_MCA_btl_wrap=wrapper"});
        ASSERT_TRUE(selection) << selection.error().text;
        ASSERT_EQ(selection->modules.size(), 2u);
        EXPECT_STREQ(selection->modules[1]->name(), "far");
        EXPECT_EQ(selection->modules[0]->poll(), 101);
        EXPECT_EQ(selection->modules[1]->poll(), 101);
    }
    EXPECT_EQ(open_components, 0);
    EXPECT_EQ(orphans, 0);
}

TEST_F(BtlSelect, ModulesWhosePacketsHaveNoRoomAreErrors) {
    const auto is_error = [this] {
        auto selection = select({});
        return !selection && selection.error().text.find("component near of framework btl") == 0;
    };
    limits_of_modules.eager = 0; // every message is announced
    EXPECT_FALSE(is_error());
    limits_of_modules.packet = 0;
    EXPECT_TRUE(is_error());
    limits_of_modules.packet = 1024;
    limits_of_modules.eager = 1025;
    EXPECT_TRUE(is_error());
    limits_of_modules.eager = 1024;
    limits_of_modules.header = btl::smallest_header_room - 1;
    EXPECT_TRUE(is_error());
    limits_of_modules = {};
    EXPECT_TRUE(is_error());
    EXPECT_EQ(open_components, 0);
    EXPECT_EQ(orphans, 0);
}

// The modules were destroyed after their components had been closed, and their code unloaded.
TEST_F(BtlSelect, AfterAnErrorModulesAreDestroyedBeforeTheirComponentsAreClosed) {
    fails_for_far = true;
    auto selection = select({"PATCHBAY_MCA_btl_wrap=wrapper"});
    ASSERT_FALSE(selection);
    EXPECT_EQ(selection.error().text,
        "component wrapper of framework btl, which parameter btl_wrap names, does not wrap far: no room");
    EXPECT_EQ(open_components, 0);
    EXPECT_EQ(orphans, 0);
}

} // namespace
