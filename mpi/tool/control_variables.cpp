// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/tool/control_variables.h"

#include "core/log.h"
#include "mpi/instance/settings.h"
#include "mpi/library/library.h"
#include "mpi/tool/constants.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace patchbay::tool {

namespace {

// Parameters whose new value has effect while the library is initialized.
constexpr std::array<std::string_view, 3> changeable_in_use{"verbose", "explain", "mpi_param_check"};

MPI_Datatype datatype_of(ParamType type) noexcept {
    switch (type) {
    case ParamType::boolean:
    case ParamType::enumeration:
        return MPI_INT;
    case ParamType::integer:
    case ParamType::size:
    case ParamType::duration:
        return MPI_COUNT;
    case ParamType::string:
    case ParamType::list:
        break;
    }
    return MPI_CHAR;
}

bool is_changeable_in_use(const Param& param) noexcept {
    return std::find(changeable_in_use.begin(), changeable_in_use.end(), param.name()) != changeable_in_use.end();
}

// When and how a tool may write the value (MPI-5.0, 15.3.6: the description has to say it).
std::string restrictions(const Param& param) {
    if (param.scope() == ParamScope::constant || param.scope() == ParamScope::read_only) {
        return "; cannot be written";
    }
    const std::string when =
        is_changeable_in_use(param) ? "; may be written at any time" : "; may be written before initialization";
    switch (param.scope()) {
    case ParamScope::group:
    case ParamScope::all:
        return when + ", in all processes";
    case ParamScope::group_equal:
    case ParamScope::all_equal:
        return when + ", in all processes and with one value";
    default:
        return when;
    }
}

std::string describe(const Param& param) {
    std::string text = param.help();
    switch (param.type()) {
    case ParamType::boolean:
        text += "; 0 is false, any other number is true";
        break;
    case ParamType::size:
        text += "; this number is in bytes";
        break;
    case ParamType::duration:
        text += "; this number is in nanoseconds";
        break;
    case ParamType::list:
        text += "; items are separated by commas";
        break;
    default:
        break;
    }
    if (!param.range().empty()) {
        text += "; range: " + param.range();
    }
    return text + restrictions(param) +
        "; default: " + (param.default_text().empty() ? "(empty)" : param.default_text());
}

} // namespace

void ControlVariables::open(Core& core, Enumerations& enumerations) {
    _core = &core;
    for (const std::string& name : core.params.names()) { // sorted
        const Param& param = core.params.at(name);
        const MPI_T_enum items = enumerations.add(name, param.choices());
        _variables.push_back({&param, describe(param), datatype_of(param.type()), items});
    }
}

void ControlVariables::close() noexcept {
    _handles.clear();
    _variables.clear();
    _core = nullptr;
}

std::optional<std::size_t> ControlVariables::find(std::string_view name) const noexcept {
    const auto found = std::lower_bound(_variables.begin(), _variables.end(), name,
        [](const ControlVariable& variable, std::string_view wanted) { return variable.param->name() < wanted; });
    if (found == _variables.end() || found->param->name() != name) {
        return std::nullopt;
    }
    return std::size_t(found - _variables.begin());
}

bool ControlVariables::in_use(const Param& param) const noexcept {
    return param.frozen() || (library().instance() != nullptr && !is_changeable_in_use(param));
}

int ControlVariables::scope(std::size_t index) noexcept {
    ControlVariable& variable = _variables[index];
    if (variable.reported_scope == 0) {
        variable.reported_scope = in_use(*variable.param) ? MPI_T_SCOPE_READONLY : scope_of(variable.param->scope());
    }
    return variable.reported_scope;
}

ControlHandle* ControlVariables::allocate(std::size_t index) {
    const Param& param = *_variables[index].param;
    const int count = _variables[index].datatype == MPI_CHAR ? std::max(string_count, int(param.text().size()) + 1) : 1;
    return _handles.emplace_back(std::make_unique<ControlHandle>(ControlHandle{index, count})).get();
}

ControlHandle* ControlVariables::find(MPI_T_cvar_handle handle) const noexcept {
    const auto found = std::find_if(_handles.begin(), _handles.end(),
        [handle](const auto& one) { return reinterpret_cast<MPI_T_cvar_handle>(one.get()) == handle; });
    return found == _handles.end() ? nullptr : found->get();
}

void ControlVariables::free(ControlHandle* handle) noexcept {
    std::erase_if(_handles, [handle](const auto& one) { return one.get() == handle; });
}

void ControlVariables::read(const ControlHandle& handle, void* buffer) const noexcept {
    const ControlVariable& variable = _variables[handle.index];
    if (variable.datatype == MPI_INT) {
        *static_cast<int*>(buffer) = int(variable.param->as_number());
    } else if (variable.datatype == MPI_COUNT) {
        *static_cast<MPI_Count*>(buffer) = variable.param->as_number();
    } else {
        const std::string& text = variable.param->text();
        const std::size_t length = std::min(text.size(), std::size_t(handle.count) - 1);
        std::memcpy(buffer, text.data(), length);
        static_cast<char*>(buffer)[length] = '\0';
    }
}

int ControlVariables::write(const ControlHandle& handle, const void* buffer) {
    ControlVariable& variable = _variables[handle.index];
    const Param& param = *variable.param;
    const int scope = variable.reported_scope != 0 ? variable.reported_scope : scope_of(param.scope());
    if (scope == MPI_T_SCOPE_CONSTANT || scope == MPI_T_SCOPE_READONLY) {
        return MPI_T_ERR_CVAR_SET_NEVER;
    }
    if (in_use(param)) {
        return MPI_T_ERR_CVAR_SET_NOT_NOW;
    }
    Status set;
    if (variable.datatype == MPI_INT) {
        set = _core->params.set_number(param.name(), *static_cast<const int*>(buffer));
    } else if (variable.datatype == MPI_COUNT) {
        set = _core->params.set_number(param.name(), *static_cast<const MPI_Count*>(buffer));
    } else {
        const auto* text = static_cast<const char*>(buffer);
        set = _core->params.set(param.name(), std::string_view(text, strnlen(text, std::size_t(handle.count))));
    }
    if (!set) {
        return set.error().code == Errc::not_available ? MPI_T_ERR_CVAR_SET_NOT_NOW : MPI_T_ERR_INVALID;
    }
    apply(param);
    return MPI_SUCCESS;
}

void ControlVariables::apply(const Param& param) const {
    if (param.name() == "verbose") {
        set_log_level(int(param.as_int()));
    } else if (param.name() == "explain") {
        _core->decisions.enable(param.as_bool());
    } else if (param.name() == "mpi_param_check" && library().instance() != nullptr) {
        settings.check_arguments.store(param.as_bool());
    }
}

} // namespace patchbay::tool
