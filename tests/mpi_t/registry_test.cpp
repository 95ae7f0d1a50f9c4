// SPDX-License-Identifier: BSD-3-Clause
// core/tool: tables, sources that come and go, counting on request, watermarks, events and events that wait for a poll.
#include "core/core.h"
#include "core/progress/progress.h"
#include "core/tool/deferred_events.h"
#include "core/tool/registry.h"

#include <gtest/gtest.h>

namespace {

using namespace patchbay;

constexpr VariableSpec variables[] = {
    {"hits", VariableClass::counter, "hits"},
    {"misses", VariableClass::counter, "misses", Counting::on_request},
    {"fill", VariableClass::level, "fill"},
    {"fullest", VariableClass::high_watermark, "fullest"},
    {"of_object", VariableClass::state, "of an object", Counting::always, Binding::communicator, "red,green", 2},
};
constexpr EventElement elements[] = {{"what", EventElement::Type::integer}, {"size", EventElement::Type::count}};
constexpr EventSpec events[] = {{"happened", "it has happened", elements, 2}};

class Source final : public ToolSource {
public:
    explicit Source(ToolRegistry& registry)
        : ToolSource("fw", "comp"),
          _registry(registry) {
        _registry.add(*this);
    }
    ~Source() override { _registry.remove(*this); }
    std::optional<std::uint64_t> read(std::size_t variable, const void* object, std::size_t element) noexcept override {
        if (variable == 4) {
            return object == this ? std::optional<std::uint64_t>(element) : std::nullopt;
        }
        const std::uint64_t values[] = {hits, misses, fill, fill};
        return values[variable];
    }
    void count(std::size_t variable, bool on) noexcept override {
        EXPECT_EQ(variable, 1U);
        EXPECT_NE(counting, on);
        counting = on;
    }
    void track(std::size_t variable, Watermark& mark, bool on) noexcept override {
        EXPECT_EQ(variable, 3U);
        tracked = on ? &mark : nullptr;
    }
    std::span<EventPoint> events() noexcept override { return {&happened, 1}; }

