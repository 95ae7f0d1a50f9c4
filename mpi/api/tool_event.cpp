// SPDX-License-Identifier: BSD-3-Clause
// MPI_T: events and their sources (MPI-5.0, 15.3.8).
#include "mpi/api/tool_args.h"
#include "mpi/tool/constants.h"
#include "object/probed_handle.h"

#include <limits>

using namespace patchbay;
using api::mpi_t;

namespace patchbay::api {

namespace {

// There is one source, the process.
constexpr int source_count = 1;
constexpr std::string_view source_name = "process";
constexpr std::string_view source_description =
    "this process: time stamps are nanoseconds of its monotonic clock; several threads may raise events";

// Calls `action` with the registration behind the handle, without the lock of the tool: `action` may call functions of
// the program.
template <class Action>
int with_registration(MPI_T_event_registration handle, const Action& action) noexcept {
    std::shared_ptr<tool::EventRegistration> registration;
    const int code = mpi_t().use([&] {
        registration = mpi_t().events.find(handle);
        return registration == nullptr ? MPI_T_ERR_INVALID_HANDLE : MPI_SUCCESS;
    });
    if (code != MPI_SUCCESS) {
        return code;
    }
    try {
        return action(registration);
    } catch (const std::bad_alloc&) {
        return MPI_T_ERR_MEMORY;
    }
}

// Calls `action` with the instance of the callback that this thread is in.
template <class Action>
int with_instance(MPI_T_event_instance handle, const Action& action) noexcept {
    const tool::EventInstance* instance = tool::Events::find(handle);
    return instance != nullptr ? action(*instance) : mpi_t().use([] { return MPI_T_ERR_INVALID_HANDLE; });
}

// One element, as its datatype has it.
void put_element(const tool::EventInstance& instance, std::size_t element, void* buffer) noexcept {
    if (instance.type->datatypes[element] == MPI_INT) {
        *static_cast<int*>(buffer) = int(instance.values[element]);
    } else {
        *static_cast<MPI_Count*>(buffer) = instance.values[element];
    }
}

// No function has hints: those that the program passes are ignored, and what it gets is empty.
bool is_info(MPI_Info handle) noexcept {
    return handle == MPI_INFO_NULL || probed_object<Info>(handle) != nullptr;
}

int put_info(MPI_Info* result) {
    if (result == nullptr) {
        return MPI_T_ERR_INVALID;
    }
    *result = to_handle(Ref<Info>::adopt(new Info).detach());
    return MPI_SUCCESS;
}

// `length`: room in the arrays; becomes the number of elements.
void put_elements(const tool::EventType& type, MPI_Datatype* datatypes, MPI_Aint* displacements, int* length) noexcept {
    const std::size_t elements = type.datatypes.size();
    const std::size_t room = length == nullptr ? 0 : std::min(elements, std::size_t(std::max(*length, 0)));
    if (datatypes != nullptr) {
        std::copy_n(type.datatypes.begin(), room, datatypes);
    }
    if (displacements != nullptr) {
        std::copy_n(type.displacements.begin(), room, displacements);
    }
    put(length, elements);
}

} // namespace

} // namespace patchbay::api

int PMPI_T_source_get_num(int* num_sources) {
    return mpi_t().use([&] {
        api::put(num_sources, api::source_count);
        return num_sources == nullptr ? MPI_T_ERR_INVALID : MPI_SUCCESS;
    });
}

