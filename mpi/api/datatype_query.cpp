// SPDX-License-Identifier: BSD-3-Clause
// Sizes and bounds of datatypes (MPI-5.0, 5.1.5 to 5.1.8), elements of a message (5.1.11), names and attributes (7.7,
// 7.8).
#include "core/base/out_of_memory.h"
#include "mpi/api/args.h"
#include "object/status.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>

namespace patchbay::api {
namespace {

// A count that does not fit is MPI_UNDEFINED.
template <class Count>
Count fitted(MPI_Count value) noexcept {
    return value <= std::numeric_limits<Count>::max() ? static_cast<Count>(value) : MPI_UNDEFINED;
}

template <class Count>
int size(const char* function, MPI_Datatype datatype, Count* result) noexcept {
    Arguments args(function);
    if (checking() && !(args.type("datatype", datatype) && args.pointer("size", result))) {
        return args.code();
    }
    *result = fitted<Count>(to_object<Datatype>(datatype)->size);
    return MPI_SUCCESS;
}

int bounds(const char* function, MPI_Datatype datatype, MPI_Aint Datatype::*from, MPI_Aint Datatype::*length,
    MPI_Aint* lower_bound, MPI_Aint* extent) noexcept {
    Arguments args(function);
    if (checking() &&
        !(args.type("datatype", datatype) && args.pointer("lb", lower_bound) && args.pointer("extent", extent))) {
        return args.code();
    }
    const Datatype& type = *to_object<Datatype>(datatype);
    *lower_bound = type.*from;
    *extent = type.*length;
    return MPI_SUCCESS;
}

int extent(const char* function, MPI_Datatype datatype, MPI_Aint* lower_bound, MPI_Aint* extent) noexcept {
    return bounds(function, datatype, &Datatype::lower_bound, &Datatype::extent, lower_bound, extent);
}

int true_extent(const char* function, MPI_Datatype datatype, MPI_Aint* lower_bound, MPI_Aint* extent) noexcept {
    return bounds(function, datatype, &Datatype::true_lower_bound, &Datatype::true_extent, lower_bound, extent);
}

template <class Count>
int elements(const char* function, const MPI_Status* status, MPI_Datatype datatype, Count* count) noexcept {
    Arguments args(function);
    if (checking() &&
        !(args.pointer("status", status) && args.type("datatype", datatype) && args.pointer("count", count))) {
        return args.code();
    }
    try {
        *count = fitted<Count>(to_object<Datatype>(datatype)->elements_in(status_bytes(*status)));
        return MPI_SUCCESS;
    } catch (const std::bad_alloc&) {
        return args.result(MPI_ERR_NO_MEM);
    }
}

// A name longer than MPI_MAX_OBJECT_NAME - 1 is truncated (MPI-5.0, 7.8).
int set_name(MPI_Datatype datatype, const char* name) noexcept {
    Arguments args("MPI_Type_set_name");
    if (checking() && !(args.type("datatype", datatype) && args.pointer("type_name", name))) {
        return args.code();
    }
    try {
        Datatype& type = *to_object<Datatype>(datatype);
        const std::lock_guard lock(type.mutex);
        type.name = std::string_view(name).substr(0, MPI_MAX_OBJECT_NAME - 1);
        return MPI_SUCCESS;
    } catch (const std::bad_alloc&) {
        return args.result(MPI_ERR_NO_MEM);
    }
}

int get_name(MPI_Datatype datatype, char* name, int* length) noexcept {
    Arguments args("MPI_Type_get_name");
    if (checking() && !(args.pointer("type_name", name) && args.pointer("resultlen", length))) {
        return args.code();
    }
    // The null handle also has a name (MPI-5.0, 7.8).
    std::string_view text = "MPI_DATATYPE_NULL";
    if (datatype == MPI_DATATYPE_NULL) {
        name[text.copy(name, MPI_MAX_OBJECT_NAME - 1)] = '\0';
        *length = static_cast<int>(text.size());
        return MPI_SUCCESS;
    }
    if (checking() && !args.type("datatype", datatype)) {
        return args.code();
    }
    Datatype& type = *to_object<Datatype>(datatype);
    const std::lock_guard lock(type.mutex);
    name[type.name.copy(name, MPI_MAX_OBJECT_NAME - 1)] = '\0';
    *length = static_cast<int>(type.name.size());
    return MPI_SUCCESS;
}

bool own_key(Arguments& args, int keyval) noexcept {
    return args.require(keyval_is_valid(AttributeOwner::datatype, keyval), MPI_ERR_KEYVAL, "type_keyval", keyval,
        "is not an attribute key for datatypes");
}

int set_attribute(MPI_Datatype datatype, int keyval, void* value) noexcept {
    Arguments args("MPI_Type_set_attr");
    if (checking() && !(args.type("datatype", datatype) && own_key(args, keyval))) {
        return args.code();
    }
    try {
        AttributeMap& attributes = to_object<Datatype>(datatype)->attributes;
        return args.result(attributes.set(AttributeOwner::datatype, datatype, keyval, value));
    } catch (const std::bad_alloc&) {
        return args.result(MPI_ERR_NO_MEM);
    }
}

int get_attribute(MPI_Datatype datatype, int keyval, void* value, int* flag) noexcept {
    Arguments args("MPI_Type_get_attr");
    if (checking() &&
        !(args.type("datatype", datatype) && args.pointer("attribute_val", value) && args.pointer("flag", flag))) {
        return args.code();
    }
    const bool found = to_object<Datatype>(datatype)->attributes.get(keyval, static_cast<void**>(value));
    if (!found && checking() && !own_key(args, keyval)) { // the key of an attribute is valid
        return args.code();
    }
    *flag = found ? 1 : 0;
    return MPI_SUCCESS;
}

int delete_attribute(MPI_Datatype datatype, int keyval) noexcept {
    Arguments args("MPI_Type_delete_attr");
    if (checking() && !(args.type("datatype", datatype) && own_key(args, keyval))) {
        return args.code();
    }
    return args.result(to_object<Datatype>(datatype)->attributes.erase(AttributeOwner::datatype, datatype, keyval));
}

} // namespace
} // namespace patchbay::api

