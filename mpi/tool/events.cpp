// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/tool/events.h"

#include "core/component/repository.h"
#include "core/core.h"
#include "core/progress/progress.h"
#include "mpi/instance/single_thread.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace patchbay::tool {

namespace {

thread_local bool calling = false;                   // this thread calls functions of tools
thread_local const EventInstance* current = nullptr; // whose callback this thread is in

bool has_callback(const EventRegistration& registration) noexcept {
    return std::any_of(registration.callbacks.begin(), registration.callbacks.end(),
        [](const EventRegistration::Callback& callback) { return callback.function != nullptr; });
}

// The callback with the lowest level that is enough; one without a function: there is none.
EventRegistration::Callback callback_for(const EventRegistration& registration, std::size_t level) noexcept {
    const auto found = std::find_if(registration.callbacks.begin() + std::ptrdiff_t(level),
        registration.callbacks.end(), [](const auto& callback) { return callback.function != nullptr; });
    return found == registration.callbacks.end() ? EventRegistration::Callback() : *found;
}

bool is_for(const EventRegistration& registration, std::size_t event, const void* object) noexcept {
    return registration.type->number == event &&
        (registration.bound.object == nullptr ||
            is_same(registration.type->what->binding, registration.bound, object)) &&
        has_callback(registration);
}

// MPI counts what is lost while there is a handler.
void count_drop(EventRegistration& registration) noexcept {
    if (registration.on_dropped != nullptr && registration.dropped < std::numeric_limits<MPI_Count>::max()) {
        ++registration.dropped;
    }
}

MPI_T_event_registration to_handle(const std::shared_ptr<EventRegistration>& registration) noexcept {
    return reinterpret_cast<MPI_T_event_registration>(registration.get());
}

std::vector<std::string> component_names(const Core& core) {
    std::vector<std::string> names;
    for (const Repository::Installed& installed : core.components.installed()) {
        names.push_back(installed.framework + "/" + installed.name);
    }
    return names;
}

EventType make_type(std::size_t number, const ToolRegistry::Event& what, MPI_T_enum enumeration) {
    EventType type{number, &what, {}, {}, enumeration};
    MPI_Aint end = 0;
    for (const EventElement::Type element : what.elements) {
        const bool count = element == EventElement::Type::count;
        const MPI_Aint size = count ? sizeof(MPI_Count) : sizeof(int);
        end = (end + size - 1) / size * size;
        type.datatypes.push_back(count ? MPI_COUNT : MPI_INT);
        type.displacements.push_back(end);
        end += size;
    }
    return type;
}

} // namespace

std::optional<std::size_t> safety_index(MPI_T_cb_safety safety) noexcept {
    const auto found = std::find(safety_levels.begin(), safety_levels.end(), safety);
    return found == safety_levels.end() ? std::nullopt : std::optional(std::size_t(found - safety_levels.begin()));
}

void Events::open(Core& core, Enumerations& enumerations) {
    _core = &core;
    for (std::size_t i = 0; i < core.tool.event_count(); ++i) {
        const ToolRegistry::Event& what = core.tool.event(i);
        // The one event whose integer is not a plain number.
        const bool names_component = what.name == "component_selected";
        _types.push_back(std::make_shared<const EventType>(make_type(
            i, what, names_component ? enumerations.add(what.name, component_names(core)) : MPI_T_ENUM_NULL)));
    }
    std::sort(_types.begin(), _types.end(), [](const auto& a, const auto& b) { return a->what->name < b->what->name; });
    core.tool.set_sink(this);
}

void Events::close() noexcept {
    const std::lock_guard lock(_mutex);
    if (_core == nullptr) {
        return;
    }
    for (const auto& type : _types) {
        _core->tool.want(type->number, false);
    }
    _waiting.clear();
    _registrations.clear();
    _types.clear();
    _core->tool.set_sink(nullptr);
    _core = nullptr;
}

std::optional<std::size_t> Events::find(std::string_view name) const noexcept {
    const auto found =
        std::find_if(_types.begin(), _types.end(), [name](const auto& type) { return type->what->name == name; });
    return found == _types.end() ? std::nullopt : std::optional(std::size_t(found - _types.begin()));
}

std::shared_ptr<EventRegistration> Events::find(MPI_T_event_registration handle) const {
    const std::lock_guard lock(_mutex);
    const auto found = std::find_if(_registrations.begin(), _registrations.end(),
        [handle](const auto& one) { return reinterpret_cast<MPI_T_event_registration>(one.get()) == handle; });
    return found == _registrations.end() ? nullptr : *found;
}

