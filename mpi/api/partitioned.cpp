// SPDX-License-Identifier: BSD-3-Clause
// Partitioned communication (MPI-5.0, 4.2).
#include "core/progress/poll_or_yield.h"
#include "frameworks/pml/partitioned_engine.h"
#include "frameworks/pml/partitioned_recv.h"
#include "frameworks/pml/partitioned_send.h"
#include "mpi/api/completion.h"
#include "mpi/api/message_args.h"

#include <typeinfo>

namespace patchbay::api {

namespace {

// Wildcards are not allowed, so that the peer of a receive is checked like that of a send.
int init(const char* function, const char* peer_name, const pml::PartitionedRequest& what, MPI_Datatype type,
    MPI_Comm comm, MPI_Info info, MPI_Request* handle) noexcept {
    Arguments args(function, comm);
    if (checking() &&
        !(args.communicator() &&
            args.require(what.partitions >= 0, MPI_ERR_ARG, "partitions", what.partitions, "must not be negative") &&
            args.count("count", what.count) && args.datatype("datatype", type) &&
            args.buffer("buf", what.buffer, what.partitions == 0 ? 0 : what.count, type) &&
            args.dest(peer_name, what.peer) && args.send_tag("tag", what.tag) && args.info_or_null("info", info) &&
            args.pointer("request", handle))) {
        return args.code();
    }
    Communicator& on = *args.comm();
    pml::PartitionedEngine& engine = on.instance->partitioned();
    const bool may_bind = engine.effort_key().read(to_object<Info>(info), function) != Effort::plan;
    Request* request = nullptr;
    const int code = pml::make_partitioned(engine,
        {what.buffer, what.partitions, what.count, &type_of(type), what.peer, what.tag, what.sends, may_bind}, on,
        &request);
    return give_persistent(args, code, request, handle);
}

// Whether the request is exactly of this class, as it is without the checking mode.
template <class T>
bool is_a(const Request& request) noexcept {
    return typeid(request) == typeid(T);
}

// The request of a partitioned send or receive, which may be a member of a bundle.
template <class T>
bool partitioned(Arguments& args, MPI_Request handle, const char* rule) noexcept {
    if (!args.request_or_member("request", handle)) {
        return false;
    }
    const Request& request = *to_object<Request>(handle);
    args.report_to(error_comm(request));
    return args.require(
        is_a<T>(request) || dynamic_cast<const T*>(&request) != nullptr, MPI_ERR_REQUEST, "request", 0, rule);
}

bool partition(Arguments& args, const char* name, int value, const pml::Partitioned& request) noexcept {
    return args.require(value >= 0 && value < request.partitions(), MPI_ERR_ARG, name, value,
        "must be a partition of the request: not negative, and below their number");
}

// The request of an active send; nullptr: it has been reported that this is none.
pml::PartitionedSend* active_send(Arguments& args, MPI_Request handle) noexcept {
    if (checking()) {
        if (!args.permitted()) {
            return nullptr;
        }
        args.report_to(nullptr);
        if (!partitioned<pml::PartitionedSend>(args, handle, "must be a request of MPI_Psend_init")) {
            return nullptr;
        }
    }
    auto* request = static_cast<pml::PartitionedSend*>(to_object<Request>(handle));
    const bool active = !checking() || request->is_active() ||
        args.refuse(MPI_ERR_REQUEST, "request is not active: MPI_Start has not started it, or it is complete");
    return active ? request : nullptr;
}

// A partition that has been checked.
bool make_ready(Arguments& args, pml::PartitionedSend& request, int number) noexcept {
    return args.require(
        request.make_ready(number), MPI_ERR_ARG, "partition", number, "must not be ready before in this start");
}

[[gnu::noinline]] int ready_in_full(int number, MPI_Request handle) noexcept {
    Arguments args("MPI_Pready", Arguments::Pending());
    pml::PartitionedSend* request = active_send(args, handle);
    if (request == nullptr || (checking() && !partition(args, "partition", number, *request))) {
        return args.code();
    }
    return make_ready(args, *request, number) ? MPI_SUCCESS : args.code();
}

// As most calls are: nothing is wrong with the arguments.
int ready(int number, MPI_Request handle) noexcept {
    Request* request = probed_object<Request>(handle);
    if (thread_is_known() && request != nullptr && is_a<pml::PartitionedSend>(*request) && request->is_active())
        [[likely]] {
        auto& send = *static_cast<pml::PartitionedSend*>(request);
        if (unsigned(number) < unsigned(send.partitions()) && send.PartitionedSend::make_ready(number)) [[likely]] {
            return MPI_SUCCESS;
        }
    }
    return ready_in_full(number, handle);
}

int ready_range(int low, int high, MPI_Request handle) noexcept {
    Arguments args("MPI_Pready_range", Arguments::Pending());
    pml::PartitionedSend* request = active_send(args, handle);
    if (request == nullptr ||
        (checking() &&
            !(partition(args, "partition_low", low, *request) && partition(args, "partition_high", high, *request) &&
                args.require(low <= high, MPI_ERR_ARG, "partition_low", low, "must not be above partition_high")))) {
        return args.code();
    }
    for (int i = low; i <= high; ++i) {
        if (!make_ready(args, *request, i)) {
            return args.code();
        }
    }
    return MPI_SUCCESS;
}

int ready_list(int length, const int* numbers, MPI_Request handle) noexcept {
    Arguments args("MPI_Pready_list", Arguments::Pending());
    pml::PartitionedSend* request = active_send(args, handle);
    if (request == nullptr) {
        return args.code();
    }
    if (checking()) {
        if (!args.require(length >= 0, MPI_ERR_ARG, "length", length, "must not be negative") ||
            !args.array("array_of_partitions", numbers, length)) {
            return args.code();
        }
        for (int i = 0; i < length; ++i) {
            if (!partition(args, "array_of_partitions", numbers[i], *request)) {
                return args.code();
            }
        }
    }
    for (int i = 0; i < length; ++i) {
        if (!make_ready(args, *request, numbers[i])) {
            return args.code();
        }
    }
    return MPI_SUCCESS;
}

int arrived(MPI_Request handle, int number, int* flag) noexcept {
    Arguments args("MPI_Parrived", Arguments::Pending());
    if (handle == MPI_REQUEST_NULL) { // as an inactive one (MPI-5.0, 4.2.2)
        if (checking() && !(args.permitted() && args.pointer("flag", flag))) {
            return args.code();
        }
        *flag = 1;
        return MPI_SUCCESS;
    }
    if (checking() &&
        !(args.permitted() && partitioned<pml::PartitionedRecv>(args, handle, "must be a request of MPI_Precv_init"))) {
        return args.code();
    }
    auto& request = *static_cast<pml::PartitionedRecv*>(to_object<Request>(handle));
    if (checking() && !(partition(args, "partition", number, request) && args.pointer("flag", flag))) {
        return args.code();
    }
    *flag = request.has_arrived(number);
    if (!*flag) {
        poll_or_yield(*request.progress);
        *flag = request.has_arrived(number);
    }
    return MPI_SUCCESS;
}

} // namespace

} // namespace patchbay::api