int PMPI_T_source_get_info(int source_index, char* name, int* name_len, char* desc, int* desc_len,
    MPI_T_source_order* ordering, MPI_Count* ticks_per_second, MPI_Count* max_ticks, MPI_Info* info) {
    return mpi_t().use([&] {
        if (source_index < 0 || source_index >= api::source_count) {
            return MPI_T_ERR_INVALID_INDEX;
        }
        api::put_text(api::source_name, name, name_len);
        api::put_text(api::source_description, desc, desc_len);
        api::put(ordering, MPI_T_SOURCE_UNORDERED);
        api::put(ticks_per_second, 1'000'000'000);
        api::put(max_ticks, std::numeric_limits<std::int64_t>::max());
        return info == nullptr ? MPI_SUCCESS : api::put_info(info);
    });
}

int PMPI_T_source_get_timestamp(int source_index, MPI_Count* timestamp) {
    return mpi_t().use([&] {
        if (source_index < 0 || source_index >= api::source_count) {
            return MPI_T_ERR_INVALID_INDEX;
        }
        api::put(timestamp, EventPoint::now());
        return timestamp == nullptr ? MPI_T_ERR_INVALID : MPI_SUCCESS;
    });
}

int PMPI_T_event_get_num(int* num_events) {
    return mpi_t().use([&] { return api::put_size(mpi_t().events, num_events); });
}

int PMPI_T_event_get_index(const char* name, int* event_index) {
    return mpi_t().use([&] { return api::put_index(mpi_t().events, name, event_index); });
}

int PMPI_T_event_get_info(int event_index, char* name, int* name_len, int* verbosity, MPI_Datatype array_of_datatypes[],
    MPI_Aint array_of_displacements[], int* num_elements, MPI_T_enum* enumtype, MPI_Info* info, char* desc,
    int* desc_len, int* bind) {
    return mpi_t().use([&] {
        const tool::Events& all = mpi_t().events;
        if (!api::is_index(all, event_index)) {
            return MPI_T_ERR_INVALID_INDEX;
        }
        const tool::EventType& type = all[std::size_t(event_index)];
        api::put_text(type.what->name, name, name_len);
        api::put(verbosity, tool::verbosity_of(type.what->level));
        api::put_elements(type, array_of_datatypes, array_of_displacements, num_elements);
        api::put(enumtype, type.enumeration);
        api::put_text(type.what->help, desc, desc_len);
        api::put(bind, type.what->binding);
        return info == nullptr ? MPI_SUCCESS : api::put_info(info);
    });
}

int PMPI_T_event_handle_alloc(
    int event_index, void* obj_handle, MPI_Info info, MPI_T_event_registration* event_registration) {
    return mpi_t().use([&] {
        if (event_registration == nullptr || !api::is_info(info)) {
            return MPI_T_ERR_INVALID;
        }
        tool::Events& all = mpi_t().events;
        if (!api::is_index(all, event_index)) {
            return MPI_T_ERR_INVALID_INDEX;
        }
        tool::EventRegistration* made = all.allocate(std::size_t(event_index), obj_handle);
        *event_registration = reinterpret_cast<MPI_T_event_registration>(made);
        return made == nullptr ? MPI_T_ERR_INVALID : MPI_SUCCESS;
    });
}

int PMPI_T_event_handle_free(
    MPI_T_event_registration event_registration, void* user_data, MPI_T_event_free_cb_function free_cb_function) {
    return api::with_registration(event_registration, [&](const auto& found) {
        return mpi_t().events.free(found, user_data, free_cb_function) ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
    });
}

int PMPI_T_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info) {
    return api::with_registration(
        event_registration, [&](const auto&) { return api::is_info(info) ? MPI_SUCCESS : MPI_T_ERR_INVALID; });
}

int PMPI_T_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info* info_used) {
    return api::with_registration(event_registration, [&](const auto&) { return api::put_info(info_used); });
}

int PMPI_T_event_register_callback(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
    MPI_Info info, void* user_data, MPI_T_event_cb_function event_cb_function) {
    return api::with_registration(event_registration, [&](const auto& found) {
        const auto safety = tool::safety_index(cb_safety);
        if (!safety || !api::is_info(info)) {
            return MPI_T_ERR_INVALID;
        }
        mpi_t().events.set_callback(*found, *safety, {event_cb_function, user_data});
        return MPI_SUCCESS;
    });
}

int PMPI_T_event_callback_set_info(
    MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info) {
    return api::with_registration(event_registration, [&](const auto&) {
        return tool::safety_index(cb_safety) && api::is_info(info) ? MPI_SUCCESS : MPI_T_ERR_INVALID;
    });
}

int PMPI_T_event_callback_get_info(
    MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info* info_used) {
    return api::with_registration(event_registration,
        [&](const auto&) { return tool::safety_index(cb_safety) ? api::put_info(info_used) : MPI_T_ERR_INVALID; });
}

int PMPI_T_event_set_dropped_handler(
    MPI_T_event_registration event_registration, MPI_T_event_dropped_cb_function dropped_cb_function) {
    return api::with_registration(event_registration, [&](const auto& found) {
        mpi_t().events.set_dropped_handler(*found, dropped_cb_function);
        return MPI_SUCCESS;
    });
}

// The functions below take no lock: the instance belongs to the callback that this thread is in.

int PMPI_T_event_read(MPI_T_event_instance event_instance, int element_index, void* buffer) {
    return api::with_instance(event_instance, [&](const tool::EventInstance& instance) {
        if (!api::is_index(instance.values, element_index)) {
            return MPI_T_ERR_INVALID_INDEX;
        }
        if (buffer == nullptr) {
            return MPI_T_ERR_INVALID;
        }
        api::put_element(instance, std::size_t(element_index), buffer);
        return MPI_SUCCESS;
    });
}

int PMPI_T_event_copy(MPI_T_event_instance event_instance, void* buffer) {
    return api::with_instance(event_instance, [&](const tool::EventInstance& instance) {
        if (buffer == nullptr) {
            return MPI_T_ERR_INVALID;
        }
        for (std::size_t element = 0; element < instance.values.size(); ++element) {
            api::put_element(instance, element, static_cast<char*>(buffer) + instance.type->displacements[element]);
        }
        return MPI_SUCCESS;
    });
}

int PMPI_T_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count* event_timestamp) {
    return api::with_instance(event_instance, [&](const tool::EventInstance& instance) {
        api::put(event_timestamp, instance.time);
        return event_timestamp == nullptr ? MPI_T_ERR_INVALID : MPI_SUCCESS;
    });
}

int PMPI_T_event_get_source(MPI_T_event_instance event_instance, int* source_index) {
    return api::with_instance(event_instance, [&](const tool::EventInstance&) {
        api::put(source_index, 0);
        return source_index == nullptr ? MPI_T_ERR_INVALID : MPI_SUCCESS;
    });
}