EventRegistration* Events::allocate(std::size_t index, void* object) {
    const std::shared_ptr<const EventType>& type = _types[index];
    // Every event may be observed for all objects that it is bound to.
    const auto bound = object == nullptr ? std::optional(BoundObject{}) : bind(type->what->binding, object);
    if (!bound) {
        return nullptr;
    }
    auto made = std::make_shared<EventRegistration>();
    made->type = type;
    made->bound = *bound;
    const std::lock_guard lock(_mutex);
    return _registrations.emplace_back(std::move(made)).get();
}

// Called with the mutex held.
void Events::update_wanted(const EventRegistration& changed) noexcept {
    if (_core != nullptr) {
        _core->tool.want(changed.type->number,
            std::any_of(_registrations.begin(), _registrations.end(),
                [&](const auto& one) { return one->type == changed.type && has_callback(*one); }));
    }
}

bool Events::free(const std::shared_ptr<EventRegistration>& registration, void* user_data,
    MPI_T_event_free_cb_function* on_free) noexcept {
    {
        const std::lock_guard lock(_mutex);
        if (std::erase(_registrations, registration) == 0) {
            return false;
        }
        std::erase_if(_waiting, [&](const Waiting& one) { return one.registration == registration; });
        update_wanted(*registration);
        registration->freed = true;
        registration->on_free = on_free;
        registration->free_data = user_data;
        ++registration->running;
    }
    finish(registration);
    return true;
}

void Events::set_callback(EventRegistration& registration, std::size_t safety, EventRegistration::Callback callback) {
    const std::lock_guard lock(_mutex);
    registration.callbacks[safety] = callback;
    update_wanted(registration);
}

void Events::set_dropped_handler(EventRegistration& registration, MPI_T_event_dropped_cb_function* handler) {
    const std::lock_guard lock(_mutex);
    registration.on_dropped = handler;
    registration.dropped = 0;
}

bool Events::in_callback() noexcept {
    return calling;
}

const EventInstance* Events::find(MPI_T_event_instance instance) noexcept {
    return reinterpret_cast<MPI_T_event_instance>(const_cast<EventInstance*>(current)) == instance ? current : nullptr;
}

// The index of the level that callbacks need which are called now, inside of an MPI call. Called with the mutex held.
std::size_t Events::required_level() const noexcept {
    const Progress* progress = _core == nullptr ? nullptr : _core->progress;
    return *safety_index(
        progress != nullptr && progress->threaded() ? MPI_T_CB_REQUIRE_THREAD_SAFE : MPI_T_CB_REQUIRE_MPI_RESTRICTED);
}

std::size_t Events::required_level_now() const noexcept {
    const std::lock_guard lock(_mutex);
    return required_level();
}

// Each of them is marked as running.
Events::Receivers Events::take_receivers(std::size_t event, const void* object) {
    const std::lock_guard lock(_mutex);
    Receivers result;
    for (const auto& one : _registrations) {
        if (one->dropped != 0) {
            result.of_drops.push_back(one);
        }
        if (is_for(*one, event, object)) {
            result.of_event.push_back(one);
        }
    }
    for (const Registrations* list : {&result.of_drops, &result.of_event}) {
        for (const auto& one : *list) {
            ++one->running;
        }
    }
    return result;
}

// The handlers of lost events are called before the next event of the source, whichever that is (MPI-5.0, 15.3.8).
void Events::deliver(
    std::size_t event, const void* object, std::span<const std::int64_t> values, std::int64_t time) noexcept {
    if (in_callback()) { // a callback has caused it
        drop(event, object);
        return;
    }
    Receivers receivers;
    try {
        receivers = take_receivers(event, object);
    } catch (const std::bad_alloc&) {
        drop(event, object);
        return;
    }
    calling = true;
    for (const auto& registration : receivers.of_drops) {
        report_drops(registration, required_level_now());
        finish(registration);
    }
    for (const auto& registration : receivers.of_event) {
        EventInstance instance{registration->type.get(), values, time};
        call(registration, instance);
        finish(registration);
    }
    calling = false;
}

void Events::drop(std::size_t event, const void* object) noexcept {
    const std::lock_guard lock(_mutex);
    for (const auto& one : _registrations) {
        if (is_for(*one, event, object)) {
            count_drop(*one);
        }
    }
}

