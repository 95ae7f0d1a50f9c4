// SPDX-License-Identifier: BSD-3-Clause
// Info objects (MPI-5.0, 10). These functions are local and thread-safe, and may be called before MPI_Init and after
// MPI_Finalize.
#include "core/base/out_of_memory.h"
#include "mpi/api/args.h"
#include "mpi/api/handles.h"
#include "mpi/library/info_env.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace patchbay::api {

namespace {

Info& info_of(MPI_Info handle) noexcept {
    return *to_object<Info>(handle);
}

bool check_key(Arguments& args, const char* key) noexcept {
    if (!args.pointer("key", key, MPI_ERR_INFO_KEY)) {
        return false;
    }
    const std::size_t length = strnlen(key, MPI_MAX_INFO_KEY);
    return args.require(length > 0 && length < MPI_MAX_INFO_KEY, MPI_ERR_INFO_KEY, "the length of key",
        MPI_Count(length), "must be from 1 to MPI_MAX_INFO_KEY - 1");
}

bool check_value(Arguments& args, const char* value) noexcept {
    if (!args.pointer("value", value, MPI_ERR_INFO_VALUE)) {
        return false;
    }
    const std::size_t length = strnlen(value, MPI_MAX_INFO_VAL);
    return args.require(length < MPI_MAX_INFO_VAL, MPI_ERR_INFO_VALUE, "the length of value", MPI_Count(length),
        "must be less than MPI_MAX_INFO_VAL");
}

// A program must not change MPI_INFO_ENV.
bool check_own(Arguments& args, MPI_Info info) noexcept {
    return args.info("info", info) &&
        args.require(info != MPI_INFO_ENV, MPI_ERR_INFO, "info", reinterpret_cast<std::intptr_t>(info),
            "must not be MPI_INFO_ENV here");
}

// Copies at most `room` - 1 characters and a terminator.
void copy_text(std::string_view text, char* target, std::size_t room) noexcept {
    const std::size_t length = std::min(text.size(), room - 1);
    std::memcpy(target, text.data(), length);
    target[length] = '\0';
}

// Gives the program the handle of a new object, which construct() returns.
template <class Construct>
int make(Arguments& args, MPI_Info* info, const Construct& construct) noexcept {
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        *info = handle_of_new(args, construct().detach());
        return MPI_SUCCESS;
    }));
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Info_create(MPI_Info* info) {
    api::Arguments args("MPI_Info_create");
    if (api::checking() && !args.pointer("info", info)) {
        return args.code();
    }
    return api::make(args, info, [] { return Ref<Info>::adopt(new Info); });
}

int PMPI_Info_create_env(int argc, char* argv[], MPI_Info* info) {
    api::Arguments args("MPI_Info_create_env");
    if (api::checking() && !args.pointer("info", info)) {
        return args.code();
    }
    return api::make(args, info, [&] {
        auto made = Ref<Info>::adopt(new Info);
        std::vector<std::string> arguments;
        if (argv != nullptr) {
            arguments.assign(argv, argv + std::max(argc, 0));
        }
        fill_info_env(*made, arguments);
        return made;
    });
}

int PMPI_Info_dup(MPI_Info info, MPI_Info* newinfo) {
    api::Arguments args("MPI_Info_dup");
    if (api::checking() && !(args.info("info", info) && args.pointer("newinfo", newinfo))) {
        return args.code();
    }
    return api::make(args, newinfo, [&] { return api::info_of(info).duplicate(); });
}

int PMPI_Info_free(MPI_Info* info) {
    api::Arguments args("MPI_Info_free");
    if (api::checking() && !(args.pointer("info", info) && api::check_own(args, *info))) {
        return args.code();
    }
    api::note_freed(*info);
    Ref<Info>::adopt(to_object<Info>(*info)).reset();
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

int PMPI_Info_set(MPI_Info info, const char* key, const char* value) {
    api::Arguments args("MPI_Info_set");
    if (api::checking() &&
        !(api::check_own(args, info) && api::check_key(args, key) && api::check_value(args, value))) {
        return args.code();
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        api::info_of(info).set(key, value);
        return MPI_SUCCESS;
    }));
}

int PMPI_Info_delete(MPI_Info info, const char* key) {
    api::Arguments args("MPI_Info_delete");
    if (api::checking() && !(api::check_own(args, info) && api::check_key(args, key))) {
        return args.code();
    }
    if (!api::info_of(info).erase(key)) {
        return args.fail(MPI_ERR_INFO_NOKEY, fmt::format("the info object has no key \"{}\"", key));
    }
    return MPI_SUCCESS;
}

int PMPI_Info_get_nkeys(MPI_Info info, int* nkeys) {
    api::Arguments args("MPI_Info_get_nkeys");
    if (api::checking() && !(args.info("info", info) && args.pointer("nkeys", nkeys))) {
        return args.code();
    }
    *nkeys = api::info_of(info).size();
    return MPI_SUCCESS;
}

int PMPI_Info_get_nthkey(MPI_Info info, int n, char* key) {
    api::Arguments args("MPI_Info_get_nthkey");
    if (api::checking() && !(args.info("info", info) && args.pointer("key", key))) {
        return args.code();
    }
    const auto found = api::info_of(info).nth_key(n);
    if (!found) {
        return args.fail(
            MPI_ERR_ARG, fmt::format("n is {}, but the info object has {} keys", n, api::info_of(info).size()));
    }
    api::copy_text(*found, key, MPI_MAX_INFO_KEY);
    return MPI_SUCCESS;
}

int PMPI_Info_get_string(MPI_Info info, const char* key, int* buflen, char* value, int* flag) {
    api::Arguments args("MPI_Info_get_string");
    if (api::checking() &&
        !(args.info("info", info) && api::check_key(args, key) && args.pointer("buflen", buflen) &&
            args.require(*buflen >= 0, MPI_ERR_ARG, "*buflen", *buflen, "must not be negative") &&
            args.array("value", value, *buflen) && args.pointer("flag", flag))) {
        return args.code();
    }
    *flag = api::info_of(info).look_at(key, [&](std::string_view found) {
        if (*buflen > 0) {
            api::copy_text(found, value, std::size_t(*buflen));
        }
        *buflen = int(found.size()) + 1; // the required size, including the terminator
    });
    return MPI_SUCCESS;
}

// Deprecated since MPI-4.0. `valuelen` does not include the terminator.
int PMPI_Info_get(MPI_Info info, const char* key, int valuelen, char* value, int* flag) {
    api::Arguments args("MPI_Info_get");
    if (api::checking() &&
        !(args.info("info", info) && api::check_key(args, key) &&
            args.require(valuelen >= 0, MPI_ERR_ARG, "valuelen", valuelen, "must not be negative") &&
            args.pointer("value", value) && args.pointer("flag", flag))) {
        return args.code();
    }
    *flag = api::info_of(info).look_at(
        key, [&](std::string_view found) { api::copy_text(found, value, std::size_t(valuelen) + 1); });
    return MPI_SUCCESS;
}

int PMPI_Info_get_valuelen(MPI_Info info, const char* key, int* valuelen, int* flag) {
    api::Arguments args("MPI_Info_get_valuelen");
    if (api::checking() &&
        !(args.info("info", info) && api::check_key(args, key) && args.pointer("valuelen", valuelen) &&
            args.pointer("flag", flag))) {
        return args.code();
    }
    *flag = api::info_of(info).look_at(key, [&](std::string_view found) { *valuelen = int(found.size()); });
    return MPI_SUCCESS;
}
