// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/tool/registry.h"
#include "include/mpi.h"
#include "mpi/tool/bound_object.h"
#include "mpi/tool/enumeration.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace patchbay {
struct Core;
}

namespace patchbay::tool {

// An event as tools see it (MPI-5.0, 15.3.8).
struct EventType {
    std::size_t number; // in the registry
    const ToolRegistry::Event* what;
    std::vector<MPI_Datatype> datatypes; // by element
    std::vector<MPI_Aint> displacements; // in the buffer of MPI_T_event_copy
    MPI_T_enum enumeration;
};

// What an MPI_T_event_instance refers to: it exists during its callbacks only.
struct EventInstance {
    const EventType* type;
    std::span<const std::int64_t> values;
    std::int64_t time;
};

// The levels of MPI_T_cb_safety, from the one that restricts a callback least.
inline constexpr std::array safety_levels{MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
    MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};
std::optional<std::size_t> safety_index(MPI_T_cb_safety safety) noexcept;

// What an MPI_T_event_registration refers to. Protected by the mutex of Events.
struct EventRegistration {
    struct Callback {
        MPI_T_event_cb_function* function = nullptr;
        void* user_data = nullptr;
    };
    std::shared_ptr<const EventType> type;
    BoundObject bound;
    std::array<Callback, safety_levels.size()> callbacks; // by index of the level
    MPI_T_event_dropped_cb_function* on_dropped = nullptr;
    MPI_Count dropped = 0; // since on_dropped was set or called
    int running = 0;       // threads that call its functions, or are about to
    bool freed = false;
    MPI_T_event_free_cb_function* on_free = nullptr;
    void* free_data = nullptr;
};

// All events, sorted by name, and the registrations for them. Events are delivered on the thread that raises them,
// which may be inside of any MPI call: a callback is called where it is registered for MPI_T_CB_REQUIRE_MPI_RESTRICTED
// or more, and for MPI_T_CB_REQUIRE_THREAD_SAFE or more where several threads use the library, because they may raise
// the event at the same time. For a registration whose callbacks have lower levels only, the event waits, and the next
// MPI call of any thread delivers it before its own work, at MPI_T_CB_REQUIRE_NONE: there a callback may call all of
// MPI, and one thread at a time delivers. Thread-safe, but for open() and close().
class Events final : public EventSink {
public:
    void open(Core& core, Enumerations& enumerations);
    // No callback is called afterwards; one on another thread may be under way.
    void close() noexcept;

    std::size_t size() const noexcept { return _types.size(); }
    const EventType& operator[](std::size_t index) const noexcept { return *_types[index]; }
    std::optional<std::size_t> find(std::string_view name) const noexcept;

    // nullptr: no such handle.
    std::shared_ptr<EventRegistration> find(MPI_T_event_registration registration) const;
    // nullptr: the object is not valid.
    EventRegistration* allocate(std::size_t index, void* object);
    // `on_free` is called by the last thread that calls a function of the registration, which may be this one. false:
    // another thread has freed it.
    bool free(const std::shared_ptr<EventRegistration>& registration, void* user_data,
        MPI_T_event_free_cb_function* on_free) noexcept;
    void set_callback(EventRegistration& registration, std::size_t safety, EventRegistration::Callback callback);
    void set_dropped_handler(EventRegistration& registration, MPI_T_event_dropped_cb_function* handler);

    // Whether this thread is in a function of a tool that an event has called, and the instance that it is called for.
    static bool in_callback() noexcept;
    static const EventInstance* find(MPI_T_event_instance instance) noexcept;

    void deliver(std::size_t event, const void* object, std::span<const std::int64_t> values,
        std::int64_t time) noexcept override;
    void drop(std::size_t event, const void* object) noexcept override;
    // At the beginning of an MPI call, where the thread holds no lock: calls the callbacks of the events that wait,
    // unless another thread does, or this call is made by a callback or in a poll.
    void deliver_waiting() noexcept;

private:
    // An event that waits for an MPI call.
    struct Waiting {
        std::shared_ptr<EventRegistration> registration;
        std::array<std::int64_t, most_event_elements> values;
        std::size_t count;
        std::int64_t time;
    };
    static constexpr std::size_t most_waiting = 1024; // of all registrations; what comes then is dropped
    using Registrations = std::vector<std::shared_ptr<EventRegistration>>;
    // The registrations that have lost events since their handlers were called, and those that get the event.
    struct Receivers {
        Registrations of_drops;
        Registrations of_event;
    };

    std::size_t required_level() const noexcept;
    std::size_t required_level_now() const noexcept;
    void update_wanted(const EventRegistration& registration) noexcept;
    Receivers take_receivers(std::size_t event, const void* object);
    // `least`: the level that a callback needs here, by index.
    void report_drops(const std::shared_ptr<EventRegistration>& registration, std::size_t least) noexcept;
    void call(const std::shared_ptr<EventRegistration>& registration, EventInstance& instance) noexcept;
    void call_at(const std::shared_ptr<EventRegistration>& registration, const EventRegistration::Callback& callback,
        std::size_t level, EventInstance& instance) noexcept;
    void wait_for_call(const std::shared_ptr<EventRegistration>& registration, const EventInstance& instance) noexcept;
    std::deque<Waiting> take_waiting() noexcept;
    bool is_in_poll() const noexcept;
    void finish(const std::shared_ptr<EventRegistration>& registration) noexcept;

    Core* _core = nullptr;
    std::vector<std::shared_ptr<const EventType>> _types; // a callback under way may outlive close()
    mutable std::mutex _mutex;
    Registrations _registrations;
    std::deque<Waiting> _waiting;
    std::atomic_flag _delivers_waiting; // one thread at a time
};

} // namespace patchbay::tool
