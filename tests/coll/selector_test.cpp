// SPDX-License-Identifier: BSD-3-Clause
// How the modules of a communicator are selected: per function and form, with operations that are passed on, and
// independently of the communicators that a process had before.
#include "core/component/describe.h"
#include "core/core.h"
#include "frameworks/coll/engine.h"
#include "frameworks/coll/forward.h"
#include "frameworks/coll/schedule.h"
#include "frameworks/coll/selector.h"
#include "frameworks/wrap_params.h"
#include "object/topology.h"
#include "tests/fakes/unused_context.h"

#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace patchbay;
using coll::Form;
using coll::Function;
using coll::FunctionSet;
using coll::Provided;

namespace {

struct Behaviour {
    const char* name;
    int priority;
    Provided provided;
    bool by_placement = false; // refuses communicators with the index of `spread`
    bool refuses_three = false;
    bool passes_on = false;
    bool grids_only = false;
};

class FakeModule final : public coll::Module {
public:
    FakeModule(const Behaviour& behaviour, const coll::Below& below)
        : behaviour(behaviour),
          below(below) {}
    Provided provides() const noexcept override { return behaviour.provided; }
    int plan(const coll::Call&, coll::Schedule&) noexcept override { return MPI_SUCCESS; }

    const Behaviour& behaviour;
    const coll::Below& below;
};

int queries = 0;
constexpr std::uint16_t spread = 77;

template <const Behaviour& behaviour>
class Fake final : public coll::Component {
public:
    Capability capabilities() const noexcept override { return Capability::none; }
    Result<Candidate> query(coll::Query& query) override {
        ++queries;
        if (behaviour.by_placement && query.comm.index == spread) {
            return query.refuse("the processes are spread over several nodes");
        }
        if (behaviour.refuses_three && query.comm.size == 3) {
            return query.refuse_all("serves no communicator of three");
        }
        if (behaviour.grids_only && (query.comm.topology == nullptr || query.comm.topology->grid() == nullptr)) {
            return query.refuse_all("serves communicators with a grid only");
        }
        return Candidate{behaviour.priority, std::make_unique<FakeModule>(behaviour, query.below),
            !behaviour.by_placement, behaviour.passes_on};
    }
};

constexpr Provided everything = Provided::planned(FunctionSet::chapter_6());
constexpr Behaviour all{"all", 10, everything};
constexpr Behaviour placed{"placed", 50, Provided::planned({Function::barrier}), true};
constexpr Behaviour not_three{"not_three", 50, Provided::planned({Function::barrier}), false, true};
constexpr Behaviour fast{"fast", 60, Provided::only_blocking({Function::bcast})};
constexpr Behaviour whole{"whole", 10, Provided::planned(FunctionSet::chapter_6() | FunctionSet::neighborhood())};
constexpr Behaviour grids{
    "grids", 50, Provided::planned({Function::barrier, Function::neighbor_alltoall}), false, false, false, true};
constexpr Behaviour short_ones{"short_ones", 70, everything, false, false, true};

template <const Behaviour& behaviour>
constexpr ComponentDescriptor described = describe<Fake<behaviour>>(
    "coll", coll::interface_version, behaviour.name, "1.0.0", "a fake");

class WrappingModule final : public coll::Forward {
public:
    using Forward::Forward;
    const coll::Module& inside() const { return wrapped(); }
};

// Wraps all but short_ones.
class Wrapper final : public coll::Component {
public:
    Capability capabilities() const noexcept override { return Capability::none; }
    Result<Candidate> query(coll::Query& query) override { return query.refuse_all("it only wraps"); }
    Status wrap(Context&, Communicator&, std::unique_ptr<coll::Module>& module) override {
        if (std::string(static_cast<FakeModule&>(*module).behaviour.name) == "short_ones") {
            return Error{Errc::not_available, "not this one"};
        }
        module = std::make_unique<WrappingModule>(std::move(module));
        return {};
    }
};
constexpr ComponentDescriptor described_wrapper =
    describe<Wrapper>("coll", coll::interface_version, "wrapper", "1.0.0", "a fake");

class SelectorTest : public testing::Test {
protected:
    void start(std::span<const ComponentDescriptor* const> components, std::vector<std::string> environment = {}) {
        ParamSources sources;
        sources.environment = std::move(environment);
        auto made = Core::create(components, sources, {});
        ASSERT_TRUE(made) << made.error().text;
        core = std::move(*made);
        core->decisions.enable(true);
        engine.emplace(*core);
        auto opened = framework.open(*core);
        ASSERT_TRUE(opened) << opened.error().text;
        lease.emplace(std::move(*opened));
        selector.emplace(framework, *engine);
        queries = 0;
    }
    void TearDown() override {
        tables.clear();
        selector.reset();
        lease.reset();
    }

