// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/sm/module.h"

#include "core/base/out_of_memory.h"
#include "frameworks/coll/schedule.h"

#include <utility>

namespace patchbay::coll::sm {

namespace {

// nullptr: the next component does it.
Op::Kernel kernel_of(const Op& op, const Datatype& type) noexcept {
    return type.dense ? op.kernel(type.basic) : nullptr;
}

Reduction reduction(const void* send, void* recv, MPI_Count count, const Datatype& type, Op::Kernel kernel) noexcept {
    return {{}, send == MPI_IN_PLACE ? recv : send, recv, count, &type, kernel};
}

// A broadcast that the root may pass on, which the others learn from it.
struct PassableBcast : Bcast {
    bool* passed_on;

    void look(const Place& place) const noexcept {
        *passed_on = place.rank() != root && place.of(root).bytes == Slot::passed_on;
    }
    int take(Place& place) const noexcept { return *passed_on ? MPI_SUCCESS : Bcast::take(place); }
};

// Calls visit(what) with the collective of a call that is served here.
template <class Visit>
auto visit_collective(const Call& call, const Visit& visit) {
    const Blocks blocks{{}, call.send, call.send_count, call.send_type, call.recv, call.recv_count, call.recv_type};
    const auto operands = [&call] {
        return reduction(call.send, call.recv, call.recv_count, *call.recv_type, kernel_of(*call.op, *call.recv_type));
    };
    switch (call.function) {
    case Function::bcast:
        return visit(Bcast{{}, call.recv, call.recv_count, call.recv_type, call.root});
    case Function::gather:
        return visit(Gather{blocks, call.root});
    case Function::scatter:
        return visit(Scatter{blocks, call.root});
    case Function::allgather:
        return visit(Allgather{blocks});
    case Function::alltoall:
        return visit(Alltoall{blocks});
    case Function::reduce:
        return visit(Reduce{operands(), call.root});
    case Function::allreduce:
        return visit(Allreduce{operands()});
    default:
        return visit(Barrier{});
    }
}

} // namespace

Provided SmModule::provides() const noexcept {
    constexpr FunctionSet served{Function::barrier, Function::bcast, Function::gather, Function::scatter,
        Function::allgather, Function::alltoall, Function::reduce, Function::allreduce};
    return {served, {}, served};
}

Place* SmModule::make_place_after(Communicator& comm, Function function) noexcept {
    const bool is_time = comm.coll_calls == _settings.after;
    if (is_time && !waits_for_all.has(function)) {
        return nullptr;
    }
    count_call(comm);
    if (!is_time) {
        return nullptr;
    }
    std::unique_ptr<Place> place = make_place(_context, _below, comm);
    Place* const made = place.get();
    if (made != nullptr) {
        keep(comm, std::move(place));
    }
    return made;
}

int SmModule::barrier(Communicator& comm) noexcept {
    Place* const place = place_in(comm, Function::barrier);
    return place != nullptr ? run(*place, Barrier{}) : below(Function::barrier).barrier(comm);
}

int SmModule::run_bcast(Place& place, const Bcast& what, bool* passed_on, int failed) const noexcept {
    if (place.rank() == what.root && !is_short(Function::bcast, what.count, *what.type, 1)) {
        *passed_on = true;
        return run_passed_on(place);
    }
    return run(place, PassableBcast{what, passed_on}, what.root, failed);
}

int SmModule::bcast(void* buffer, MPI_Count count, const Datatype& type, int root, Communicator& comm) noexcept {
    Place* const place = place_in(comm, Function::bcast);
    bool passed_on = place == nullptr;
    if (place != nullptr) {
        const int code = run_bcast(*place, Bcast{{}, buffer, count, &type, root}, &passed_on, MPI_SUCCESS);
        if (!passed_on || code != MPI_SUCCESS) {
            return code;
        }
    }
    return below(Function::bcast).bcast(buffer, count, type, root, comm);
}

int SmModule::gather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, int root, Communicator& comm) noexcept {
    Place* const place = place_in(comm, Function::gather);
    const bool is_root = comm.rank == root;
    if (place != nullptr &&
        is_short(Function::gather, is_root ? recv_count : send_count, is_root ? recv_type : send_type, 1)) {
        return run(*place, Gather{{{}, send, send_count, &send_type, recv, recv_count, &recv_type}, root}, root);
    }
    return below(Function::gather).gather(send, send_count, send_type, recv, recv_count, recv_type, root, comm);
}

int SmModule::scatter(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, int root, Communicator& comm) noexcept {
    Place* const place = place_in(comm, Function::scatter);
    const bool is_root = comm.rank == root;
    if (place != nullptr &&
        is_short(Function::scatter, is_root ? send_count : recv_count, is_root ? send_type : recv_type, comm.size)) {
        return run(*place, Scatter{{{}, send, send_count, &send_type, recv, recv_count, &recv_type}, root}, root);
    }
    return below(Function::scatter).scatter(send, send_count, send_type, recv, recv_count, recv_type, root, comm);
}

