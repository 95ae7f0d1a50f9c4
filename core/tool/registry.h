// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/tool/source.h"
#include "core/tool/spec.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// The classes whose values add up over the sources of a process, and over time.
constexpr bool is_total(VariableClass variable_class) noexcept {
    return variable_class == VariableClass::counter || variable_class == VariableClass::aggregate ||
        variable_class == VariableClass::timer;
}

// What receives the events that tools want. All functions are called on the thread that raises, which holds no lock of
// the registry.
class EventSink {
public:
    virtual void deliver(
        std::size_t event, const void* object, std::span<const std::int64_t> values, std::int64_t time) noexcept = 0;
    virtual void drop(std::size_t event, const void* object) noexcept = 0;

protected:
    ~EventSink() = default;
};

// The performance variables and events of this process: the tables that are known, and the sources that answer now. The
// tables become known when the first tool initializes MPI_T; until then a source costs its entry in a list. All members
// are thread-safe.
class ToolRegistry {
public:
    ToolRegistry() = default;
    ToolRegistry(const ToolRegistry&) = delete;
    ToolRegistry& operator=(const ToolRegistry&) = delete;

    // For the owners of sources (source.h).
    void add(ToolSource& source);
    void remove(ToolSource& source) noexcept;

    // The rest is for MPI_T.

    struct Variable {
        std::string framework;
        std::string component;
        std::string name; // full: "pml_ob1_messages_sent"
        std::string help;
        std::vector<std::string> choices;
        VariableClass variable_class;
        Counting counting;
        Binding binding;
        std::uint32_t elements;
        ParamLevel level;
        std::size_t row; // in its table
    };
    struct Event {
        std::string framework;
        std::string component;
        std::string name;
        std::string help;
        std::vector<EventElement::Type> elements;
        std::vector<std::string> element_names;
        Binding binding;
        ParamLevel level;
        std::size_t row;
    };

    // Makes tables known. The tables are copied. Defining those of the same component again changes nothing.
    void define(std::string_view framework, std::string_view component, const ToolTables& tables);

    // In order of definition; an index and a reference stay valid as long as the registry exists.
    std::size_t variable_count() const;
    const Variable& variable(std::size_t index) const;
    std::size_t event_count() const;
    const Event& event(std::size_t index) const;

    // The value that all sources have for the variable, and those that are gone. A level, a state or a bound variable
    // for which no source answers has none.
    std::optional<std::uint64_t> read(std::size_t variable, const void* object, std::size_t element) const noexcept;
    // Begin and end counting on request; calls are counted.
    void count(std::size_t variable, bool on) noexcept;
    // Sets `mark` to the present value and keeps it at the highest one until untrack().
    void track(std::size_t variable, Watermark& mark);
    void untrack(std::size_t variable, Watermark& mark) noexcept;

    // Where wanted events go; nullptr: nowhere. Not while an event is wanted.
    void set_sink(EventSink* sink) noexcept { _sink.store(sink); }
    void want(std::size_t event, bool on) noexcept;

private:
    friend class EventPoint;
    struct Tracked {
        std::size_t variable;
        Watermark* mark;
    };
    struct Counted {
        std::uint32_t users = 0;
        std::vector<std::uint64_t> past; // by element: what sources that are gone have counted
    };

    bool belongs(const ToolSource& source, const std::string& framework, const std::string& component) const noexcept;
    void connect(ToolSource& source, bool on) noexcept;
    void keep_past(ToolSource& source) noexcept;

    mutable std::mutex _mutex;
    std::vector<ToolSource*> _sources;
    std::deque<Variable> _variables;
    std::deque<Counted> _counted; // by variable
    std::deque<Event> _events;
    std::deque<bool> _wanted; // by event
    std::vector<Tracked> _tracked;
    std::atomic<EventSink*> _sink{nullptr};
};

} // namespace patchbay
