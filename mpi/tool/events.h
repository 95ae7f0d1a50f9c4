// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/tool/registry.h"
#include "include/mpi.h"
#include "mpi/tool/bound_object.h"
#include "mpi/tool/enumeration.h"
#include "object/info.h"

#include <array>
#include <cstddef>
#include <cstdint>
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
        Ref<Info> info;
    };
    const EventType* type;
    BoundObject bound;
    Ref<Info> info;
    std::array<Callback, safety_levels.size()> callbacks; // by index of the level
    MPI_T_event_dropped_cb_function* on_dropped = nullptr;
    MPI_Count dropped = 0;
    int running = 0; // callbacks under way
    bool freed = false;
    MPI_T_event_free_cb_function* on_free = nullptr;
    void* free_data = nullptr;
};

// All events, sorted by name, and the registrations for them. Events are delivered on the thread that raises them. The
// callbacks of one registration may run on several threads at a time where several threads use the library; they have
// to be registered for MPI_T_CB_REQUIRE_THREAD_SAFE then, and for MPI_T_CB_REQUIRE_MPI_RESTRICTED otherwise: an event
// may be raised inside of any MPI call. Thread-safe.
class Events final : public EventSink {
public:
    void open(Core& core, Enumerations& enumerations);
    // No callback is called afterwards; one on another thread may be under way.
    void close() noexcept;

    std::size_t size() const noexcept { return _types.size(); }
    const EventType& operator[](std::size_t index) const noexcept { return _types[index]; }
    std::optional<std::size_t> find(std::string_view name) const noexcept;

    // nullptr: no such handle.
    std::shared_ptr<EventRegistration> find(MPI_T_event_registration registration) const;
    // nullptr: the object is not valid.
    EventRegistration* allocate(std::size_t index, void* object, Ref<Info> info);
    void free(const std::shared_ptr<EventRegistration>& registration, void* user_data,
        MPI_T_event_free_cb_function* on_free) noexcept;
    void set_callback(EventRegistration& registration, std::size_t safety, EventRegistration::Callback callback);
    void set_info(EventRegistration& registration, std::optional<std::size_t> safety, Ref<Info> info);
    Ref<Info> info(const EventRegistration& registration, std::optional<std::size_t> safety) const;
    void set_dropped_handler(EventRegistration& registration, MPI_T_event_dropped_cb_function* handler);

    // Whether this thread is in a callback, and the instance that it is called for.
    static bool in_callback() noexcept;
    static const EventInstance* find(MPI_T_event_instance instance) noexcept;

    void deliver(std::size_t event, const void* object, std::span<const std::int64_t> values,
        std::int64_t time) noexcept override;
    void drop(std::size_t event) noexcept override;

private:
    using Registrations = std::vector<std::shared_ptr<EventRegistration>>;

    void update_wanted(const EventType& type) noexcept;
    Registrations take_interested(std::size_t event, const void* object);
    void call(const std::shared_ptr<EventRegistration>& registration, EventInstance& instance) noexcept;
    void finish(const std::shared_ptr<EventRegistration>& registration) noexcept;

    Core* _core = nullptr;
    std::vector<EventType> _types;
    mutable std::mutex _mutex;
    Registrations _registrations;
};

} // namespace patchbay::tool
