// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/param/spec.h"

#include <cstddef>
#include <cstdint>

// What a component describes for tools (MPI-5.0, chapter 15): rows of tables, plain data, so that they can stand in a
// plugin's descriptor beside its parameters. A tool reads the tables without running code of the component.
namespace [[gnu::visibility("default")]] patchbay {

// The classes of performance variables, with the values of MPI_T_PVAR_CLASS_*.
enum class VariableClass : std::uint8_t {
    state = 1,      // one of `choices`
    level,          // how much of a resource is in use now
    size,           // how much of a resource there is
    percentage,     // unused so far: values are integers
    high_watermark, // the highest value of a level
    low_watermark,  // the lowest one
    counter,        // how often something has happened
    aggregate,      // a sum over events, such as bytes
    timer,          // nanoseconds that something has taken in total
    generic,
};

// The kind of object that a variable or an event belongs to, with the values of MPI_T_BIND_*. A source gets the object
// as a pointer to the class that is named here.
enum class Binding : std::uint8_t {
    none = 1,
    communicator = 2, // Communicator
    session = 12,     // Session
};

// When the values of a variable are collected.
enum class Counting : std::uint8_t {
    always,     // MPI_T: continuous
    on_request, // while a tool has started a handle: it would cost something on a hot path
};

// A performance variable. `name` is the part after `<framework>_<component>_`.
struct VariableSpec {
    const char* name;
    VariableClass variable_class;
    const char* help; // one sentence, unit included
    Counting counting = Counting::always;
    Binding binding = Binding::none;
    const char* choices = nullptr; // of a state: comma-separated names of the values 0, 1, ...
    std::uint32_t elements = 1;    // numbers that one read returns
    ParamLevel level = ParamLevel::tuner_basic;
};

// One number that an event carries.
struct EventElement {
    enum class Type : std::uint8_t { integer, count }; // MPI_INT, MPI_COUNT
    const char* name;
    Type type;
};

inline constexpr std::size_t most_event_elements = 4;

struct EventSpec {
    const char* name;
    const char* help; // one sentence: when it is raised, and its elements
    const EventElement* elements;
    std::size_t element_count; // at most most_event_elements
    Binding binding = Binding::none;
    ParamLevel level = ParamLevel::tuner_basic;
};

// The tables of one component.
struct ToolTables {
    const VariableSpec* variables = nullptr;
    std::size_t variable_count = 0;
    const EventSpec* events = nullptr;
    std::size_t event_count = 0;

    constexpr ToolTables() = default;
    template <std::size_t N>
    constexpr explicit ToolTables(const VariableSpec (&table)[N])
        : variables(table),
          variable_count(N) {}
    template <std::size_t N, std::size_t M>
    constexpr ToolTables(const VariableSpec (&table)[N], const EventSpec (&list)[M])
        : variables(table),
          variable_count(N),
          events(list),
          event_count(M) {}
};

} // namespace patchbay