int PMPI_Psend_init(const void* buf, int partitions, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Info info, MPI_Request* request) {
    return patchbay::api::init("MPI_Psend_init", "dest",
        {const_cast<void*>(buf), partitions, count, nullptr, dest, tag, true}, datatype, comm, info, request);
}
int PMPI_Psend_init_c(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return patchbay::api::init("MPI_Psend_init_c", "dest",
        {const_cast<void*>(buf), partitions, count, nullptr, dest, tag, true}, datatype, comm, info, request);
}
int PMPI_Precv_init(void* buf, int partitions, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Info info, MPI_Request* request) {
    return patchbay::api::init(
        "MPI_Precv_init", "source", {buf, partitions, count, nullptr, dest, tag, false}, datatype, comm, info, request);
}
int PMPI_Precv_init_c(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return patchbay::api::init("MPI_Precv_init_c", "source", {buf, partitions, count, nullptr, dest, tag, false},
        datatype, comm, info, request);
}
int PMPI_Pready(int partition, MPI_Request request) {
    return patchbay::api::ready(partition, request);
}
int PMPI_Pready_range(int partition_low, int partition_high, MPI_Request request) {
    return patchbay::api::ready_range(partition_low, partition_high, request);
}
int PMPI_Pready_list(int length, const int array_of_partitions[], MPI_Request request) {
    return patchbay::api::ready_list(length, array_of_partitions, request);
}
int PMPI_Parrived(MPI_Request request, int partition, int* flag) {
    return patchbay::api::arrived(request, partition, flag);
}
