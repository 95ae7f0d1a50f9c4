// SPDX-License-Identifier: BSD-3-Clause
// Choosing among components, with components that are linked in; plugin_test has those in shared libraries.
#include "core/component/describe.h"
#include "core/component/framework.h"
#include "core/core.h"
#include "tests/core/captured_stderr.h"
#include "tests/core/plugins/demo.h"

#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <stdexcept>
#include <thread>

using namespace patchbay;

namespace {

struct Behaviour {
    const char* name;
    int priority;
    Capability capabilities;
    Errc open_error = Errc::invalid; // the code of `open_text`, when that is set
    const char* open_text = nullptr;
    const char* query_text = nullptr;
    bool has_module = true;
    const char* open_throws = nullptr;
    const char* query_throws = nullptr;
    Errc query_error = Errc::not_available; // the code of `query_text`
};

std::map<std::string, int> open_now;    // by component
std::map<std::string, int> modules_now; // by component
std::map<std::string, int> opens;       // how often open() was called, by component

class FakeModule : public demo::Module {
public:
    explicit FakeModule(std::string name)
        : _name(std::move(name)) {
        ++modules_now[_name];
    }
    ~FakeModule() override { --modules_now[_name]; }
    std::string greet() const override { return _name; }

private:
    std::string _name;
};

template <const Behaviour& behaviour>
class Fake : public demo::Component {
public:
    Status open(Core&) override {
        ++opens[behaviour.name];
        if (behaviour.open_throws != nullptr) {
            throw std::runtime_error(behaviour.open_throws);
        }
        if (behaviour.open_text != nullptr) {
            return Error{behaviour.open_error, behaviour.open_text};
        }
        ++open_now[behaviour.name];
        return {};
    }
    void close() noexcept override { --open_now[behaviour.name]; }
    Capability capabilities() const noexcept override { return behaviour.capabilities; }
    Result<Choice<demo::Module>> query(int) override {
        if (behaviour.query_throws != nullptr) {
            throw std::runtime_error(behaviour.query_throws);
        }
        if (behaviour.query_text != nullptr) {
            return Error{behaviour.query_error, behaviour.query_text};
        }
        return Choice<demo::Module>{
            behaviour.priority, behaviour.has_module ? std::make_unique<FakeModule>(behaviour.name) : nullptr};
    }
};

constexpr Capability threads = Capability::thread_multiple;
constexpr Behaviour plain{"plain", 10, threads};
constexpr Behaviour fast{"fast", 30, Capability::none};
constexpr Behaviour equal{"equal", 10, threads};
constexpr Behaviour misconfigured{
    "misconfigured", 90, threads, Errc::invalid, "demo_misconfigured_limit=0: must be positive"};
constexpr Behaviour shy{"shy", 90, threads, Errc::not_available, "no such hardware"};
constexpr Behaviour broken{"broken", 90, threads, Errc::system, "cannot map: Cannot allocate memory"};
constexpr Behaviour hollow{"hollow", 90, threads, Errc::invalid, nullptr, nullptr, false};
constexpr Behaviour thrower{"thrower", 90, threads, Errc::invalid, nullptr, nullptr, true, "vector::at"};
constexpr Behaviour asked_thrower{
    "asked_thrower", 90, threads, Errc::invalid, nullptr, nullptr, true, nullptr, "map::at"};
constexpr Behaviour poor{"poor", 90, threads, Errc::invalid, nullptr, "no memory for the module", true, nullptr,
    nullptr, Errc::out_of_memory};
constexpr Behaviour mute{"mute", 90, threads, Errc::invalid, nullptr, "reaches no peer"};

constexpr ParamSpec params[] = {{"limit", ParamType::size, "4KiB", "a size"}};

template <const Behaviour& behaviour>
constexpr ComponentDescriptor described = describe<Fake<behaviour>>(
    "demo", demo::version, behaviour.name, "1.0.0", "a fake", params);

constexpr const ComponentDescriptor* usual[] = {&described<plain>, &described<fast>, &described<mute>};

const auto ask = [](demo::Component& component) { return component.query(0); };

class FrameworkTest : public testing::Test {
protected:
    void start(std::span<const ComponentDescriptor* const> components, std::vector<std::string> environment = {}) {
        open_now.clear();
        opens.clear();
        modules_now.clear();
        ParamSources places;
        places.environment = std::move(environment);
        auto made = Core::create(components, places, {});
        ASSERT_TRUE(made) << made.error().text;
        core = std::move(*made);
        core->decisions.enable(true);
    }

