// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/blocking.h"
#include "frameworks/coll/coll.h"
#include "frameworks/coll/engine.h"
#include "frameworks/coll/schedule.h"

#include <utility>

namespace patchbay::coll {

const char* function_name(Function f) noexcept {
    static constexpr const char* names[] = {
        "barrier",
        "bcast",
        "gather",
        "gatherv",
        "scatter",
        "scatterv",
        "allgather",
        "allgatherv",
        "alltoall",
        "alltoallv",
        "alltoallw",
        "reduce",
        "allreduce",
        "reduce_scatter",
        "reduce_scatter_block",
        "scan",
        "exscan",
        "neighbor_allgather",
        "neighbor_allgatherv",
        "neighbor_alltoall",
        "neighbor_alltoallv",
        "neighbor_alltoallw",
    };
    static_assert(std::size(names) == function_count);
    return names[std::size_t(f)];
}

Table::Table(Engine& engine) noexcept
    : _engine(&engine) {}

Table::~Table() = default;

void Table::destroy() noexcept {
    delete this;
}

ScratchPool& Table::scratch_pool() const noexcept {
    return _engine->scratch_pool();
}

void Module::keep(Communicator& comm, std::unique_ptr<CommData> data) const noexcept {
    data->_owner = this;
    data->_next.reset(std::exchange(comm.coll_data, nullptr));
    comm.coll_data = data.release();
}

void Module::forget(Communicator& comm) noexcept {
    delete std::exchange(comm.coll_data, nullptr);
}

int Module::plan(const Call&, Schedule&) noexcept {
    return MPI_ERR_UNSUPPORTED_OPERATION; // a bug in provides()
}

namespace {

// A member that has failed: it sends as many messages as without the error, which may depend on the counts, but with no
// elements.
class FailedModule final : public Module {
public:
    FailedModule(Module& module, int code) noexcept
        : _module(module),
          _code(code) {}
    Provided provides() const noexcept override { return _module.provides(); }
    int plan(const Call& call, Schedule& schedule) noexcept override {
        schedule.fail(_code);
        return _module.plan(call, schedule);
    }

private:
    Module& _module;
    const int _code;
};

} // namespace

void Module::blocking_failed(const Call& call, Communicator& comm, int code) noexcept {
    FailedModule(*this, code).Module::blocking(call, comm);
}

int Module::blocking(const Call& call, Communicator& comm) noexcept {
    return comm.coll->engine().run(*this, call, comm);
}

namespace {

template <std::size_t... functions>
int run(Module& module, const Call& call, Communicator& comm, std::index_sequence<functions...>) noexcept {
    using Run = int (*)(Module&, const Call&, Communicator&) noexcept;
    static constexpr Run table[] = {&run_blocking<Function(functions)>...};
    return table[std::size_t(call.function)](module, call, comm);
}

} // namespace

int Module::run_blocking(const Call& call, Communicator& comm) noexcept {
    return run(*this, call, comm, std::make_index_sequence<function_count>());
}

// Functions that a module does not override: their arguments as a Call.

namespace {

Call call_of(Function function, const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, int root) noexcept {
    Call call;
    call.function = function;
    call.send = send;
    call.send_count = send_count;
    call.send_type = &send_type;
    call.recv = recv;
    call.recv_count = recv_count;
    call.recv_type = &recv_type;
    call.root = root;
    return call;
}

Call reduction(Function function, const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op,
    int root = 0) noexcept {
    Call call;
    call.function = function;
    call.send = send;
    call.recv = recv;
    call.recv_count = count;
    call.recv_type = &type;
    call.op = &op;
    call.root = root;
    return call;
}

} // namespace

int Module::barrier(Communicator& comm) noexcept {
    return blocking(Call{}, comm);
}

int Module::bcast(void* buffer, MPI_Count count, const Datatype& type, int root, Communicator& comm) noexcept {
    Call call;
    call.function = Function::bcast;
    call.recv = buffer;
    call.recv_count = count;
    call.recv_type = &type;
    call.root = root;
    return blocking(call, comm);
}

int Module::gather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
    const Datatype& recv_type, int root, Communicator& comm) noexcept {
    return blocking(call_of(Function::gather, send, send_count, send_type, recv, recv_count, recv_type, root), comm);
}

