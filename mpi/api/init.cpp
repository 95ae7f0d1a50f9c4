// SPDX-License-Identifier: BSD-3-Clause
// The world model: initialization, finalization, threads (MPI-5.0, 11.2, 11.6), and hardware resources (9.1).
#include "mpi/api/abort.h"
#include "mpi/api/args.h"
#include "mpi/api/handles.h"
#include "mpi/api/initialized.h"

#include "core/base/out_of_memory.h"
#include "core/log.h"
#include "core/runtime/hw_resources.h"
#include "core/runtime/runtime.h"
#include "mpi/library/world.h"

#include <fmt/core.h>

namespace patchbay::api {

namespace {

World& world() noexcept {
    return library().world();
}

int start(const char* function, int required, int* provided) {
    Arguments args(function);
    if (Status started = unless_out_of_memory([&] { return world().init(required); }); !started) {
        return fail_start(args, started.error());
    }
    if (provided != nullptr) {
        *provided = world().thread_level();
    }
    return MPI_SUCCESS;
}

bool is_thread_level(int level) noexcept {
    return level == MPI_THREAD_SINGLE || level == MPI_THREAD_FUNNELED || level == MPI_THREAD_SERIALIZED ||
        level == MPI_THREAD_MULTIPLE;
}

// A check for functions without an object that may only be called between MPI_Init and MPI_Finalize.
bool check_running(Arguments& args) noexcept {
    return args.require(world().running(), MPI_ERR_OTHER, "the state of MPI", world().finalized() ? 2 : 0,
        "must be 1: between MPI_Init and MPI_Finalize");
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Init(int*, char***) {
    return api::start("MPI_Init", MPI_THREAD_SINGLE, nullptr);
}

int PMPI_Init_thread(int*, char***, int required, int* provided) {
    api::Arguments args("MPI_Init_thread");
    if (!(args.require(
              api::is_thread_level(required), MPI_ERR_ARG, "required", required, "must be one of MPI_THREAD_*") &&
            args.pointer("provided", provided))) {
        return args.code();
    }
    return api::start("MPI_Init_thread", required, provided);
}

int PMPI_Finalize() {
    api::begin_last_call();
    api::Arguments args("MPI_Finalize");
    if (!api::check_running(args)) {
        return args.code();
    }
    const int code = args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [] { return api::world().finalize(); }));
    Runtime::end_abandoned();
    return code;
}

int PMPI_Initialized(int* flag) {
    api::Arguments args("MPI_Initialized");
    if (api::checking() && !args.pointer("flag", flag)) {
        return args.code();
    }
    *flag = api::world().initialized();
    return MPI_SUCCESS;
}

int PMPI_Finalized(int* flag) {
    api::Arguments args("MPI_Finalized");
    if (api::checking() && !args.pointer("flag", flag)) {
        return args.code();
    }
    *flag = api::world().finalized();
    return MPI_SUCCESS;
}

int PMPI_Query_thread(int* provided) {
    api::Arguments args("MPI_Query_thread");
    if (api::checking() && !(api::check_running(args) && args.pointer("provided", provided))) {
        return args.code();
    }
    *provided = api::world().thread_level();
    return MPI_SUCCESS;
}

int PMPI_Is_thread_main(int* flag) {
    api::Arguments args("MPI_Is_thread_main");
    if (api::checking() && !(api::check_running(args) && args.pointer("flag", flag))) {
        return args.code();
    }
    *flag = api::world().is_main_thread();
    return MPI_SUCCESS;
}

// The job ends also if the communicator is not valid.
int PMPI_Abort(MPI_Comm comm, int errorcode) {
    const Communicator* object = probed_object<Communicator>(comm);
    log_error(fmt::format("MPI_Abort was called on {} with error code {}, so the job ends",
        object != nullptr ? object->describe() : std::string("no valid communicator"), errorcode));
    api::end_job(library().instance(), errorcode);
}

int PMPI_Get_hw_resource_info(MPI_Info* hw_info) {
    api::Arguments args("MPI_Get_hw_resource_info");
    if (api::checking() && !args.pointer("hw_info", hw_info)) {
        return args.code();
    }
    auto info = Ref<Info>::adopt(new Info);
    // This function may be called before MPI_Init, so that it does not use the instance.
    HwResources resources;
    for (const std::string_view kind : HwResources::kinds()) {
        info->set(kind, resources.confined_to(kind) ? "true" : "false");
    }
    info->set("mpi_shared_memory", "true");
    *hw_info = api::handle_of_new(args, info.detach());
    return MPI_SUCCESS;
}