    std::string open_error(Capability needed = Capability::none) {
        auto lease = framework.open(*core, needed);
        return lease ? "(no error)" : lease.error().text;
    }

    std::string chosen(std::string_view only = {}) {
        auto selected = framework.select_one("a test", ask, only);
        return selected ? selected->module->greet() : selected.error().text;
    }

    std::string outcome_of(const std::string& candidate) const {
        std::string found;
        for (const Decision& decision : core->decisions.decisions()) {
            if (decision.candidate == candidate) {
                found +=
                    (found.empty() ? "" : "; ") + std::string(to_string(decision.outcome)) + ": " + decision.reason;
            }
        }
        return found;
    }

    std::unique_ptr<Core> core;
    Framework<demo::Component> framework{"demo", demo::version};
};

} // namespace

TEST_F(FrameworkTest, HighestPriorityWinsAndEveryReasonIsRecorded) {
    start(usual);
    auto lease = framework.open(*core);
    ASSERT_TRUE(lease) << lease.error().text;
    auto selected = framework.select_one("a test", ask);
    ASSERT_TRUE(selected);
    EXPECT_EQ(selected->name, "fast");
    EXPECT_EQ(selected->priority, 30);
    EXPECT_EQ(selected->component, framework.find("fast"));
    EXPECT_EQ(modules_now["fast"], 1);
    EXPECT_EQ(modules_now["plain"], 0) << "the loser's module is gone";
    EXPECT_EQ(outcome_of("fast"), "chosen: highest priority");
    EXPECT_EQ(outcome_of("plain"), "lost: lower priority than fast");
    EXPECT_EQ(outcome_of("mute"), "declined: reaches no peer");
}

TEST_F(FrameworkTest, QueryThatReturnsNoModuleIsAnErrorOfTheComponent) {
    constexpr const ComponentDescriptor* with_hollow[] = {&described<plain>, &described<hollow>};
    start(with_hollow);
    auto lease = framework.open(*core);
    ASSERT_TRUE(lease);
    CapturedStderr captured;
    EXPECT_EQ(chosen(), "plain");
    EXPECT_EQ(count_of(captured.text(),
                  "component hollow of framework demo failed for a test: its query has returned no module"),
        1u)
        << captured.text();
    EXPECT_EQ(outcome_of("hollow"), "declined: its query has returned no module");
}

TEST_F(FrameworkTest, ExceptionOfAComponentIsAnErrorWithItsName) {
    constexpr const ComponentDescriptor* components[] = {
        &described<plain>, &described<thrower>, &described<asked_thrower>};
    start(components);
    CapturedStderr captured;
    auto lease = framework.open(*core);
    ASSERT_TRUE(lease) << lease.error().text;
    EXPECT_EQ(chosen(), "plain");
    const std::string warnings = captured.text();
    EXPECT_NE(warnings.find("component thrower of framework demo cannot be used: its open() has thrown an exception: "
                            "vector::at"),
        std::string::npos)
        << warnings;
    EXPECT_NE(warnings.find("component asked_thrower of framework demo failed for a test: its query() has thrown an "
                            "exception: map::at"),
        std::string::npos)
        << warnings;
}

TEST_F(FrameworkTest, FailureThatIsInTheErrorOfTheSelectionIsNoWarning) {
    constexpr const ComponentDescriptor* components[] = {&described<plain>, &described<hollow>};
    start(components, {"PATCHBAY_MCA_demo=hollow"});
    CapturedStderr captured;
    auto lease = framework.open(*core);
    ASSERT_TRUE(lease) << lease.error().text;
    EXPECT_NE(chosen().find("hollow (its query has returned no module)"), std::string::npos) << chosen();
    EXPECT_EQ(captured.text(), "");
}