int Module::gatherv(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    CountArray recv_counts, CountArray displacements, const Datatype& recv_type, int root,
    Communicator& comm) noexcept {
    Call call = call_of(Function::gatherv, send, send_count, send_type, recv, 0, recv_type, root);
    call.recv_counts = recv_counts;
    call.recv_displacements = displacements;
    return blocking(call, comm);
}

int Module::scatter(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
    const Datatype& recv_type, int root, Communicator& comm) noexcept {
    return blocking(call_of(Function::scatter, send, send_count, send_type, recv, recv_count, recv_type, root), comm);
}

int Module::scatterv(const void* send, CountArray send_counts, CountArray displacements, const Datatype& send_type,
    void* recv, MPI_Count recv_count, const Datatype& recv_type, int root, Communicator& comm) noexcept {
    Call call = call_of(Function::scatterv, send, 0, send_type, recv, recv_count, recv_type, root);
    call.send_counts = send_counts;
    call.send_displacements = displacements;
    return blocking(call, comm);
}

int Module::allgather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, Communicator& comm) noexcept {
    return blocking(call_of(Function::allgather, send, send_count, send_type, recv, recv_count, recv_type, 0), comm);
}

int Module::allgatherv(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    CountArray recv_counts, CountArray displacements, const Datatype& recv_type, Communicator& comm) noexcept {
    Call call = call_of(Function::allgatherv, send, send_count, send_type, recv, 0, recv_type, 0);
    call.recv_counts = recv_counts;
    call.recv_displacements = displacements;
    return blocking(call, comm);
}

int Module::alltoall(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, Communicator& comm) noexcept {
    return blocking(call_of(Function::alltoall, send, send_count, send_type, recv, recv_count, recv_type, 0), comm);
}

int Module::alltoallv(const void* send, CountArray send_counts, CountArray send_displacements,
    const Datatype& send_type, void* recv, CountArray recv_counts, CountArray recv_displacements,
    const Datatype& recv_type, Communicator& comm) noexcept {
    Call call = call_of(Function::alltoallv, send, 0, send_type, recv, 0, recv_type, 0);
    call.send_counts = send_counts;
    call.send_displacements = send_displacements;
    call.recv_counts = recv_counts;
    call.recv_displacements = recv_displacements;
    return blocking(call, comm);
}

int Module::alltoallw(const void* send, const TypedVector& send_side, void* recv, const TypedVector& recv_side,
    Communicator& comm) noexcept {
    Call call;
    call.function = Function::alltoallw;
    call.send = send;
    call.send_counts = send_side.counts;
    call.send_displacements = send_side.displacements;
    call.send_types = send_side.types;
    call.send_types_count = send_side.types != nullptr ? comm.remote_size : 0;
    call.recv = recv;
    call.recv_counts = recv_side.counts;
    call.recv_displacements = recv_side.displacements;
    call.recv_types = recv_side.types;
    call.recv_types_count = comm.remote_size;
    return blocking(call, comm);
}

int Module::reduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, int root,
    Communicator& comm) noexcept {
    return blocking(reduction(Function::reduce, send, recv, count, type, op, root), comm);
}

int Module::allreduce(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    return blocking(reduction(Function::allreduce, send, recv, count, type, op), comm);
}

int Module::reduce_scatter(
    const void* send, void* recv, CountArray counts, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    Call call = reduction(Function::reduce_scatter, send, recv, 0, type, op);
    call.recv_counts = counts;
    return blocking(call, comm);
}

int Module::reduce_scatter_block(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    return blocking(reduction(Function::reduce_scatter_block, send, recv, count, type, op), comm);
}

int Module::scan(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    return blocking(reduction(Function::scan, send, recv, count, type, op), comm);
}

int Module::exscan(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    return blocking(reduction(Function::exscan, send, recv, count, type, op), comm);
}

} // namespace patchbay::coll
