// SPDX-License-Identifier: BSD-3-Clause
// Sets, definitions and the merging of sources, with sources that the test makes up.
#include "components/pset/static/static_sets.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "core/runtime/pset_definition.h"
#include "frameworks/pset/sets.h"
#include "tests/fakes/unused_context.h"

#include <gtest/gtest.h>
#include <map>

using namespace patchbay;
using namespace patchbay::pset;

namespace {

using Runs = std::vector<pset::Run>; // in a test, Run is a function of GoogleTest

TEST(Set, HasRunsInOrder) {
    const Set set = Set::of("a", 1, {{0, 6}, {0, 1}, {0, 0}, {0, 2}, {0, 1}, {1, 3}});
    const Runs runs = {{{0, 0}, 3}, {{0, 6}, 1}, {{1, 3}, 1}};
    EXPECT_EQ(set.runs, runs);
    EXPECT_EQ(set.size(), 5u);
    EXPECT_EQ(set.members(), (std::vector<ProcessId>{{0, 0}, {0, 1}, {0, 2}, {0, 6}, {1, 3}}));
    EXPECT_TRUE(set.contains({0, 2}) && set.contains({1, 3}));
    EXPECT_FALSE(set.contains({0, 3}) || set.contains({1, 0}) || set.contains({0, 7}));
    const auto group = set.group({0, 6});
    EXPECT_EQ(group->size(), 5);
    EXPECT_EQ(group->rank(), 3);
    EXPECT_EQ(Set{}.group({0, 0})->size(), 0);
    EXPECT_EQ(Set::run("w", {0, 0}, 1000000).group({0, 5})->rank(), 5);
}

TEST(Set, KeepsTheOrderOfTheJobs) {
    // Each process has other numbers for the jobs, so that their numbers must not determine the order.
    const Set one = Set::of("a", 1, {{3, 1}, {3, 0}, {0, 2}, {0, 1}, {3, 0}});
    EXPECT_EQ(one.members(), (std::vector<ProcessId>{{3, 0}, {3, 1}, {0, 1}, {0, 2}}));
    const Set other = Set::of("a", 1, {{0, 1}, {0, 0}, {5, 2}, {5, 1}, {0, 0}});
    EXPECT_EQ(other.members(), (std::vector<ProcessId>{{0, 0}, {0, 1}, {5, 1}, {5, 2}}));
}

TEST(Set, ThreadsAreMembersOfTheirOwn) {
    const Set set = Set::of("a", 1, {{0, 1, 1}, {0, 0}, {0, 1}, {0, 0, 1}});
    EXPECT_EQ(set.runs, (Runs{{{0, 0}, 2}, {{0, 0, 1}, 2}}));
    EXPECT_EQ(set.members(), (std::vector<ProcessId>{{0, 0}, {0, 1}, {0, 0, 1}, {0, 1, 1}}));
    EXPECT_TRUE(set.contains({0, 1, 1}));
    EXPECT_FALSE(set.contains({0, 1, 2}));
}

TEST(Definition, IsParsed) {
    auto set = parse_pset_definition(" x://a:b/c = 5 , 0-3,2-4,9");
    ASSERT_TRUE(bool(set)) << set.error().text;
    EXPECT_EQ(set->name, "x://a:b/c");
    EXPECT_EQ(set->ranks, (std::vector<RankRange>{{0, 5}, {9, 9}}));
    EXPECT_EQ(set->list(), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 9}));
    EXPECT_EQ(parse_pset_definition("a=0-4294967294")->highest_rank(), 4294967294u);
    for (const char* text :
        {"", "a", "=0", "a=", "a=0,", "a=,0", "a=0,,1", "a=1-0", "a=-1", "a=1-", "a=x", "a=0x1", "a=4294967295",
            "a=b=0", "a b=0", "a;b=0", "a\tb=0", "mpi://X=0", "Mpi://X=0", "mpix://X=0", "mpirun://X=0", "pmixed=0"}) {
        EXPECT_FALSE(bool(parse_pset_definition(text))) << text;
    }
}

TEST(Static, HasTheSetsOfItsText) {
    auto definitions = parse_definitions("ocean=0-3; atmos=4-7,9;");
    ASSERT_TRUE(bool(definitions)) << definitions.error().text;
    StaticSets sets(*definitions, std::nullopt);
    EXPECT_EQ(*sets.names(), (std::vector<std::string>{"ocean", "atmos"}));
    EXPECT_EQ(sets.find("atmos")->runs, (Runs{{{0, 4}, 4}, {{0, 9}, 1}}));
    EXPECT_EQ(sets.find("land").error().code, Errc::not_found);
    EXPECT_EQ(sets.requests(), 0u);
    EXPECT_TRUE(parse_definitions("")->empty());
    EXPECT_FALSE(bool(parse_definitions("a=0;a=1")));
    EXPECT_FALSE(bool(parse_definitions("a=0;b")));
}