TEST_F(FrameworkTest, CandidateWithoutMemoryFailsTheSelection) {
    constexpr const ComponentDescriptor* components[] = {&described<plain>, &described<poor>};
    start(components);
    auto lease = framework.open(*core);
    ASSERT_TRUE(lease) << lease.error().text;
    auto selected = framework.select_one("a test", ask);
    ASSERT_FALSE(selected) << selected->name;
    EXPECT_EQ(selected.error().code, Errc::out_of_memory);
    EXPECT_EQ(selected.error().text,
        "component poor of framework demo failed for a test: no memory for the module (parameter "
        "demo=^poor leaves it out, in all processes)");
}

TEST_F(FrameworkTest, ComponentThatIsLeftOutIsOpenedOnce) {
    constexpr const ComponentDescriptor* components[] = {&described<plain>, &described<shy>};
    start(components, {"PATCHBAY_MCA_demo=plain"});
    auto lease = framework.open(*core);
    ASSERT_TRUE(lease) << lease.error().text;
    CapturedStderr captured;
    for (int i = 0; i < 3; ++i) {
        EXPECT_NE(chosen("shy").find("no such hardware"), std::string::npos);
    }
    EXPECT_EQ(opens["shy"], 1);
}

TEST_F(FrameworkTest, IncludeList) {
    start(usual, {"PATCHBAY_MCA_demo=plain,mute"});
    auto lease = framework.open(*core);
    ASSERT_TRUE(lease);
    EXPECT_EQ(chosen(), "plain");
    EXPECT_EQ(framework.find("fast"), nullptr);
    EXPECT_EQ(open_now["fast"], 0);
    EXPECT_EQ(outcome_of("fast"), "excluded: left out by demo=plain,mute [environment PATCHBAY_MCA_demo]");
}

TEST_F(FrameworkTest, ExcludeList) {
    start(usual, {"PATCHBAY_MCA_demo=^fast", "PATCHBAY_MCA_CMDLINE=demo"});
    auto lease = framework.open(*core);
    ASSERT_TRUE(lease);
    EXPECT_EQ(chosen(), "plain");
    EXPECT_EQ(outcome_of("fast"), "excluded: left out by demo=^fast [command line (--mca demo)]");
}

TEST_F(FrameworkTest, UnknownNameIsAnErrorWithSuggestion) {
    for (const char* list : {"plan", "plain,plan", "^plan"}) {
        start(usual, {"PATCHBAY_MCA_demo=" + std::string(list)});
        EXPECT_EQ(open_error(),
            "framework demo has no component 'plan' (installed: fast, mute, plain); did you mean "
            "'plain'? [environment PATCHBAY_MCA_demo]")
            << list;
    }
}

TEST_F(FrameworkTest, CaretElsewhereThanFirstIsAnError) {
    for (const char* list : {"plain,^fast", "^plain,^fast", "^"}) {
        start(usual, {"PATCHBAY_MCA_demo=" + std::string(list)});
        const std::string error = open_error();
        EXPECT_TRUE(error.starts_with("parameter demo: '" + std::string(list) + "'")) << error;
        EXPECT_TRUE(error.ends_with("[environment PATCHBAY_MCA_demo]")) << error;
    }
}

TEST_F(FrameworkTest, OrderOfTheListDecidesBetweenEquals) {
    constexpr const ComponentDescriptor* equals[] = {&described<plain>, &described<equal>};
    start(equals);
    {
        auto lease = framework.open(*core);
        ASSERT_TRUE(lease);
        EXPECT_EQ(chosen(), "equal") << "by name";
    }
    start(equals, {"PATCHBAY_MCA_demo=plain,equal"});
    auto lease = framework.open(*core);
    ASSERT_TRUE(lease);
    EXPECT_EQ(chosen(), "plain");
}

