// SPDX-License-Identifier: BSD-3-Clause
// The functions about the ABI (MPI-5.0, 21.2 and 21.4.1): its version, and the properties of the Fortran compiler,
// which a Fortran layer above this library sets. They may be called at any time and by any thread.
#include "core/base/out_of_memory.h"
#include "mpi/api/args.h"
#include "mpi/api/handles.h"
#include "object/error_cause.h"
#include "object/fortran_logicals.h"

#include <fmt/core.h>

#include <charconv>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

namespace patchbay::api {

namespace {

// These properties are global: they may be set before initialization, and cannot be changed after the first call.
struct FortranProperties {
    std::mutex mutex;
    Ref<Info> info;
};

// Never destroyed: a program may call MPI in its static destructors.
FortranProperties& fortran() {
    static auto& properties = *new FortranProperties;
    return properties;
}

struct SizedType {
    const char* key;
    MPI_Datatype type;
};

// The sizes of the predefined datatypes of this build. A Fortran compiler with other sizes cannot use them.
bool sizes_agree(const Info& info, std::string* difference) {
    const SizedType types[] = {{"mpi_logical_size", MPI_LOGICAL}, {"mpi_integer_size", MPI_INTEGER},
        {"mpi_real_size", MPI_REAL}, {"mpi_double_precision_size", MPI_DOUBLE_PRECISION}};
    for (const SizedType& entry : types) {
        const auto text = info.get(entry.key);
        const Datatype* type = to_object<Datatype>(entry.type);
        if (!text || type == nullptr) {
            continue;
        }
        MPI_Count size = 0;
        const char* end = text->data() + text->size();
        const auto parsed = std::from_chars(text->data(), end, size);
        if (parsed.ec != std::errc() || parsed.ptr != end || size != type->size) {
            *difference =
                fmt::format("the info key {} is {}, but this build has {} bytes", entry.key, *text, type->size);
            return false;
        }
    }
    return true;
}

bool valid_logical_size(int size) noexcept {
    return size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Abi_get_version(int* abi_major, int* abi_minor) {
    api::Arguments args("MPI_Abi_get_version");
    if (api::checking() && !(args.pointer("abi_major", abi_major) && args.pointer("abi_minor", abi_minor))) {
        return args.code();
    }
    *abi_major = MPI_ABI_VERSION;
    *abi_minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}

int PMPI_Abi_get_info(MPI_Info* info) {
    api::Arguments args("MPI_Abi_get_info");
    if (api::checking() && !args.pointer("info", info)) {
        return args.code();
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        auto properties = Ref<Info>::adopt(new Info);
        properties->set("mpi_aint_size", std::to_string(sizeof(MPI_Aint)));
        properties->set("mpi_count_size", std::to_string(sizeof(MPI_Count)));
        properties->set("mpi_offset_size", std::to_string(sizeof(MPI_Offset)));
        *info = api::handle_of_new(args, properties.detach());
        return MPI_SUCCESS;
    }));
}

int PMPI_Abi_set_fortran_info(MPI_Info info) {
    api::Arguments args("MPI_Abi_set_fortran_info");
    if (api::checking() && !args.info("info", info)) {
        return args.code();
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        const Info& given = *to_object<Info>(info);
        std::string difference;
        if (!api::sizes_agree(given, &difference)) {
            return note_cause(MPI_ERR_ABI, difference);
        }
        api::FortranProperties& fortran = api::fortran();
        {
            std::lock_guard lock(fortran.mutex);
            if (!fortran.info) {
                fortran.info = given.duplicate();
                return MPI_SUCCESS;
            }
        }
        return note_cause(MPI_ERR_ABI, "the properties of the Fortran compiler have been set before");
    }));
}

int PMPI_Abi_get_fortran_info(MPI_Info* info) {
    api::Arguments args("MPI_Abi_get_fortran_info");
    if (api::checking() && !args.pointer("info", info)) {
        return args.code();
    }
    api::FortranProperties& fortran = api::fortran();
    std::lock_guard lock(fortran.mutex);
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        *info = fortran.info ? api::handle_of_new(args, fortran.info->duplicate().detach()) : MPI_INFO_NULL;
        return MPI_SUCCESS;
    }));
}

int PMPI_Abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false) {
    api::Arguments args("MPI_Abi_set_fortran_booleans");
    if (api::checking() &&
        !(args.require(api::valid_logical_size(logical_size), MPI_ERR_ARG, "logical_size", logical_size,
              "must be 1, 2, 4, 8 or 16") &&
            args.pointer("logical_true", logical_true) && args.pointer("logical_false", logical_false))) {
        return args.code();
    }
    return args.result(FortranLogicals::set(std::size_t(logical_size), logical_true, logical_false)
            ? MPI_SUCCESS
            : note_cause(MPI_ERR_ABI, "the values of Fortran's LOGICAL constants have been set before"));
}

int PMPI_Abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false, int* is_set) {
    api::Arguments args("MPI_Abi_get_fortran_booleans");
    if (api::checking() &&
        !(args.pointer("logical_true", logical_true) && args.pointer("logical_false", logical_false) &&
            args.pointer("is_set", is_set))) {
        return args.code();
    }
    const int size_set = int(FortranLogicals::size());
    *is_set = size_set != 0 ? 1 : 0;
    if (size_set != 0 && size_set == logical_size) {
        std::memcpy(logical_true, FortranLogicals::yes(), std::size_t(size_set));
        std::memcpy(logical_false, FortranLogicals::no(), std::size_t(size_set));
    }
    if (size_set == 0 || size_set == logical_size) {
        return MPI_SUCCESS;
    }
    return args.fail(
        MPI_ERR_ARG, fmt::format("logical_size is {}, but a LOGICAL was set to have {} bytes", logical_size, size_set));
}
