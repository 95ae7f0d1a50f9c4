// SPDX-License-Identifier: BSD-3-Clause
#include "core/component/describe.h"
#include "core/core.h"
#include "frameworks/coll/coll.h"
#include "frameworks/coll/neighborhood.h"
#include "frameworks/coll/schedule.h"
#include "frameworks/coll/typed_buffer.h"
#include "object/error_code.h"
#include "object/handle.h"
#include "object/typed_copy.h"

#include <new>

namespace patchbay::coll::self {

namespace {

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "75", "how much this component wants to serve a communicator of one", "0..100"},
};

// Collectives of one process: a local copy, or nothing. Sends nothing, waits for nothing.
class SelfModule final : public Module {
public:
    Provided provides() const noexcept override {
        return Provided::planned(FunctionSet::chapter_6() | FunctionSet::neighborhood());
    }
    int plan(const Call& call, Schedule& schedule) noexcept override;
    // Of the neighbourhood functions: all neighbours are the process itself.
    int blocking(const Call& call, Communicator& comm) noexcept override;

    int barrier(Communicator&) noexcept override { return MPI_SUCCESS; }
    int bcast(void*, MPI_Count, const Datatype&, int, Communicator&) noexcept override { return MPI_SUCCESS; }
    int gather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
        const Datatype& recv_type, int, Communicator&) noexcept override {
        return move(send, send_count, send_type, recv, recv_count, recv_type);
    }
    int gatherv(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, CountArray recv_counts,
        CountArray displacements, const Datatype& recv_type, int, Communicator&) noexcept override {
        return move(send, send_count, send_type, element(recv, displacements[0], recv_type), recv_counts[0], recv_type);
    }
    int scatter(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
        const Datatype& recv_type, int, Communicator&) noexcept override {
        return move(send, send_count, send_type, recv, recv_count, recv_type);
    }
    int scatterv(const void* send, CountArray send_counts, CountArray displacements, const Datatype& send_type,
        void* recv, MPI_Count recv_count, const Datatype& recv_type, int, Communicator&) noexcept override {
        return move(element(send, displacements[0], send_type), send_counts[0], send_type, recv, recv_count, recv_type);
    }
    int allgather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
        const Datatype& recv_type, Communicator&) noexcept override {
        return move(send, send_count, send_type, recv, recv_count, recv_type);
    }
    int allgatherv(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
        CountArray recv_counts, CountArray displacements, const Datatype& recv_type, Communicator&) noexcept override {
        return move(send, send_count, send_type, element(recv, displacements[0], recv_type), recv_counts[0], recv_type);
    }
    int alltoall(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
        const Datatype& recv_type, Communicator&) noexcept override {
        return move(send, send_count, send_type, recv, recv_count, recv_type);
    }
    int alltoallv(const void* send, CountArray send_counts, CountArray send_displacements, const Datatype& send_type,
        void* recv, CountArray recv_counts, CountArray recv_displacements, const Datatype& recv_type,
        Communicator&) noexcept override {
        if (send == MPI_IN_PLACE) {
            return MPI_SUCCESS;
        }
        return move(element(send, send_displacements[0], send_type), send_counts[0], send_type,
            element(recv, recv_displacements[0], recv_type), recv_counts[0], recv_type);
    }
    int alltoallw(const void* send, const TypedVector& send_side, void* recv, const TypedVector& recv_side,
        Communicator&) noexcept override {
        if (send == MPI_IN_PLACE) {
            return MPI_SUCCESS;
        }
        return move(static_cast<const std::byte*>(send) + send_side.displacements[0], send_side.counts[0],
            *to_object<Datatype>(send_side.types[0]), static_cast<std::byte*>(recv) + recv_side.displacements[0],
            recv_side.counts[0], *to_object<Datatype>(recv_side.types[0]));
    }
    int reduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op&, int,
        Communicator&) noexcept override {
        return move(send, count, type, recv, count, type);
    }
    int allreduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op&,
        Communicator&) noexcept override {
        return move(send, count, type, recv, count, type);
    }
    int reduce_scatter(const void* send, void* recv, CountArray counts, const Datatype& type, const Op&,
        Communicator&) noexcept override {
        return move(send, counts[0], type, recv, counts[0], type);
    }
    int reduce_scatter_block(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op&,
        Communicator&) noexcept override {
        return move(send, count, type, recv, count, type);
    }
    int scan(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op&,
        Communicator&) noexcept override {
        return move(send, count, type, recv, count, type);
    }
    // Rank 0 has no lower rank: its receive buffer is not significant (MPI-5.0, 6.11.2).
    int exscan(const void*, void*, MPI_Count, const Datatype&, const Op&, Communicator&) noexcept override {
        return MPI_SUCCESS;
    }