using namespace patchbay;

int PMPI_Type_size(MPI_Datatype datatype, int* size) {
    return api::size("MPI_Type_size", datatype, size);
}
int PMPI_Type_size_c(MPI_Datatype datatype, MPI_Count* size) {
    return api::size("MPI_Type_size_c", datatype, size);
}
int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count* size) {
    return api::size("MPI_Type_size_x", datatype, size);
}

int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint* lb, MPI_Aint* extent) {
    return api::extent("MPI_Type_get_extent", datatype, lb, extent);
}
int PMPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
    return api::extent("MPI_Type_get_extent_c", datatype, lb, extent);
}
int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
    return api::extent("MPI_Type_get_extent_x", datatype, lb, extent);
}

int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint* true_lb, MPI_Aint* true_extent) {
    return api::true_extent("MPI_Type_get_true_extent", datatype, true_lb, true_extent);
}
int PMPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
    return api::true_extent("MPI_Type_get_true_extent_c", datatype, true_lb, true_extent);
}
int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
    return api::true_extent("MPI_Type_get_true_extent_x", datatype, true_lb, true_extent);
}

int PMPI_Get_elements(const MPI_Status* status, MPI_Datatype datatype, int* count) {
    return api::elements("MPI_Get_elements", status, datatype, count);
}
int PMPI_Get_elements_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
    return api::elements("MPI_Get_elements_c", status, datatype, count);
}
int PMPI_Get_elements_x(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
    return api::elements("MPI_Get_elements_x", status, datatype, count);
}

int PMPI_Type_set_name(MPI_Datatype datatype, const char* type_name) {
    return api::set_name(datatype, type_name);
}
int PMPI_Type_get_name(MPI_Datatype datatype, char* type_name, int* resultlen) {
    return api::get_name(datatype, type_name, resultlen);
}

int PMPI_Type_create_keyval(MPI_Type_copy_attr_function* type_copy_attr_fn,
    MPI_Type_delete_attr_function* type_delete_attr_fn, int* type_keyval, void* extra_state) {
    api::Arguments args("MPI_Type_create_keyval");
    if (api::checking() && !args.pointer("type_keyval", type_keyval)) {
        return args.code();
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        return keyval_create(AttributeOwner::datatype, reinterpret_cast<void*>(type_copy_attr_fn),
            reinterpret_cast<void*>(type_delete_attr_fn), extra_state, type_keyval);
    }));
}
int PMPI_Type_free_keyval(int* type_keyval) {
    api::Arguments args("MPI_Type_free_keyval");
    if (api::checking() && !(args.pointer("type_keyval", type_keyval) && api::own_key(args, *type_keyval))) {
        return args.code();
    }
    return args.result(keyval_free(AttributeOwner::datatype, type_keyval));
}
int PMPI_Type_set_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val) {
    return api::set_attribute(datatype, type_keyval, attribute_val);
}
int PMPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val, int* flag) {
    return api::get_attribute(datatype, type_keyval, attribute_val, flag);
}
int PMPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval) {
    return api::delete_attribute(datatype, type_keyval);
}