TEST_F(FrameworkTest, ComponentThatCannotOpenIsLeftOutQuietlyOrLoudly) {
    constexpr const ComponentDescriptor* with_shy[] = {&described<plain>, &described<shy>};
    start(with_shy);
    {
        CapturedStderr captured;
        auto lease = framework.open(*core);
        ASSERT_TRUE(lease);
        EXPECT_EQ(captured.text(), "");
        EXPECT_EQ(chosen(), "plain");
        EXPECT_EQ(outcome_of("shy"), "declined: no such hardware");
    }
    start(with_shy, {"PATCHBAY_MCA_demo=shy"});
    CapturedStderr captured;
    auto lease = framework.open(*core);
    ASSERT_TRUE(lease);
    EXPECT_EQ(count_of(captured.text(), "component shy of framework demo cannot be used: no such hardware"), 1u);
    EXPECT_EQ(chosen(),
        "no component of framework demo can be used for a test: plain (left out by demo=shy "
        "[environment PATCHBAY_MCA_demo]), shy (no such hardware)");
}

// A process that went on without it would communicate in another way than the user has asked for.
TEST_F(FrameworkTest, ParameterWithAWrongValueFailsTheOpening) {
    constexpr const ComponentDescriptor* components[] = {&described<plain>, &described<misconfigured>};
    start(components);
    auto lease = framework.open(*core);
    ASSERT_FALSE(lease);
    EXPECT_EQ(lease.error().code, Errc::invalid);
    EXPECT_EQ(lease.error().text,
        "component misconfigured of framework demo cannot be used: demo_misconfigured_limit=0: must be positive "
        "(parameter demo=^misconfigured leaves it out, in all processes)");
}

TEST_F(FrameworkTest, ComponentThatFailsToOpenIsReportedEvenUnasked) {
    constexpr const ComponentDescriptor* with_broken[] = {&described<plain>, &described<broken>};
    start(with_broken);
    CapturedStderr captured;
    auto lease = framework.open(*core);
    ASSERT_TRUE(lease);
    EXPECT_EQ(chosen(), "plain");
    EXPECT_EQ(count_of(captured.text(), "cannot map: Cannot allocate memory"), 1u);
}

TEST_F(FrameworkTest, AComponentWithoutACapabilityIsNoCandidate) {
    start(usual);
    auto lease = framework.open(*core, Capability::thread_multiple);
    ASSERT_TRUE(lease);
    EXPECT_EQ(chosen(), "plain");
    EXPECT_EQ(open_now["fast"], 0) << "closed again";
    EXPECT_EQ(outcome_of("fast"), "excluded: lacks thread_multiple");
}

TEST_F(FrameworkTest, ALaterUserWithMoreCapabilitiesHidesOtherComponents) {
    start(usual);
    auto first = framework.open(*core);
    ASSERT_TRUE(first);
    auto held = framework.select_one("the first user", ask);
    ASSERT_TRUE(held);
    EXPECT_EQ(held->name, "fast");
    auto second = framework.open(*core, Capability::thread_multiple);
    ASSERT_TRUE(second);
    EXPECT_EQ(chosen(), "plain");
    EXPECT_EQ(open_now["fast"], 1) << "the first user still has it";
    EXPECT_EQ(framework.components().size(), 2u);
    held->module.reset();
}

TEST_F(FrameworkTest, AnObjectsOwnListOverridesTheJobs) {
    start(usual, {"PATCHBAY_MCA_demo=plain"});
    auto lease = framework.open(*core);
    ASSERT_TRUE(lease);
    EXPECT_EQ(chosen(), "plain");
    EXPECT_EQ(chosen("fast"), "fast");
    EXPECT_EQ(open_now["fast"], 1);
    EXPECT_EQ(chosen(), "plain") << "the job's list holds for the other objects";
    EXPECT_EQ(chosen("^fast"), "plain");
    EXPECT_EQ(
        chosen("fasd"), "framework demo has no component 'fasd' (installed: fast, mute, plain); did you mean 'fast'?");
    lease->release();
    EXPECT_EQ(open_now["fast"], 0);
}

// Puts a module before the selected one.
class WrappingModule : public demo::Module {
public:
    WrappingModule(std::string name, std::unique_ptr<demo::Module> wrapped)
        : _name(std::move(name)),
          _wrapped(std::move(wrapped)) {}
    std::string greet() const override { return _name + "(" + _wrapped->greet() + ")"; }

private:
    std::string _name;
    std::unique_ptr<demo::Module> _wrapped;
};