    std::uint64_t hits = 0, misses = 0, fill = 0;
    bool counting = false;
    Watermark* tracked = nullptr;
    EventPoint happened;

private:
    ToolRegistry& _registry;
};

struct Delivered {
    const void* object;
    std::vector<std::int64_t> values;
    std::int64_t time;
};

class Sink final : public EventSink {
public:
    void deliver(std::size_t event, const void* object, std::span<const std::int64_t> values,
        std::int64_t time) noexcept override {
        EXPECT_EQ(event, 0U);
        delivered.push_back({object, {values.begin(), values.end()}, time});
    }
    void drop(std::size_t, const void* object) noexcept override {
        EXPECT_EQ(object, this);
        ++dropped;
    }
    std::vector<Delivered> delivered;
    int dropped = 0;
};

TEST(ToolRegistry, TablesAreKnownOnce) {
    ToolRegistry registry;
    registry.define("fw", "comp", ToolTables(variables, events));
    registry.define("fw", "comp", ToolTables(variables, events));
    registry.define("fw", "", ToolTables(variables));
    ASSERT_EQ(registry.variable_count(), 10U);
    ASSERT_EQ(registry.event_count(), 1U);
    EXPECT_EQ(registry.variable(0).name, "fw_comp_hits");
    EXPECT_EQ(registry.variable(4).choices, (std::vector<std::string>{"red", "green"}));
    EXPECT_EQ(registry.variable(5).name, "fw_hits");
    EXPECT_EQ(registry.event(0).name, "fw_comp_happened");
    EXPECT_EQ(registry.event(0).element_names, (std::vector<std::string>{"what", "size"}));
}

TEST(ToolRegistry, TotalsOutliveTheirSources) {
    ToolRegistry registry;
    Source early(registry); // before the tables are known
    registry.define("fw", "comp", ToolTables(variables, events));
    early.hits = 3;
    {
        Source other(registry);
        other.hits = 4;
        other.fill = 10;
        EXPECT_EQ(registry.read(0, nullptr, 0), 7U);
        EXPECT_EQ(registry.read(2, nullptr, 0), 10U);
        EXPECT_EQ(registry.read(4, &other, 1), 1U);
        EXPECT_EQ(registry.read(4, &registry, 1), std::nullopt);
    }
    EXPECT_EQ(registry.read(0, nullptr, 0), 7U);
    EXPECT_EQ(registry.read(2, nullptr, 0), 0U);
}

TEST(ToolRegistry, LevelsHaveNoValueWithoutASource) {
    ToolRegistry registry;
    registry.define("fw", "comp", ToolTables(variables, events));
    EXPECT_EQ(registry.read(0, nullptr, 0), 0U);
    EXPECT_EQ(registry.read(2, nullptr, 0), std::nullopt);
}

TEST(ToolRegistry, CountingIsToldOnce) {
    ToolRegistry registry;
    registry.define("fw", "comp", ToolTables(variables, events));
    Source source(registry);
    registry.count(1, true);
    registry.count(1, true);
    EXPECT_TRUE(source.counting);
    registry.count(1, false);
    EXPECT_TRUE(source.counting);
    {
        Source later(registry); // learns what was started before it
        EXPECT_TRUE(later.counting);
    }
    registry.count(1, false);
    EXPECT_FALSE(source.counting);
}

TEST(ToolRegistry, WatermarksBeginAtTheLevel) {
    ToolRegistry registry;
    registry.define("fw", "comp", ToolTables(variables, events));
    Source source(registry);
    source.fill = 12;
    Watermark mark{0};
    registry.track(3, mark);
    EXPECT_EQ(mark.load(), 12U);
    EXPECT_EQ(source.tracked, &mark);
    registry.untrack(3, mark);
    EXPECT_EQ(source.tracked, nullptr);
}

TEST(ToolRegistry, EventsGoToTheSinkWhileWanted) {
    ToolRegistry registry;
    Sink sink;
    Source source(registry);
    source.happened.raise(&sink, {1, 2}); // before the tables are known
    registry.define("fw", "comp", ToolTables(variables, events));
    registry.set_sink(&sink);
    source.happened.raise(&sink, {1, 2});
    EXPECT_TRUE(sink.delivered.empty());
    registry.want(0, true);
    EXPECT_TRUE(source.happened.wanted());
    const std::int64_t before = EventPoint::now();
    source.happened.raise(&sink, {1, 2});
    ASSERT_EQ(sink.delivered.size(), 1U);
    EXPECT_EQ(sink.delivered[0].object, &sink);
    EXPECT_EQ(sink.delivered[0].values, (std::vector<std::int64_t>{1, 2}));
    EXPECT_GE(sink.delivered[0].time, before);
    source.happened.drop(&sink);
    EXPECT_EQ(sink.dropped, 1);
    Source later(registry);
    EXPECT_TRUE(later.happened.wanted());
    registry.want(0, false);
    EXPECT_FALSE(source.happened.wanted());
    source.happened.raise(&sink, {1, 2});
    EXPECT_EQ(sink.delivered.size(), 1U);
}

TEST(DeferredEvents, WaitForAPollInOrder) {
    for (const bool threaded : {false, true}) {
        ToolRegistry registry;
        Sink sink;
        Source source(registry);
        registry.define("fw", "comp", ToolTables(variables, events));
        registry.set_sink(&sink);
        registry.want(0, true);
        Progress progress(threaded);
        DeferredEvents deferred(progress);
        for (int round = 0; round < 2; ++round) {
            sink.delivered.clear();
            for (int i = 0; i < 3; ++i) {
                deferred.add(source.happened, &sink, {i, 10 * i});
            }
            EXPECT_TRUE(sink.delivered.empty());
            const std::int64_t before_poll = EventPoint::now();
            progress.poll();
            ASSERT_EQ(sink.delivered.size(), 3U);
            for (std::size_t i = 0; i < 3; ++i) {
                EXPECT_EQ(sink.delivered[i].values[0], std::int64_t(i));
                EXPECT_LE(sink.delivered[i].time, before_poll);
            }
        }
    }
}

TEST(Params, NumbersAsValues) {
    ParamRegistry params;
    static constexpr ParamSpec table[] = {
        {"flag", ParamType::boolean, "false", "a flag"},
        {"time", ParamType::duration, "1us", "a time"},
        {"size", ParamType::size, "4KiB", "a size"},
        {"choice", ParamType::enumeration, "red", "a choice", "red,green"},
        {"text", ParamType::string, "", "a text"},
    };
    ASSERT_TRUE(params.define("demo", "", table));
    ASSERT_TRUE(params.set_number("demo_flag", 17));
    EXPECT_TRUE(params.at("demo_flag").as_bool());
    EXPECT_EQ(params.at("demo_flag").as_number(), 17);
    EXPECT_EQ(params.at("demo_flag").text(), "true");
    ASSERT_TRUE(params.set_number("demo_flag", 1));
    EXPECT_EQ(params.at("demo_flag").as_number(), 1);
    ASSERT_TRUE(params.set_number("demo_time", 2500));
    EXPECT_EQ(params.at("demo_time").as_duration().count(), 2500);
    ASSERT_TRUE(params.set_number("demo_size", 123));
    EXPECT_EQ(params.at("demo_size").as_size(), 123U);
    ASSERT_TRUE(params.set_number("demo_choice", 1));
    EXPECT_EQ(params.at("demo_choice").as_string(), "green");
    EXPECT_EQ(params.at("demo_choice").source(), ParamSource::program);
    EXPECT_EQ(params.set_number("demo_choice", 2).error().code, Errc::invalid);
    EXPECT_EQ(params.set_number("demo_size", -1).error().code, Errc::invalid);
    EXPECT_EQ(params.set_number("demo_text", 1).error().code, Errc::invalid);
    EXPECT_EQ(params.set_number("demo_texture", 1).error().code, Errc::not_found);
}

} // namespace