// The handler gets the data of a callback, so that it is called where there is one for the level only.
void Events::report_drops(const std::shared_ptr<EventRegistration>& registration, std::size_t level) noexcept {
    EventRegistration::Callback callback;
    MPI_T_event_dropped_cb_function* on_dropped = nullptr;
    MPI_Count dropped = 0;
    {
        const std::lock_guard lock(_mutex);
        callback = callback_for(*registration, level);
        if (registration->freed || callback.function == nullptr || registration->dropped == 0) {
            return;
        }
        on_dropped = registration->on_dropped;
        dropped = std::exchange(registration->dropped, 0);
    }
    on_dropped(dropped, to_handle(registration), 0, safety_levels[level], callback.user_data);
}

void Events::call(const std::shared_ptr<EventRegistration>& registration, EventInstance& instance) noexcept {
    std::size_t level = 0;
    EventRegistration::Callback callback;
    {
        const std::lock_guard lock(_mutex);
        if (registration->freed) {
            return;
        }
        level = required_level();
        callback = callback_for(*registration, level);
        if (callback.function == nullptr) {
            wait_for_call(registration, instance);
            return;
        }
    }
    call_at(registration, callback, level, instance);
}

void Events::call_at(const std::shared_ptr<EventRegistration>& registration,
    const EventRegistration::Callback& callback, std::size_t level, EventInstance& instance) noexcept {
    current = &instance;
    callback.function(reinterpret_cast<MPI_T_event_instance>(&instance), to_handle(registration), safety_levels[level],
        callback.user_data);
    current = nullptr;
}

// Called with the mutex held.
void Events::wait_for_call(
    const std::shared_ptr<EventRegistration>& registration, const EventInstance& instance) noexcept {
    if (_waiting.size() == most_waiting) {
        count_drop(*registration);
        return;
    }
    try {
        Waiting& waiting = _waiting.emplace_back();
        waiting.registration = registration;
        std::copy(instance.values.begin(), instance.values.end(), waiting.values.begin());
        waiting.count = instance.values.size();
        waiting.time = instance.time;
    } catch (const std::bad_alloc&) {
        count_drop(*registration);
    }
    single_thread.fetch_or(work_for_calls, std::memory_order_relaxed);
}

// Each registration is marked as running.
std::deque<Events::Waiting> Events::take_waiting() noexcept {
    const std::lock_guard lock(_mutex);
    single_thread.fetch_and(~work_for_calls, std::memory_order_relaxed);
    for (const Waiting& one : _waiting) {
        ++one.registration->running;
    }
    return std::exchange(_waiting, {});
}

bool Events::is_in_poll() const noexcept {
    const std::lock_guard lock(_mutex);
    return _core != nullptr && _core->progress != nullptr && _core->progress->is_in_poll();
}

// What the callbacks cause is dropped, as in all callbacks, so that this ends.
void Events::deliver_waiting() noexcept {
    if (in_callback() || is_in_poll() || _delivers_waiting.test_and_set(std::memory_order_acquire)) {
        return;
    }
    constexpr std::size_t level = 0; // MPI_T_CB_REQUIRE_NONE
    calling = true;
    for (const Waiting& one : take_waiting()) {
        report_drops(one.registration, level);
        EventRegistration::Callback callback;
        {
            const std::lock_guard lock(_mutex);
            if (!one.registration->freed) {
                callback = callback_for(*one.registration, level);
            }
        }
        if (callback.function != nullptr) {
            EventInstance instance{one.registration->type.get(), {one.values.data(), one.count}, one.time};
            call_at(one.registration, callback, level, instance);
        }
        finish(one.registration);
    }
    calling = false;
    _delivers_waiting.clear(std::memory_order_release);
}

// The last one to finish with a registration that has been freed calls the function that was passed for that.
void Events::finish(const std::shared_ptr<EventRegistration>& registration) noexcept {
    std::size_t level = *safety_index(MPI_T_CB_REQUIRE_NONE);
    MPI_T_event_free_cb_function* on_free = nullptr;
    {
        const std::lock_guard lock(_mutex);
        if (--registration->running == 0 && registration->freed) {
            on_free = registration->on_free;
        }
        if (in_callback()) {
            level = required_level();
        }
    }
    if (on_free != nullptr) {
        on_free(to_handle(registration), safety_levels[level], registration->free_data);
    }
}

} // namespace patchbay::tool
