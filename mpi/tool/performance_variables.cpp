// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/tool/performance_variables.h"

#include "mpi/tool/bound_object.h"

#include <algorithm>
#include <tuple>

namespace patchbay::tool {

namespace {

template <class List, class Handle>
auto find_in(const List& list, Handle handle) noexcept -> decltype(list.front().get()) {
    const auto found = std::find_if(
        list.begin(), list.end(), [handle](const auto& one) { return reinterpret_cast<Handle>(one.get()) == handle; });
    return found == list.end() ? nullptr : found->get();
}

} // namespace

void PerformanceVariables::open(ToolRegistry& registry, Enumerations& enumerations) {
    _registry = &registry;
    for (std::size_t i = 0; i < registry.variable_count(); ++i) {
        const ToolRegistry::Variable& what = registry.variable(i);
        const bool state = what.variable_class == VariableClass::state;
        _variables.push_back(
            {i, &what, state ? MPI_INT : MPI_UNSIGNED_LONG_LONG, enumerations.add(what.name, what.choices)});
    }
    std::sort(_variables.begin(), _variables.end(), [](const PerformanceVariable& a, const PerformanceVariable& b) {
        return std::tie(a.what->name, a.what->variable_class) < std::tie(b.what->name, b.what->variable_class);
    });
}

void PerformanceVariables::close() noexcept {
    while (!_sessions.empty()) {
        free(_sessions.back().get());
    }
    _variables.clear();
    _registry = nullptr;
}

std::optional<std::size_t> PerformanceVariables::find(std::string_view name, int variable_class) const noexcept {
    const auto found = std::find_if(_variables.begin(), _variables.end(), [&](const PerformanceVariable& variable) {
        return variable.what->name == name && int(variable.what->variable_class) == variable_class;
    });
    return found == _variables.end() ? std::nullopt : std::optional(std::size_t(found - _variables.begin()));
}

PerformanceSession* PerformanceVariables::create_session() {
    return _sessions.emplace_back(std::make_unique<PerformanceSession>()).get();
}

PerformanceSession* PerformanceVariables::find(MPI_T_pvar_session session) const noexcept {
    return find_in(_sessions, session);
}

void PerformanceVariables::free(PerformanceSession* session) noexcept {
    while (!session->handles.empty()) {
        free(session->handles.back().get());
    }
    std::erase_if(_sessions, [session](const auto& one) { return one.get() == session; });
}

int PerformanceVariables::allocate(
    PerformanceSession& session, std::size_t index, void* object, PerformanceHandle** handle) {
    const PerformanceVariable& variable = _variables[index];
    const auto bound = bind(variable.what->binding, object);
    if (!bound) {
        return MPI_T_ERR_INVALID;
    }
    auto made = std::make_unique<PerformanceHandle>();
    made->session = &session;
    made->variable = &variable;
    made->bound = *bound;
    made->base.resize(variable.what->elements);
    made->kept.resize(variable.what->elements);
    made->started = variable.continuous();
    *handle = session.handles.emplace_back(std::move(made)).get();
    if (variable.is_watermark()) {
        _registry->track(variable.number, (*handle)->mark);
    }
    return MPI_SUCCESS;
}

PerformanceHandle* PerformanceVariables::find(const PerformanceSession& session, MPI_T_pvar_handle handle) noexcept {
    return find_in(session.handles, handle);
}

void PerformanceVariables::free(PerformanceHandle* handle) noexcept {
    if (handle->variable->is_watermark()) {
        _registry->untrack(handle->variable->number, handle->mark);
    } else if (handle->started) {
        stop_counting(*handle);
    }
    std::erase_if(handle->session->handles, [handle](const auto& one) { return one.get() == handle; });
}

std::optional<std::uint64_t> PerformanceVariables::present(
    const PerformanceHandle& handle, std::size_t element) const noexcept {
    const PerformanceVariable& variable = *handle.variable;
    const auto held = hold_objects(variable.what->binding);
    if (!exists(variable.what->binding, handle.bound)) {
        return std::nullopt;
    }
    return _registry->read(variable.number, handle.bound.object, element).value_or(0);
}

int PerformanceVariables::start(PerformanceHandle& handle) {
    if (handle.variable->continuous()) {
        return MPI_T_ERR_PVAR_NO_STARTSTOP;
    }
    if (handle.started) {
        return MPI_SUCCESS;
    }
    _registry->count(handle.variable->number, true);
    handle.started = true;
    for (std::size_t element = 0; element < handle.base.size(); ++element) {
        const auto value = present(handle, element);
        if (!value) {
            stop_counting(handle);
            return MPI_T_ERR_INVALID_HANDLE;
        }
        handle.base[element] = *value;
    }
    return MPI_SUCCESS;
}

void PerformanceVariables::stop_counting(PerformanceHandle& handle) noexcept {
    handle.started = false;
    if (!handle.variable->continuous()) {
        _registry->count(handle.variable->number, false);
    }
}

int PerformanceVariables::stop(PerformanceHandle& handle) {
    if (handle.variable->continuous()) {
        return MPI_T_ERR_PVAR_NO_STARTSTOP;
    }
    if (!handle.started) {
        return MPI_SUCCESS;
    }
    for (std::size_t element = 0; element < handle.base.size(); ++element) {
        const std::uint64_t value = present(handle, element).value_or(handle.base[element]);
        handle.kept[element] =
            handle.variable->is_total() ? handle.kept[element] + value - handle.base[element] : value;
    }
    stop_counting(handle);
    return MPI_SUCCESS;
}

int PerformanceVariables::read(PerformanceHandle& handle, void* buffer) {
    const PerformanceVariable& variable = *handle.variable;
    if (const auto held = hold_objects(variable.what->binding); !exists(variable.what->binding, handle.bound)) {
        return MPI_T_ERR_INVALID_HANDLE;
    }
    for (std::size_t element = 0; element < handle.base.size(); ++element) {
        std::uint64_t value = handle.kept[element];
        if (variable.is_watermark()) {
            value = handle.mark.load();
        } else if (handle.started) {
            const auto now = present(handle, element);
            if (!now) {
                return MPI_T_ERR_INVALID_HANDLE;
            }
            value = variable.is_total() ? value + *now - handle.base[element] : *now;
        }
        if (variable.datatype == MPI_INT) {
            static_cast<int*>(buffer)[element] = int(value);
        } else {
            static_cast<unsigned long long*>(buffer)[element] = value;
        }
    }
    return MPI_SUCCESS;
}

int PerformanceVariables::set(PerformanceHandle& handle, const std::vector<std::uint64_t>& values) {
    if (handle.variable->read_only()) {
        return MPI_T_ERR_PVAR_NO_WRITE;
    }
    for (std::size_t element = 0; element < values.size(); ++element) {
        const auto now = present(handle, element);
        if (!now) {
            return MPI_T_ERR_INVALID_HANDLE;
        }
        handle.base[element] = *now;
        handle.kept[element] = values[element];
        handle.mark.store(values[element]);
    }
    return MPI_SUCCESS;
}

int PerformanceVariables::write(PerformanceHandle& handle, const void* buffer) {
    const auto* numbers = static_cast<const unsigned long long*>(buffer);
    return set(handle, std::vector<std::uint64_t>(numbers, numbers + handle.base.size()));
}

// The starting value of a watermark is the present level, that of a total 0.
int PerformanceVariables::reset(PerformanceHandle& handle) {
    std::vector<std::uint64_t> start(handle.base.size());
    if (handle.variable->is_watermark()) {
        start[0] = _registry->read(handle.variable->number, nullptr, 0).value_or(0);
    }
    return set(handle, start);
}

int PerformanceVariables::read_and_reset(PerformanceHandle& handle, void* buffer) {
    auto* numbers = static_cast<unsigned long long*>(buffer);
    if (handle.variable->is_watermark()) {
        const std::uint64_t level = _registry->read(handle.variable->number, nullptr, 0).value_or(0);
        numbers[0] = handle.mark.exchange(level);
        return MPI_SUCCESS;
    }
    for (std::size_t element = 0; element < handle.base.size(); ++element) {
        const auto now = present(handle, element);
        if (!now) {
            return MPI_T_ERR_INVALID_HANDLE;
        }
        const std::uint64_t since = handle.started ? *now - handle.base[element] : 0;
        numbers[element] = handle.kept[element] + since;
        handle.kept[element] = 0;
        handle.base[element] = *now;
    }
    return MPI_SUCCESS;
}

} // namespace patchbay::tool