TEST(Static, LooksAtHardwareOnlyForItsNames) {
    int looks = 0;
    StaticSets::Hardware hardware;
    hardware.members = {{0, 4}, {0, 5}};
    hardware.confined_to = [&looks](const HardwareKind& kind) {
        ++looks;
        const std::string_view name = kind.hwloc;
        return name == "NUMANode" || name == "Core" ? std::optional<std::uint32_t>(3) : std::nullopt;
    };
    StaticSets sets(*parse_definitions("a=0"), hardware);
    EXPECT_TRUE(bool(sets.find("a")));
    EXPECT_EQ(looks, 0);
    EXPECT_EQ(sets.find("mpix://NUMA/3")->runs, (Runs{{{0, 4}, 2}}));
    EXPECT_EQ(looks, 4); // once for each kind
    EXPECT_FALSE(bool(sets.find("mpix://PACKAGE/0")));
    EXPECT_FALSE(bool(sets.find("mpix://L3CACHE/3")));
    EXPECT_EQ(sets.find("mpix://CORE/3")->runs, (Runs{{{0, 4}, 2}}));
    EXPECT_EQ(*sets.names(), (std::vector<std::string>{"a", "mpix://NUMA/3"})); // cores are not listed
    EXPECT_EQ(looks, 4);
}

// The sets of the fake source, and how often each was requested.
struct Fake {
    std::map<std::string, Set> sets;
    std::optional<Error> failure;
    int name_requests = 0;
    std::map<std::string, int> requests;
};
Fake launcher;
Fake parameter;
int queries = 0;

template <Fake& fake>
class FakeModule final : public Module {
public:
    Result<std::vector<std::string>> names() override {
        ++fake.name_requests;
        if (fake.failure) {
            return *fake.failure;
        }
        std::vector<std::string> names;
        for (const auto& [name, set] : fake.sets) {
            names.push_back(name);
        }
        return names;
    }
    Result<Set> find(const std::string& name) override {
        ++fake.requests[name];
        if (fake.failure) {
            return *fake.failure;
        }
        auto set = fake.sets.find(name);
        return set == fake.sets.end() ? Result<Set>(Error{Errc::not_found, "no"}) : Result<Set>(set->second);
    }
    bool is_current(const Set& set) const noexcept override {
        auto now = fake.sets.find(set.name);
        return now != fake.sets.end() && now->second.version == set.version;
    }
};

template <Fake& fake, int priority>
class FakeComponent final : public pset::Component {
public:
    Capability capabilities() const noexcept override { return Capability::none; }
    Result<Candidate> query(Context&) override {
        ++queries;
        return Candidate{priority, std::make_unique<FakeModule<fake>>()};
    }
};

constexpr ComponentDescriptor first =
    describe<FakeComponent<launcher, 50>>("pset", pset::interface_version, "first", "1.0.0", "a fake");
constexpr ComponentDescriptor second =
    describe<FakeComponent<parameter, 20>>("pset", pset::interface_version, "second", "1.0.0", "a fake");
constexpr const ComponentDescriptor* both[] = {&first, &second};

class SetsTest : public testing::Test {
protected:
    void SetUp() override {
        launcher = {};
        parameter = {};
        queries = 0;
        _core = std::move(*Core::create(both, ParamSources{}, {}));
        ASSERT_TRUE(bool(_framework.announce(*_core)));
        _sets = std::make_unique<Sets>(_framework, *_core, _context, Sets::Job{{0, 2}, 8, peers});
    }
    static void define(Fake& fake, const std::string& name, std::uint64_t version, std::vector<ProcessId> members) {
        fake.sets.insert_or_assign(name, Set::of(name, version, std::move(members)));
    }

    static constexpr std::uint32_t peers[] = {0, 2, 3};
    std::unique_ptr<Core> _core;
    UnusedContext _context;
    Framework<pset::Component> _framework{"pset", pset::interface_version};
    std::unique_ptr<Sets> _sets;
};

TEST_F(SetsTest, OwnSetsNeedNoRequest) {
    define(launcher, "mpi://WORLD", 7, {{0, 2}});
    EXPECT_EQ((*_sets->find("mpi://WORLD"))->size(), 8u);
    EXPECT_EQ((*_sets->find("mpi://SELF"))->members(), (std::vector<ProcessId>{{0, 2}}));
    EXPECT_EQ((*_sets->find("mpix://SHARED"))->members(), (std::vector<ProcessId>{{0, 0}, {0, 2}, {0, 3}}));
    EXPECT_EQ(queries, 0);
    EXPECT_EQ(*_sets->count(), 3u); // no source overrides that
    EXPECT_EQ((*_sets->find("mpi://WORLD"))->size(), 8u);
    EXPECT_EQ(launcher.requests["mpi://WORLD"], 0);
}

