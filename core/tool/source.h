// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/tool/spec.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

namespace [[gnu::visibility("default")]] patchbay {

class ToolRegistry;

// Where one event of a component is raised: one for each row of its table, in its order. As long as no tool wants the
// event, it costs the load of wanted().
class EventPoint {
public:
    EventPoint() = default;
    EventPoint(const EventPoint&) = delete;
    EventPoint& operator=(const EventPoint&) = delete;

    bool wanted() const noexcept { return _wanted.load(std::memory_order_relaxed); }

    // Calls the callbacks of tools, on this thread: the caller holds no lock that a call of MPI_T may take, such as
    // that of a pml; DeferredEvents (deferred_events.h) is for one that does. `object`: what the event is bound to, or
    // nullptr. `values`: one for each element. Where wanted() is false it does nothing. Thread-safe.
    void raise(const void* object, std::initializer_list<std::int64_t> values) noexcept {
        if (wanted()) {
            raise_at(now(), object, {values.begin(), values.size()});
        }
    }
    // The same for an event that happened at an earlier time.
    void raise_at(std::int64_t time, const void* object, std::span<const std::int64_t> values) noexcept;
    // Counts an event for which there was no memory. `object`: as for raise().
    void drop(const void* object) noexcept;

    // Nanoseconds of the monotonic clock: the time stamp of events.
    static std::int64_t now() noexcept;

private:
    friend class ToolRegistry;
    std::atomic<bool> _wanted{false};
    ToolRegistry* _registry = nullptr; // these are set before the first tool can want the event
    std::size_t _event = 0;            // its index among all events
};

// The highest value that a level has had since a tool began to look.
using Watermark = std::atomic<std::uint64_t>;

// What answers for the values of one component's variables, and where its events are raised. It is derived by the
// component (or by the library, for tables of its own), and belongs to a module. The owner passes it to
// ToolRegistry::add() when the module can answer, and to remove() in the destructor of the most derived class, before
// anything of the module is destroyed. A component may have several sources at one time: the values of counters,
// aggregates, timers and levels are added up.
//
// The functions are called while the source is in the registry, on any thread that calls MPI_T; where the library is
// used by one thread only so far, it locks before. A source takes the locks of its module itself. They must not block
// otherwise, and must not call the registry.
class ToolSource {
public:
    // The names of the table: those of the component's descriptor. They must outlive the source.
    ToolSource(const char* framework, const char* component) noexcept
        : _framework(framework),
          _component(component) {}
    virtual ~ToolSource() = default;
    ToolSource(const ToolSource&) = delete;
    ToolSource& operator=(const ToolSource&) = delete;

    // The present value of a variable, by its index in the table. `object`: the object of a bound variable, which
    // exists; else nullptr. `element` is below VariableSpec::elements. nullopt: this source has nothing for it.
    virtual std::optional<std::uint64_t> read(
        std::size_t variable, const void* object, std::size_t element) noexcept = 0;

    // Of a variable that is counted on request: the first handle has been started (true), or the last one stopped.
    virtual void count(std::size_t variable, bool on) noexcept { (void)variable, (void)on; }

    // Of a watermark: from now on `mark` has to be raised to the value of the level whenever that is higher (true), or
    // not any more. `mark` has been set to the level that read() returns.
    virtual void track(std::size_t variable, Watermark& mark, bool on) noexcept {
        (void)variable, (void)mark, (void)on;
    }

    // As many as the table has events, in the same order.
    virtual std::span<EventPoint> events() noexcept { return {}; }

    const char* framework() const noexcept { return _framework; }
    const char* component() const noexcept { return _component; }

private:
    const char* _framework;
    const char* _component;
};

} // namespace patchbay
