// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/tool/events.h"

#include "core/component/repository.h"
#include "core/core.h"
#include "core/progress/progress.h"

#include <algorithm>
#include <new>
#include <utility>

namespace patchbay::tool {

namespace {

thread_local const EventInstance* current = nullptr; // whose callback this thread is in

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
        _types.push_back(
            make_type(i, what, names_component ? enumerations.add(what.name, component_names(core)) : MPI_T_ENUM_NULL));
    }
    std::sort(_types.begin(), _types.end(),
        [](const EventType& a, const EventType& b) { return a.what->name < b.what->name; });
    core.tool.set_sink(this);
}

void Events::close() noexcept {
    const std::lock_guard lock(_mutex);
    for (const EventType& type : _types) {
        _core->tool.want(type.number, false);
    }
    _registrations.clear();
    _types.clear();
    _core->tool.set_sink(nullptr);
    _core = nullptr;
}

std::optional<std::size_t> Events::find(std::string_view name) const noexcept {
    const auto found =
        std::find_if(_types.begin(), _types.end(), [name](const EventType& type) { return type.what->name == name; });
    return found == _types.end() ? std::nullopt : std::optional(std::size_t(found - _types.begin()));
}

std::shared_ptr<EventRegistration> Events::find(MPI_T_event_registration handle) const {
    const std::lock_guard lock(_mutex);
    const auto found = std::find_if(_registrations.begin(), _registrations.end(),
        [handle](const auto& one) { return reinterpret_cast<MPI_T_event_registration>(one.get()) == handle; });
    return found == _registrations.end() ? nullptr : *found;
}

EventRegistration* Events::allocate(std::size_t index, void* object, Ref<Info> info) {
    const EventType& type = _types[index];
    // Every event may be observed for all objects that it is bound to.
    const auto bound = object == nullptr ? std::optional(BoundObject{}) : bind(type.what->binding, object);
    if (!bound) {
        return nullptr;
    }
    auto made = std::make_shared<EventRegistration>();
    made->type = &type;
    made->bound = *bound;
    made->info = std::move(info);
    const std::lock_guard lock(_mutex);
    return _registrations.emplace_back(std::move(made)).get();
}

// Called with the mutex held.
void Events::update_wanted(const EventType& type) noexcept {
    const bool wanted = std::any_of(_registrations.begin(), _registrations.end(), [&](const auto& one) {
        return one->type == &type &&
            std::any_of(one->callbacks.begin(), one->callbacks.end(),
                [](const EventRegistration::Callback& callback) { return callback.function != nullptr; });
    });
    _core->tool.want(type.number, wanted);
}

void Events::free(const std::shared_ptr<EventRegistration>& registration, void* user_data,
    MPI_T_event_free_cb_function* on_free) noexcept {
    {
        const std::lock_guard lock(_mutex);
        std::erase(_registrations, registration);
        update_wanted(*registration->type);
        registration->freed = true;
        registration->on_free = on_free;
        registration->free_data = user_data;
        ++registration->running;
    }
    finish(registration);
}

void Events::set_callback(EventRegistration& registration, std::size_t safety, EventRegistration::Callback callback) {
    const std::lock_guard lock(_mutex);
    registration.callbacks[safety] = std::move(callback);
    update_wanted(*registration.type);
}

void Events::set_info(EventRegistration& registration, std::optional<std::size_t> safety, Ref<Info> info) {
    const std::lock_guard lock(_mutex);
    (safety ? registration.callbacks[*safety].info : registration.info) = std::move(info);
}

Ref<Info> Events::info(const EventRegistration& registration, std::optional<std::size_t> safety) const {
    const std::lock_guard lock(_mutex);
    const Ref<Info>& held = safety ? registration.callbacks[*safety].info : registration.info;
    return held ? held->duplicate() : Ref<Info>::adopt(new Info);
}

void Events::set_dropped_handler(EventRegistration& registration, MPI_T_event_dropped_cb_function* handler) {
    const std::lock_guard lock(_mutex);
    registration.on_dropped = handler;
}

bool Events::in_callback() noexcept {
    return current != nullptr;
}

const EventInstance* Events::find(MPI_T_event_instance instance) noexcept {
    return reinterpret_cast<MPI_T_event_instance>(const_cast<EventInstance*>(current)) == instance ? current : nullptr;
}

// The registrations that get this event, each of which is marked as running.
Events::Registrations Events::take_interested(std::size_t event, const void* object) {
    const std::lock_guard lock(_mutex);
    Registrations result;
    for (const auto& one : _registrations) {
        if (one->type->number == event && (one->bound.object == nullptr || one->bound.object == object)) {
            result.push_back(one);
        }
    }
    for (const auto& one : result) {
        ++one->running;
    }
    return result;
}

void Events::deliver(
    std::size_t event, const void* object, std::span<const std::int64_t> values, std::int64_t time) noexcept {
    if (in_callback()) { // a callback has caused it
        drop(event);
        return;
    }
    try {
        for (const auto& registration : take_interested(event, object)) {
            EventInstance instance{registration->type, values, time};
            call(registration, instance);
            finish(registration);
        }
    } catch (const std::bad_alloc&) {
        drop(event);
    }
}

void Events::drop(std::size_t event) noexcept {
    const std::lock_guard lock(_mutex);
    for (const auto& one : _registrations) {
        one->dropped += one->type->number == event ? 1 : 0;
    }
}

void Events::call(const std::shared_ptr<EventRegistration>& registration, EventInstance& instance) noexcept {
    std::size_t level = 0;
    EventRegistration::Callback callback;
    MPI_T_event_dropped_cb_function* on_dropped = nullptr;
    MPI_Count dropped = 0;
    {
        const std::lock_guard lock(_mutex);
        const Progress* progress = _core == nullptr ? nullptr : _core->progress;
        level = *safety_index(progress != nullptr && progress->threaded() ? MPI_T_CB_REQUIRE_THREAD_SAFE
                                                                          : MPI_T_CB_REQUIRE_MPI_RESTRICTED);
        // The callback with the weakest promise that is enough here.
        const auto fitting = std::find_if(registration->callbacks.begin() + std::ptrdiff_t(level),
            registration->callbacks.end(), [](const auto& one) { return one.function != nullptr; });
        if (fitting != registration->callbacks.end()) {
            callback = *fitting;
        } else {
            ++registration->dropped;
        }
        if (registration->on_dropped != nullptr) {
            on_dropped = registration->on_dropped;
            dropped = std::exchange(registration->dropped, 0);
        }
    }
    const MPI_T_cb_safety safety = safety_levels[level];
    const auto handle = reinterpret_cast<MPI_T_event_registration>(registration.get());
    current = &instance;
    if (dropped != 0) {
        on_dropped(dropped, handle, 0, safety, callback.user_data);
    }
    if (callback.function != nullptr) {
        callback.function(reinterpret_cast<MPI_T_event_instance>(&instance), handle, safety, callback.user_data);
    }
    current = nullptr;
}

// The last one to finish with a registration that has been freed calls the function that was passed for that.
void Events::finish(const std::shared_ptr<EventRegistration>& registration) noexcept {
    MPI_T_event_free_cb_function* on_free = nullptr;
    {
        const std::lock_guard lock(_mutex);
        if (--registration->running == 0 && registration->freed) {
            on_free = registration->on_free;
        }
    }
    if (on_free != nullptr) {
        on_free(reinterpret_cast<MPI_T_event_registration>(registration.get()), MPI_T_CB_REQUIRE_MPI_RESTRICTED,
            registration->free_data);
    }
}

} // namespace patchbay::tool