class WrapTest : public FrameworkTest {
protected:
    static constexpr ParamSpec wrap_params[] = {{"wrap", ParamType::list, "", "the wrappers"}};
    Framework<demo::Component> wrapping{"demo", demo::version, wrap_params, 1};

    // The components whose name is in `able` wrap; the others return `otherwise`.
    std::string wrapped(
        const Error& otherwise = {Errc::not_available, "not this one"}, Capability needed = Capability::none) {
        auto lease = wrapping.open(*core, needed);
        if (!lease) {
            return lease.error().text;
        }
        auto selected = wrapping.select_one("a test", ask);
        auto common = wrapping.wrap("a test", selected->name, selected->module,
            [&](demo::Component& component, std::unique_ptr<demo::Module>& module) -> Status {
                for (const std::string& name : able) {
                    if (wrapping.find(name) == &component) {
                        if (name == idle) {
                            return {};
                        }
                        module = std::make_unique<WrappingModule>(name, std::move(module));
                        return {};
                    }
                }
                return otherwise;
            });
        capabilities = common ? *common : Capability::none;
        code = common ? std::nullopt : std::optional(common.error().code);
        return common ? selected->module->greet() : common.error().text;
    }

    std::vector<std::string> able{"plain", "equal"};
    std::string idle; // says that it wraps, and does not
    Capability capabilities = Capability::none;
    std::optional<Errc> code;
};

constexpr const ComponentDescriptor* wrappers[] = {
    &described<plain>, &described<fast>, &described<equal>, &described<shy>};

TEST_F(WrapTest, NobodyWrapsUnasked) {
    start(wrappers);
    EXPECT_EQ(wrapped(), "fast");
    EXPECT_TRUE(has_all(capabilities, Capability::thread_multiple | Capability::sessions));
}

TEST_F(WrapTest, TheFirstStandsNextToTheSelectedOne) {
    start(wrappers, {"PATCHBAY_MCA_demo_wrap=plain,equal"});
    EXPECT_EQ(wrapped(), "equal(plain(fast))");
    EXPECT_EQ(outcome_of("equal"), "lost: lower priority than fast; wraps: stands before plain(fast)");
    EXPECT_EQ(outcome_of("fast"), "chosen: highest priority");
    EXPECT_TRUE(has_all(capabilities, Capability::thread_multiple));
    EXPECT_FALSE(has_all(capabilities, Capability::sessions)) << "only what all of them have";
}

TEST_F(WrapTest, AWrapperIsNoCandidateUnlessTheListAdmitsIt) {
    start(wrappers, {"PATCHBAY_MCA_demo_wrap=equal", "PATCHBAY_MCA_demo=plain"});
    EXPECT_EQ(wrapped(), "equal(plain)");
    auto lease = wrapping.open(*core);
    ASSERT_TRUE(lease);
    EXPECT_EQ(wrapped(), "equal(plain)");
    EXPECT_EQ(wrapping.select_all("a test", ask)->size(), 1u);
}

TEST_F(WrapTest, OneThatDoesNotWrapThisModuleIsPassedOver) {
    start(wrappers, {"PATCHBAY_MCA_demo_wrap=fast,plain"});
    EXPECT_EQ(wrapped(), "plain(fast)");
    EXPECT_EQ(outcome_of("fast"), "chosen: highest priority; declined: does not wrap fast: not this one");
}

TEST_F(WrapTest, OneThatPutsNothingBeforeTheModuleIsAnError) {
    start(wrappers, {"PATCHBAY_MCA_demo_wrap=plain,equal"});
    idle = "equal";
    const std::string text = wrapped();
    EXPECT_EQ(code, Errc::invalid) << text;
    EXPECT_NE(text.find("it has put no module before the former one"), std::string::npos) << text;
    EXPECT_NE(text.find("equal"), std::string::npos) << text;
}

TEST_F(WrapTest, OneThatFailsIsAnError) {
    start(wrappers, {"PATCHBAY_MCA_demo_wrap=fast,plain"});
    EXPECT_EQ(wrapped({Errc::unsupported, "it wraps nothing"}),
        "component fast of framework demo, which parameter demo_wrap names, does not wrap fast: it wraps nothing");
}