private:
    // MPI_IN_PLACE as either buffer means that the data is in its place.
    static int move(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
        const Datatype& recv_type) noexcept {
        if (send == MPI_IN_PLACE || recv == MPI_IN_PLACE) {
            return MPI_SUCCESS;
        }
        return typed_copy(send, send_count, send_type, recv, recv_count, recv_type);
    }
};

int SelfModule::blocking(const Call& call, Communicator& comm) noexcept {
    int result = MPI_SUCCESS;
    for_each_own_edge(*comm.topology, comm.rank, call, [&](const NeighborBlock& from, const NeighborBlock& into) {
        const int code = typed_copy(from.address, from.count, *from.type, into.address, into.count, *into.type);
        result = first_error(result, code);
    });
    return result;
}

// What the blocking function does, as steps.
int SelfModule::plan(const Call& call, Schedule& schedule) noexcept {
    if (FunctionSet::neighborhood().has(call.function)) {
        const Communicator& comm = schedule.comm();
        for_each_own_edge(*comm.topology, comm.rank, call, [&](const NeighborBlock& from, const NeighborBlock& into) {
            schedule.copy(from.address, from.count, *from.type, into.address, into.count, *into.type);
        });
        return MPI_SUCCESS;
    }
    if (call.send == MPI_IN_PLACE || call.recv == MPI_IN_PLACE) {
        return MPI_SUCCESS;
    }
    const auto copy = [&](const void* send, MPI_Count send_count, void* recv, MPI_Count recv_count) {
        schedule.copy(send, send_count, *call.send_type, recv, recv_count, *call.recv_type);
    };
    const auto reduce = [&](MPI_Count count) {
        schedule.copy(call.send, count, *call.recv_type, call.recv, count, *call.recv_type);
    };
    switch (call.function) {
    case Function::gather:
    case Function::scatter:
    case Function::allgather:
    case Function::alltoall:
        copy(call.send, call.send_count, call.recv, call.recv_count);
        break;
    case Function::gatherv:
    case Function::allgatherv:
        copy(call.send, call.send_count, element(call.recv, call.recv_displacements[0], *call.recv_type),
            call.recv_counts[0]);
        break;
    case Function::scatterv:
        copy(element(call.send, call.send_displacements[0], *call.send_type), call.send_counts[0], call.recv,
            call.recv_count);
        break;
    case Function::alltoallv:
        copy(element(call.send, call.send_displacements[0], *call.send_type), call.send_counts[0],
            element(call.recv, call.recv_displacements[0], *call.recv_type), call.recv_counts[0]);
        break;
    case Function::alltoallw:
        schedule.copy(static_cast<const std::byte*>(call.send) + call.send_displacements[0], call.send_counts[0],
            *to_object<Datatype>(call.send_types[0]), static_cast<std::byte*>(call.recv) + call.recv_displacements[0],
            call.recv_counts[0], *to_object<Datatype>(call.recv_types[0]));
        break;
    case Function::reduce:
    case Function::allreduce:
    case Function::reduce_scatter_block:
    case Function::scan:
        reduce(call.recv_count);
        break;
    case Function::reduce_scatter:
        reduce(call.recv_counts[0]);
        break;
    default: // barrier, bcast, exscan
        break;
    }
    return MPI_SUCCESS;
}

class SelfComponent final : public Component {
public:
    Status open(Core& core) override {
        _priority = int(core.params.at("coll_self_priority").as_int());
        return {};
    }
    Capability capabilities() const noexcept override {
        return Capability::thread_multiple | Capability::sessions | Capability::peers_self;
    }
    Result<Candidate> query(Query& query) override {
        if (query.comm.size != 1 || query.comm.is_inter) {
            return query.refuse_all("serves communicators of one process only");
        }
        std::unique_ptr<Module> module(new (std::nothrow) SelfModule);
        if (!module) {
            return Error{Errc::out_of_memory, "no memory for a module"};
        }
        return Candidate{_priority, std::move(module), true};
    }

private:
    int _priority = 0;
};

} // namespace

} // namespace patchbay::coll::self

PATCHBAY_COMPONENT = patchbay::describe<patchbay::coll::self::SelfComponent>("coll", patchbay::coll::interface_version,
    "self", "1.0.0", "collectives of communicators of one process: local copies", patchbay::coll::self::params);
