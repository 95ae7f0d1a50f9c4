// SPDX-License-Identifier: BSD-3-Clause
// Thread communicators, an extension (docs/thread_communicators.md).
#include "core/base/out_of_memory.h"
#include "include/mpix.h"
#include "mpi/api/args.h"
#include "mpi/api/constructor.h"
#include "mpi/api/handles.h"
#include "mpi/api/initialized.h"
#include "mpi/communicators/thread_communicators.h"
#include "mpi/library/library.h"
#include "object/origins.h"

namespace patchbay::api {

namespace {

// A call on a thread communicator that need not be active: errors are reported to the communicator of this thread where
// it has one, otherwise to MPI_COMM_SELF.
template <class Act>
int act_on(const char* function, MPI_Comm handle, const Act& act) noexcept {
    Arguments args(function, ErrorTarget(probed_object<Communicator>(handle)));
    int code = MPI_SUCCESS;
    Instance* instance = initialized(args, &code);
    if (instance == nullptr) {
        return code;
    }
    if (!is_thread_handle(reinterpret_cast<std::uintptr_t>(handle)) || !threads::exists(*instance, handle)) {
        return args.fail(MPI_ERR_COMM, "threadcomm is no handle that MPIX_Threadcomm_init has made");
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] { return act(*instance); }));
}

// A process with a wrong argument still takes part, so that the others do not wait for it.
int check_init(Arguments& args, int num_threads, MPI_Comm* threadcomm) noexcept {
    const bool good = !checking() ||
        (args.require(num_threads >= 1 && num_threads <= threads::most_threads, MPI_ERR_ARG, "num_threads", num_threads,
             "must be from 1 to 1024") &&
            args.pointer("threadcomm", threadcomm));
    return good ? MPI_SUCCESS : args.code();
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPIX_Threadcomm_init(MPI_Comm parent_comm, int num_threads, MPI_Comm* threadcomm) {
    api::Arguments args("MPIX_Threadcomm_init", parent_comm);
    if (api::checking() && !(args.intracommunicator() && args.of_processes())) {
        return args.code();
    }
    const int refused = api::check_init(args, num_threads, threadcomm);
    MPI_Comm made = MPI_COMM_NULL;
    const int code =
        api::run_constructor(args, [&] { return threads::init(*args.comm(), num_threads, refused, &made); });
    if (refused != MPI_SUCCESS) {
        return refused; // which has been reported
    }
    *threadcomm = made;
    if (Origins* const origins = Origins::active(); origins != nullptr && code == MPI_SUCCESS) {
        origins->add(made, ObjectKind::communicator, args.function(), {});
    }
    return args.result(code);
}

int PMPIX_Threadcomm_start(MPI_Comm threadcomm) {
    return api::act_on("MPIX_Threadcomm_start", threadcomm,
        [threadcomm](Instance& instance) { return threads::start(instance, threadcomm); });
}

int PMPIX_Threadcomm_finish(MPI_Comm threadcomm) {
    return api::act_on("MPIX_Threadcomm_finish", threadcomm,
        [threadcomm](Instance& instance) { return threads::finish(instance, threadcomm); });
}

int PMPIX_Threadcomm_free(MPI_Comm* threadcomm) {
    if (threadcomm == nullptr) {
        return api::Arguments("MPIX_Threadcomm_free").fail(MPI_ERR_ARG, "threadcomm is a null pointer");
    }
    const int code = api::act_on("MPIX_Threadcomm_free", *threadcomm,
        [threadcomm](Instance& instance) { return threads::free(instance, *threadcomm); });
    if (code == MPI_SUCCESS) {
        api::note_freed(*threadcomm);
        *threadcomm = MPI_COMM_NULL;
    }
    return code;
}
