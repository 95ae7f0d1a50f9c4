// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/tool_interface.h"

#include "include/mpi.h"

#include <stdexcept>
#include <string_view>

namespace patchbay::info {

namespace {

void check(int code, const char* function) {
    if (code != MPI_SUCCESS) {
        throw std::runtime_error(std::string(function) + " returned " + std::to_string(code));
    }
}

int number_of(int (*get_number)(int*), const char* function) {
    int number = 0;
    check(get_number(&number), function);
    return number;
}

// A name or a description. `get(char* buffer, int* length)` is called for the length first.
template <class Get>
std::string text_of(const Get& get) {
    int length = 0;
    check(get(nullptr, &length), "MPI_T");
    std::string text(std::size_t(length), '\0');
    check(get(text.data(), &length), "MPI_T");
    text.resize(text.size() - 1);
    return text;
}

std::string cvar_name(int index) {
    return text_of([index](char* name, int* length) {
        return MPI_T_cvar_get_info(index, name, length, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    });
}

std::string pvar_name(int index) {
    return text_of([index](char* name, int* length) {
        return MPI_T_pvar_get_info(index, name, length, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
            nullptr, nullptr, nullptr);
    });
}

std::string event_name(int index) {
    return text_of([index](char* name, int* length) {
        return MPI_T_event_get_info(
            index, name, length, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    });
}

std::string category_name(int index) {
    return text_of([index](char* name, int* length) {
        return MPI_T_category_get_info(index, name, length, nullptr, nullptr, nullptr, nullptr, nullptr);
    });
}

std::string class_name(int variable_class) {
    constexpr const char* names[] = {"state", "level", "size", "percentage", "highwatermark", "lowwatermark", "counter",
        "aggregate", "timer", "generic"};
    return names[variable_class - MPI_T_PVAR_CLASS_STATE];
}

std::string binding_name(int bind) {
    constexpr const char* names[] = {"none", "comm", "datatype", "errhandler", "file", "group", "op", "request", "win",
        "message", "info", "session"};
    return names[bind - MPI_T_BIND_NO_OBJECT];
}

std::string level_name(int verbosity) {
    switch (verbosity) {
    case MPI_T_VERBOSITY_USER_BASIC:
        return "user_basic";
    case MPI_T_VERBOSITY_USER_DETAIL:
        return "user_detail";
    case MPI_T_VERBOSITY_USER_ALL:
        return "user_all";
    case MPI_T_VERBOSITY_TUNER_BASIC:
        return "tuner_basic";
    case MPI_T_VERBOSITY_TUNER_DETAIL:
        return "tuner_detail";
    case MPI_T_VERBOSITY_TUNER_ALL:
        return "tuner_all";
    case MPI_T_VERBOSITY_MPIDEV_BASIC:
        return "mpidev_basic";
    case MPI_T_VERBOSITY_MPIDEV_DETAIL:
        return "mpidev_detail";
    default:
        return "mpidev_all";
    }
}

std::vector<std::string> items_of(MPI_T_enum enumeration) {
    std::vector<std::string> items;
    int number = 0;
    if (enumeration != MPI_T_ENUM_NULL) {
        check(MPI_T_enum_get_info(enumeration, &number, nullptr, nullptr), "MPI_T_enum_get_info");
    }
    for (int i = 0; i < number; ++i) {
        items.push_back(text_of([enumeration, i](char* name, int* length) {
            return MPI_T_enum_get_item(enumeration, i, nullptr, name, length);
        }));
    }
    return items;
}

// The names of the elements of a category.
template <class GetElements, class Name>
std::vector<std::string> elements_of(int category, int number, const GetElements& get, const Name& name) {
    std::vector<int> indices(std::size_t(number), 0);
    check(get(category, number, indices.data()), "MPI_T_category_get");
    std::vector<std::string> names;
    for (const int index : indices) {
        names.push_back(name(index));
    }
    return names;
}

} // namespace

ToolInterface::ToolInterface() {
    int provided = 0;
    check(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), "MPI_T_init_thread");
}

ToolInterface::~ToolInterface() {
    MPI_T_finalize();
}

std::vector<std::string> ToolInterface::control_variables() const {
    std::vector<std::string> names;
    for (int i = 0; i < number_of(&MPI_T_cvar_get_num, "MPI_T_cvar_get_num"); ++i) {
        names.push_back(cvar_name(i));
    }
    return names;
}

std::vector<PerformanceEntry> ToolInterface::performance_variables() const {
    std::vector<PerformanceEntry> entries;
    for (int i = 0; i < number_of(&MPI_T_pvar_get_num, "MPI_T_pvar_get_num"); ++i) {
        int verbosity = 0;
        int variable_class = 0;
        int bind = 0;
        int read_only = 0;
        int continuous = 0;
        MPI_T_enum enumeration = MPI_T_ENUM_NULL;
        const std::string help = text_of([&](char* text, int* length) {
            return MPI_T_pvar_get_info(i, nullptr, nullptr, &verbosity, &variable_class, nullptr, &enumeration, text,
                length, &bind, &read_only, &continuous, nullptr);
        });
        entries.push_back({pvar_name(i), class_name(variable_class), binding_name(bind), level_name(verbosity), help,
            items_of(enumeration), continuous != 0, read_only != 0});
    }
    return entries;
}

std::vector<EventEntry> ToolInterface::events() const {
    std::vector<EventEntry> entries;
    for (int i = 0; i < number_of(&MPI_T_event_get_num, "MPI_T_event_get_num"); ++i) {
        int verbosity = 0;
        int bind = 0;
        MPI_Datatype datatypes[16];
        int elements = 16;
        const std::string help = text_of([&](char* text, int* length) {
            elements = 16;
            return MPI_T_event_get_info(
                i, nullptr, nullptr, &verbosity, datatypes, nullptr, &elements, nullptr, nullptr, text, length, &bind);
        });
        EventEntry entry{event_name(i), binding_name(bind), level_name(verbosity), help, {}};
        for (int element = 0; element < elements; ++element) {
            entry.elements.emplace_back(datatypes[element] == MPI_INT ? "int" : "count");
        }
        entries.push_back(std::move(entry));
    }
    return entries;
}

std::vector<CategoryEntry> ToolInterface::categories() const {
    std::vector<CategoryEntry> entries;
    for (int i = 0; i < number_of(&MPI_T_category_get_num, "MPI_T_category_get_num"); ++i) {
        int cvars = 0;
        int pvars = 0;
        int events = 0;
        int categories = 0;
        const std::string help = text_of([&](char* text, int* length) {
            return MPI_T_category_get_info(i, nullptr, nullptr, text, length, &cvars, &pvars, &categories);
        });
        check(MPI_T_category_get_num_events(i, &events), "MPI_T_category_get_num_events");
        entries.push_back({category_name(i), help, elements_of(i, cvars, MPI_T_category_get_cvars, cvar_name),
            elements_of(i, pvars, MPI_T_category_get_pvars, pvar_name),
            elements_of(i, events, MPI_T_category_get_events, event_name),
            elements_of(i, categories, MPI_T_category_get_categories, category_name)});
    }
    return entries;
}

} // namespace patchbay::info