TEST_F(WrapTest, AWrongNameIsAnErrorWithSuggestion) {
    start(wrappers, {"PATCHBAY_MCA_demo_wrap=equa"});
    EXPECT_EQ(wrapped(),
        "parameter demo_wrap: framework demo has no component 'equa' (installed: equal, fast, plain, shy); did you "
        "mean "
        "'equal'? [environment PATCHBAY_MCA_demo_wrap]");
    start(wrappers, {"PATCHBAY_MCA_demo_wrap=shy"});
    CapturedStderr captured;
    EXPECT_EQ(wrapped(),
        "parameter demo_wrap: component 'shy' cannot be used: no such hardware [environment PATCHBAY_MCA_demo_wrap]");
    EXPECT_EQ(code, Errc::invalid);
    EXPECT_EQ(captured.text(), "") << "the error says it";
}

// The caller opens the framework again and needs less, as for a pml without MPI_THREAD_MULTIPLE.
TEST_F(WrapTest, OneThatLacksWhatIsNeededIsAnErrorOfItsOwn) {
    start(wrappers, {"PATCHBAY_MCA_demo_wrap=fast"});
    able = {"fast"};
    CapturedStderr captured;
    EXPECT_EQ(wrapped({Errc::not_available, "not this one"}, threads),
        "parameter demo_wrap: component 'fast' cannot be used: lacks thread_multiple [environment "
        "PATCHBAY_MCA_demo_wrap]");
    EXPECT_EQ(code, Errc::not_available);
    EXPECT_EQ(wrapped(), "fast(fast)");
    // It is hidden when a later lease needs more.
    auto first = wrapping.open(*core);
    EXPECT_EQ(wrapped(), "fast(fast)");
    EXPECT_EQ(wrapped({Errc::not_available, "not this one"}, threads),
        "parameter demo_wrap: component 'fast' cannot be used: lacks thread_multiple [environment "
        "PATCHBAY_MCA_demo_wrap]");
    EXPECT_EQ(code, Errc::not_available);
}

TEST_F(FrameworkTest, NoCandidateGivesTheReasonOfEach) {
    start(usual, {"PATCHBAY_MCA_demo=mute"});
    auto lease = framework.open(*core);
    ASSERT_TRUE(lease);
    EXPECT_EQ(chosen(),
        "no component of framework demo can be used for a test: mute (reaches no peer), fast (left out by "
        "demo=mute [environment PATCHBAY_MCA_demo]), plain (left out by demo=mute [environment PATCHBAY_MCA_demo])");
    lease->release();
    start({});
    auto empty = framework.open(*core);
    ASSERT_TRUE(empty);
    EXPECT_EQ(chosen(), "no component of framework demo can be used for a test: none is installed");
    // The decision log has the word, a sentence has the article too.
    EXPECT_EQ(framework.select_one("job", ask).error().text,
        "no component of framework demo can be used for the job: none is installed");
}

TEST_F(FrameworkTest, SelectAllIsSortedAndRecordsTheChoice) {
    start(usual);
    auto lease = framework.open(*core);
    ASSERT_TRUE(lease);
    auto all = framework.select_all("a test", ask);
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), 2u);
    EXPECT_EQ((*all)[0].name, "fast");
    EXPECT_EQ((*all)[1].name, "plain");
    framework.note_winner("a test", *all, 2);
    EXPECT_EQ(outcome_of("plain"), "chosen: combined with fast");
}

TEST_F(FrameworkTest, IllTypedComponentParameterFailsTheOpening) {
    start(usual, {"PATCHBAY_MCA_demo_plain_limit=big"});
    const std::string error = "parameter demo_plain_limit (size): 'big' is not a size (like 4096, 64k, 4KiB or 1MiB) "
                              "[environment PATCHBAY_MCA_demo_plain_limit]";
    EXPECT_EQ(open_error(), error);
    EXPECT_EQ(open_error(), error) << "trying again does not make it right";
    EXPECT_EQ(open_now["fast"], 0);
}