TEST_F(SetsTest, WrongSetsOfAComponentAreErrors) {
    const auto error_of = [this](const char* name) {
        auto found = _sets->find(name);
        return found ? "(no error)" : found.error().text;
    };
    launcher.sets.insert_or_assign("a", Set::of("mpi://WORLD", 1, {{0, 1}}));
    EXPECT_EQ(
        error_of("a"), "component first of framework pset: it has returned the process set 'mpi://WORLD' for 'a'");
    EXPECT_EQ((*_sets->find("mpi://WORLD"))->size(), 8u);
    define(launcher, "b", 1, {{0, 6}, {0, 7}, {0, 8}});
    EXPECT_EQ(error_of("b"),
        "component first of framework pset: the process set 'b' has a member of rank 6 or above that its job does not "
        "have");
    define(launcher, "c", 1, {{0, 6}, {0, 7}});
    EXPECT_EQ(error_of("c"), "(no error)");
}

TEST_F(SetsTest, TheHigherPriorityWins) {
    define(launcher, "a", 1, {{0, 1}});
    define(parameter, "a", 1, {{0, 2}});
    define(parameter, "b", 1, {{0, 3}});
    EXPECT_EQ((*_sets->find("a"))->members(), (std::vector<ProcessId>{{0, 1}}));
    EXPECT_EQ((*_sets->find("b"))->members(), (std::vector<ProcessId>{{0, 3}}));
    EXPECT_EQ(parameter.requests["a"], 0);
    EXPECT_EQ(queries, 2);
}

TEST_F(SetsTest, IsRequestedOncePerVersion) {
    define(launcher, "a", 1, {{0, 1}});
    auto old = *_sets->find("a");
    EXPECT_EQ(*_sets->find("a"), old);
    EXPECT_EQ(launcher.requests["a"], 1);
    define(launcher, "a", 2, {{0, 5}});
    auto now = *_sets->find("a");
    EXPECT_EQ(now->version, 2u);
    EXPECT_EQ(*_sets->find("a"), now);
    EXPECT_EQ(launcher.requests["a"], 2);
    EXPECT_EQ(old->members(), (std::vector<ProcessId>{{0, 1}}));
    launcher.sets.clear();
    EXPECT_EQ(_sets->find("a").error().code, Errc::not_found);
}

TEST_F(SetsTest, AnUnknownNameIsRequestedAgain) {
    EXPECT_EQ(_sets->find("late").error().code, Errc::not_found);
    EXPECT_EQ(_sets->find("late").error().code, Errc::not_found);
    EXPECT_EQ(launcher.requests["late"], 2);
    define(parameter, "late", 1, {{0, 2}});
    EXPECT_TRUE(bool(_sets->find("late")));
}

TEST_F(SetsTest, NumbersKeepTheirNames) {
    define(launcher, "m", 1, {{0, 2}});
    define(launcher, "not ours", 1, {{0, 3}});
    EXPECT_EQ(*_sets->count(), 4u);
    EXPECT_EQ(*_sets->name(3), "m");
    define(launcher, "a", 1, {{0, 2}, {0, 7}}); // before the others by name
    EXPECT_EQ(*_sets->count(), 5u);
    EXPECT_EQ(*_sets->name(3), "m");
    EXPECT_EQ(*_sets->name(4), "a");
    launcher.sets.erase("m");
    EXPECT_EQ(*_sets->count(), 5u);
    EXPECT_EQ(*_sets->name(3), "m");
    EXPECT_EQ(launcher.requests["not ours"], 1);
    EXPECT_EQ(launcher.name_requests, 3);
}

TEST_F(SetsTest, AFailureIsReportedUnlessAnotherSourceHasTheSet) {
    define(parameter, "b", 1, {{0, 2}});
    launcher.failure = Error{Errc::system, "the launcher is gone"};
    EXPECT_TRUE(bool(_sets->find("b")));
    EXPECT_EQ(_sets->find("c").error().code, Errc::system);
    EXPECT_EQ(_sets->count().error().text, "the launcher is gone");
    EXPECT_TRUE(bool(_sets->find("mpi://WORLD")));
    launcher.failure = Error{Errc::unsupported, "members of another job"};
    define(launcher, "elsewhere", 1, {{0, 2}});
    EXPECT_EQ(_sets->find("elsewhere").error().code, Errc::unsupported);
}

TEST_F(SetsTest, TheUsersChoiceOfComponentsIsChecked) {
    ASSERT_TRUE(bool(_core->params.set("pset", "third")));
    EXPECT_TRUE(bool(_sets->find("mpi://SELF")));
    EXPECT_EQ(_sets->find("a").error().code, Errc::not_found);
    EXPECT_FALSE(bool(_sets->count()));
    ASSERT_TRUE(bool(_core->params.set("pset", "^first,second")));
    EXPECT_EQ(*_sets->count(), 3u);
    EXPECT_EQ(_sets->find("a").error().code, Errc::not_found);
}

} // namespace