int SmModule::allgather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, Communicator& comm) noexcept {
    Place* const place = place_in(comm, Function::allgather);
    if (place != nullptr && is_short(Function::allgather, recv_count, recv_type, 1)) {
        return run(*place, Allgather{{{}, send, send_count, &send_type, recv, recv_count, &recv_type}});
    }
    return below(Function::allgather).allgather(send, send_count, send_type, recv, recv_count, recv_type, comm);
}

int SmModule::alltoall(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, Communicator& comm) noexcept {
    Place* const place = place_in(comm, Function::alltoall);
    // In place: by all members or by none.
    if (place != nullptr && send != MPI_IN_PLACE && is_short(Function::alltoall, recv_count, recv_type, comm.size)) {
        return run(*place, Alltoall{{{}, send, send_count, &send_type, recv, recv_count, &recv_type}});
    }
    return below(Function::alltoall).alltoall(send, send_count, send_type, recv, recv_count, recv_type, comm);
}

int SmModule::reduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, int root,
    Communicator& comm) noexcept {
    Place* const place = place_in(comm, Function::reduce);
    const Op::Kernel kernel = kernel_of(op, type);
    if (place != nullptr && kernel != nullptr && is_short(Function::reduce, count, type, 1)) {
        return run(*place, Reduce{reduction(send, recv, count, type, kernel), root}, root);
    }
    return below(Function::reduce).reduce(send, recv, count, type, op, root, comm);
}

int SmModule::allreduce(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    Place* const place = place_in(comm, Function::allreduce);
    const Op::Kernel kernel = kernel_of(op, type);
    if (place != nullptr && kernel != nullptr && is_short(Function::allreduce, count, type, 1)) {
        return run(*place, Allreduce{reduction(send, recv, count, type, kernel)});
    }
    return below(Function::allreduce).allreduce(send, recv, count, type, op, comm);
}

bool SmModule::is_served(const Call& call, const Communicator& comm) const noexcept {
    if (call.function == Function::barrier) {
        return true;
    }
    const bool sends = (call.function == Function::gather && comm.rank != call.root) ||
        (call.function == Function::scatter && comm.rank == call.root);
    const MPI_Count count = sends ? call.send_count : call.recv_count;
    const Datatype& type = sends ? *call.send_type : *call.recv_type;
    const int blocks = call.function == Function::scatter || call.function == Function::alltoall ? comm.size : 1;
    const bool in_place = call.function == Function::alltoall && call.send == MPI_IN_PLACE;
    const bool can_reduce = call.op == nullptr || kernel_of(*call.op, type) != nullptr;
    return !in_place && can_reduce && is_short(call.function, count, type, blocks);
}

void SmModule::blocking_failed(const Call& call, Communicator& comm, int failed) noexcept {
    Place* const place = place_in(comm, call.function);
    bool passed_on = place == nullptr;
    if (place != nullptr && call.function == Function::bcast) {
        run_bcast(*place, Bcast{{}, call.recv, call.recv_count, call.recv_type, call.root}, &passed_on, failed);
    } else if (place != nullptr && is_served(call, comm)) {
        visit_collective(call, [&](const auto& what) { return run(*place, what, call.root, failed); });
    } else {
        passed_on = true;
    }
    if (passed_on) {
        below(call.function).blocking_failed(call, comm, failed);
    }
}

int SmModule::plan(const Call& call, Schedule& schedule) noexcept {
    return below(call.function, Form::persistent).plan(call, schedule);
}

int SmModule::make_joint_start(const Call& call, Communicator& comm, std::unique_ptr<JointStart>* made) noexcept {
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        *made = visit_collective(call, [&](const auto& what) -> std::unique_ptr<JointStart> {
            using Start = SharedStart<std::remove_cvref_t<decltype(what)>>;
            return std::make_unique<Start>(_context, _below, _limit, comm, what, call.root, is_served(call, comm));
        });
        return MPI_SUCCESS;
    });
}

// Whether there are several follows from the next component alone, because that must not depend on the counts.
std::size_t SmModule::candidates(const Call& call, const Communicator& comm) const noexcept {
    const std::size_t others = below(call.function, Form::persistent).candidates(call, comm);
    return others > 1 ? own_candidates(call, comm) + others : 1;
}

int SmModule::plan_candidate(std::size_t number, const Call& call, Schedule& schedule) noexcept {
    Module& next = below(call.function, Form::persistent);
    const std::size_t theirs = number - own_candidates(call, schedule.comm());
    return theirs == 0 ? next.plan(call, schedule) : next.plan_candidate(theirs, call, schedule);
}

void SmModule::keep_candidate(std::size_t number, const Call& call, const Communicator& comm) noexcept {
    if (const std::size_t own = own_candidates(call, comm); number >= own) {
        below(call.function, Form::persistent).keep_candidate(number - own, call, comm);
    }
}

std::string SmModule::candidate_name(std::size_t number, const Call& call, const Communicator& comm) const {
    const std::size_t own = own_candidates(call, comm);
    return number < own ? "sm: shared memory"
                        : below(call.function, Form::persistent).candidate_name(number - own, call, comm);
}

} // namespace patchbay::coll::sm