TEST_F(FrameworkTest, ParametersAreFrozenWhileOpen) {
    start(usual);
    {
        auto lease = framework.open(*core);
        ASSERT_TRUE(lease);
        EXPECT_FALSE(core->params.set("demo_plain_limit", "1k"));
        EXPECT_FALSE(core->params.set("demo", "plain"));
    }
    EXPECT_TRUE(core->params.set("demo", "plain"));
    auto lease = framework.open(*core);
    ASSERT_TRUE(lease);
    EXPECT_EQ(chosen(), "plain");
}

TEST_F(FrameworkTest, ClosesWithTheLastUserAndOpensAgain) {
    start(usual);
    for (int cycle = 0; cycle < 3; ++cycle) {
        auto first = framework.open(*core);
        auto second = framework.open(*core);
        ASSERT_TRUE(first && second);
        EXPECT_EQ(open_now["plain"], 1);
        first->release();
        EXPECT_EQ(open_now["plain"], 1);
        second->release();
        EXPECT_EQ(open_now["plain"], 0);
        EXPECT_EQ(framework.find("plain"), nullptr);
    }
    EXPECT_EQ(chosen(), "framework demo is asked for a component before it is open");
}

TEST_F(FrameworkTest, FailureAtEveryStepUnwinds) {
    start(usual);
    int failures = 0;
    for (int k = 1;; ++k) {
        core->faults.fail_at(k);
        auto lease = framework.open(*core);
        if (lease) {
            break;
        }
        ++failures;
        for (const auto& [name, count] : open_now) {
            EXPECT_EQ(count, 0) << name << " after step " << k;
        }
        core->faults.fail_at(0);
        auto retry = framework.open(*core);
        ASSERT_TRUE(retry);
        EXPECT_EQ(chosen(), "fast");
    }
    EXPECT_EQ(failures, 3) << "one step for each component";
}

TEST_F(FrameworkTest, ThreadsMayOpenAndSelect) {
    start(usual);
    std::vector<std::thread> workers;
    std::atomic<int> wrong = 0;
    for (int i = 0; i < 4; ++i) {
        workers.emplace_back([&] {
            for (int k = 0; k < 200; ++k) {
                auto lease = framework.open(*core);
                const auto names = [](demo::Component& component) -> Result<Choice<int>> {
                    return Choice<int>{int(component.capabilities()), std::make_unique<int>()};
                };
                auto selected = framework.select_one("a thread", names, "plain,fast");
                wrong += !lease || !selected || selected->name != "plain";
            }
        });
    }
    for (std::thread& worker : workers) {
        worker.join();
    }
    EXPECT_EQ(wrong, 0);
}

TEST_F(FrameworkTest, AnnouncedParametersAreNotTakenForMisspeltOnes) {
    constexpr ParamSpec own[] = {{"depth", ParamType::integer, "1", "of the framework"}};
    Framework<demo::Component> other("other", 1, own, std::size(own));
    start(usual,
        {"PATCHBAY_MCA_other=x", "PATCHBAY_MCA_other_depth=7", "PATCHBAY_MCA_demo_plain_limit=1k",
            "PATCHBAY_MCA_demo_plain_limt=1k"});
    ASSERT_TRUE(other.announce(*core));
    EXPECT_EQ(core->params.at("other_depth").as_int(), 7);
    CapturedStderr captured;
    ASSERT_TRUE(core->report_unknown_params());
    EXPECT_EQ(count_of(captured.text(), "patchbay:"), 1u) << captured.text();
    EXPECT_EQ(count_of(captured.text(),
                  "unknown parameter demo_plain_limt = '1k' [environment "
                  "PATCHBAY_MCA_demo_plain_limt]; did you mean 'demo_plain_limit'?"),
        1u)
        << captured.text();
}

TEST_F(FrameworkTest, IllTypedParameterOfAComponentThatIsNotOpenedIsFound) {
    start(usual, {"PATCHBAY_MCA_demo_plain_limit=big"});
    const Status reported = core->report_unknown_params();
    ASSERT_FALSE(reported);
    EXPECT_EQ(count_of(reported.error().text, "parameter demo_plain_limit (size): 'big'"), 1u);
}