    // The table of a new communicator, which the caller does not keep.
    coll::Table* select(int size, std::uint16_t index = 0, std::shared_ptr<const Topology> topology = nullptr) {
        Communicator comm;
        comm.topology = std::move(topology);
        comm.size = size;
        comm.remote_size = size;
        comm.index = index;
        comm.group = Group::range({}, size, {});
        comm.remote_group = comm.group.get();
        auto table = selector->select(context, comm, "");
        if (!table) {
            error = table.error().text;
            return nullptr;
        }
        tables.emplace_back(*table);
        return *table;
    }
    static const char* name(const coll::Module* module) {
        return module == nullptr ? "none" : static_cast<const FakeModule*>(module)->behaviour.name;
    }

    std::unique_ptr<Core> core;
    Framework<coll::Component> framework{"coll", coll::interface_version, wrap_params, std::size(wrap_params)};
    std::optional<coll::Engine> engine;
    std::optional<Lease> lease;
    std::optional<coll::Selector> selector;
    struct Release {
        void operator()(coll::Table* table) const noexcept { table->release(); }
    };
    std::vector<std::unique_ptr<coll::Table, Release>> tables;
    std::string error;
    UnusedContext context;
};

TEST_F(SelectorTest, HighestPriorityServesEachFunctionAndForm) {
    constexpr const ComponentDescriptor* components[] = {&described<all>, &described<fast>};
    start(components);
    coll::Table* table = select(4);
    ASSERT_NE(table, nullptr) << error;
    EXPECT_STREQ(name(&(*table)[Function::bcast]), "fast");
    EXPECT_STREQ(name(table->find(Function::bcast, Form::nonblocking)), "all");
    EXPECT_STREQ(name(table->find(Function::bcast, Form::persistent)), "all");
    EXPECT_STREQ(name(&(*table)[Function::reduce]), "all");
    EXPECT_STREQ(name(table->find(Function::neighbor_alltoallw, Form::blocking)), "none");
}

TEST_F(SelectorTest, MissingFormsAreNamed) {
    constexpr const ComponentDescriptor* components[] = {&described<fast>};
    start(components);
    EXPECT_EQ(select(4), nullptr);
    EXPECT_NE(error.find("provides barrier, ibcast, gather,"), std::string::npos) << error;
}

// A component that depends on the placement of the processes has refused a communicator of four. Before refusals said
// whether they are shared, it stayed out for every later communicator of four in this process, and processes with other
// communicators before selected it: the members of one communicator chose different algorithms and waited for ever.
TEST_F(SelectorTest, SelectionDependsOnTheCommunicatorAlone) {
    constexpr const ComponentDescriptor* components[] = {&described<all>, &described<placed>};
    start(components);
    coll::Table* refused = select(4, spread);
    ASSERT_NE(refused, nullptr) << error;
    EXPECT_STREQ(name(&(*refused)[Function::barrier]), "all");
    EXPECT_FALSE(refused->is_shared());
    coll::Table* table = select(4);
    ASSERT_NE(table, nullptr) << error;
    EXPECT_STREQ(name(&(*table)[Function::barrier]), "placed");
    // The other way round: its offer is for one communicator only.
    refused = select(4, spread);
    ASSERT_NE(refused, nullptr) << error;
    EXPECT_STREQ(name(&(*refused)[Function::barrier]), "all");
}

TEST_F(SelectorTest, SharedRefusalsAreAskedForOnce) {
    constexpr const ComponentDescriptor* components[] = {&described<all>, &described<not_three>};
    start(components);
    coll::Table* first = select(3);
    ASSERT_NE(first, nullptr) << error;
    EXPECT_TRUE(first->is_shared());
    EXPECT_STREQ(name(&(*first)[Function::barrier]), "all");
    const int asked = queries;
    EXPECT_EQ(select(3), first);
    EXPECT_EQ(queries, asked);
    coll::Table* other = select(4);
    ASSERT_NE(other, nullptr) << error;
    EXPECT_STREQ(name(&(*other)[Function::barrier]), "not_three");
}

// Before the kind of the topology was a part of what communicators with one table have in common, the first of them
// decided for all: a component for grids served none of them, or those without a grid as well.
TEST_F(SelectorTest, TablesAreForOneKindOfTopology) {
    const int sizes[] = {4};
    const int periods[] = {0};
    const auto line = std::make_shared<Topology>(Grid(sizes, periods), 0);
    const auto ring = std::make_shared<Topology>(Grid(sizes, sizes), 0);
    const auto graph = std::make_shared<Topology>(Adjacency{});
    constexpr const ComponentDescriptor* components[] = {&described<whole>, &described<grids>};
    start(components);
    coll::Table* plain = select(4);
    ASSERT_NE(plain, nullptr) << error;
    EXPECT_STREQ(name(&(*plain)[Function::barrier]), "whole");
    coll::Table* with_grid = select(4, 0, line);
    ASSERT_NE(with_grid, nullptr) << error;
    EXPECT_STREQ(name(&(*with_grid)[Function::barrier]), "grids");
    EXPECT_STREQ(name(with_grid->find(Function::neighbor_alltoall, Form::persistent)), "grids");
    EXPECT_STREQ(name(with_grid->find(Function::neighbor_alltoallw, Form::nonblocking)), "whole");
    coll::Table* with_graph = select(4, 0, graph);
    ASSERT_NE(with_graph, nullptr) << error;
    EXPECT_STREQ(name(&(*with_graph)[Function::barrier]), "whole");
    EXPECT_EQ(select(4), plain);
    EXPECT_EQ(select(4, 0, ring), with_grid) << "the neighbours are not the table's";
    EXPECT_EQ(select(4, 0, graph), with_graph);
}

TEST_F(SelectorTest, NeighborhoodFunctionsAreNeededWithATopologyOnly) {
    constexpr const ComponentDescriptor* components[] = {&described<all>};
    start(components);
    EXPECT_NE(select(4), nullptr) << error;
    EXPECT_EQ(select(4, 0, std::make_shared<Topology>(Adjacency{})), nullptr);
    EXPECT_NE(error.find("provides neighbor_allgather, neighbor_allgatherv, neighbor_alltoall,"), std::string::npos)
        << error;
}

// The highest one serves everything and passes operations on to the next one that provides them.
TEST_F(SelectorTest, ModulesBelowAreKeptForOneThatPassesOn) {
    constexpr const ComponentDescriptor* components[] = {&described<all>, &described<fast>, &described<short_ones>};
    start(components);
    coll::Table* table = select(4);
    ASSERT_NE(table, nullptr) << error;
    const auto& top = static_cast<const FakeModule&>((*table)[Function::bcast]);
    EXPECT_STREQ(top.behaviour.name, "short_ones");
    EXPECT_STREQ(name(top.below.find(Function::bcast, Form::blocking)), "fast");
    EXPECT_STREQ(name(top.below.find(Function::bcast, Form::nonblocking)), "all");
    const auto& lowest = static_cast<const FakeModule&>(*top.below.find(Function::reduce, Form::persistent));
    EXPECT_STREQ(lowest.behaviour.name, "all");
    EXPECT_EQ(lowest.below.find(Function::reduce, Form::persistent), nullptr);
    int chosen = 0; // --explain shows all three
    for (const Decision& decision : core->decisions.decisions()) {
        chosen += decision.outcome == Outcome::chosen;
    }
    EXPECT_EQ(chosen, 3);
}

// A wrapped module serves through its interposer in all forms, also where another module passes operations on to it.
TEST_F(SelectorTest, AnInterposerStandsBeforeEachModuleThatItWraps) {
    constexpr const ComponentDescriptor* components[] = {
        &described<all>, &described<fast>, &described<short_ones>, &described_wrapper};
    start(components, {"PATCHBAY_MCA_coll_wrap=wrapper"});
    coll::Table* table = select(4);
    ASSERT_NE(table, nullptr) << error;
    EXPECT_FALSE(table->is_shared());
    const auto& top = static_cast<const FakeModule&>((*table)[Function::bcast]);
    ASSERT_STREQ(top.behaviour.name, "short_ones") << "the wrapper passes over this one";
    auto* before_fast = dynamic_cast<WrappingModule*>(top.below.find(Function::bcast, Form::blocking));
    ASSERT_NE(before_fast, nullptr);
    EXPECT_STREQ(name(&before_fast->inside()), "fast");
    auto* before_all = dynamic_cast<WrappingModule*>(top.below.find(Function::reduce, Form::persistent));
    ASSERT_NE(before_all, nullptr);
    EXPECT_STREQ(name(&before_all->inside()), "all");
    EXPECT_EQ(
        static_cast<const FakeModule&>(before_all->inside()).below.find(Function::reduce, Form::blocking), nullptr);
    EXPECT_NE(select(4), table) << "it serves one communicator";
}

TEST_F(SelectorTest, AnInterposerServesWhatTheModuleServed) {
    constexpr const ComponentDescriptor* components[] = {&described<all>, &described<fast>, &described_wrapper};
    start(components, {"PATCHBAY_MCA_coll_wrap=wrapper"});
    coll::Table* table = select(4);
    ASSERT_NE(table, nullptr) << error;
    const auto wrapped = [&](Function f, Form form) {
        auto* wrapper = dynamic_cast<WrappingModule*>(table->find(f, form));
        return wrapper == nullptr ? "not wrapped" : name(&wrapper->inside());
    };
    EXPECT_STREQ(wrapped(Function::bcast, Form::blocking), "fast");
    EXPECT_STREQ(wrapped(Function::bcast, Form::nonblocking), "all");
    EXPECT_STREQ(wrapped(Function::exscan, Form::persistent), "all");
    EXPECT_EQ(table->find(Function::neighbor_allgather, Form::blocking), nullptr);
}

TEST_F(SelectorTest, AnInterposerThatWrapsNothingIsAnError) {
    constexpr const ComponentDescriptor* components[] = {&described<all>};
    start(components, {"PATCHBAY_MCA_coll_wrap=all"});
    EXPECT_EQ(select(4), nullptr);
    EXPECT_EQ(
        error, "component all of framework coll, which parameter coll_wrap names, does not wrap all: it wraps no coll");
}

} // namespace
