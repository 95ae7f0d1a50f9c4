// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/threads/several_processes.h"

#include "components/coll/threads/broadcast.h"
#include "components/coll/threads/leaders.h"
#include "core/base/copy.h"

namespace patchbay::coll::threads {

// A step for whose end the leader alone waits, the messages of the leaders, and a step in which the others wait for
// their leader.
int ProcessesModule::barrier(Communicator& comm) noexcept {
    Progress& progress = *comm.progress;
    const Datatype& type = *to_object<Datatype>(MPI_BYTE);
    if (!is_alone()) {
        _place.arrive(progress);
    }
    if (_place.rank() != 0) {
        return take(_place, 0, nullptr, 0, type, progress);
    }
    if (!is_alone()) {
        _place.wait_for_all(progress);
    }
    Leaders leaders(comm, Function::barrier, *_team);
    leaders.barrier();
    if (!is_alone()) {
        give(_place, leaders.code(), nullptr, 0, type, progress);
    }
    return leaders.code();
}

int ProcessesModule::bcast(void* buffer, MPI_Count count, const Datatype& type, int root, Communicator& comm) noexcept {
    Progress& progress = *comm.progress;
    const int leader = leader_for(root);
    return _place.rank() == leader ? bcast_as_leader(MPI_SUCCESS, buffer, count, type, root, comm)
                                   : take(_place, leader, buffer, count, type, progress);
}

int ProcessesModule::bcast_as_leader(
    int failed, void* buffer, MPI_Count count, const Datatype& type, int root, Communicator& comm) noexcept {
    Leaders leaders(comm, Function::bcast, *_team, root);
    leaders.fail(failed);
    Immediate::Batch sends(leaders.steps());
    leaders.bcast(buffer, count, type, sends);
    if (!is_alone()) {
        leaders.fail(give(_place, leaders.code(), buffer, count, type, *comm.progress));
    }
    return sends.finish();
}

// The part of a member that is not the leader, until its operand is in the leader's result.
int ProcessesModule::contribute(const Operand& operand, int leader, Progress& progress) noexcept {
    show_operand(_place, operand, nullptr, progress);
    if (is_short(operand.bytes(), _place)) {
        return MPI_SUCCESS;
    }
    const int code = join_buffers(_place, operand, leader, progress);
    if (code == MPI_SUCCESS) {
        _place.arrive(progress);
    }
    return code;
}

// The leader's part: the operands of the process are in `result` then.
int ProcessesModule::collect(const Operand& operand, void* result, Progress& progress) noexcept {
    if (is_alone()) {
        if (operand.data != result && operand.bytes() > 0 && result != nullptr) {
            copy_bytes(result, operand.data, operand.bytes());
        }
        return result != nullptr || operand.bytes() == 0 ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    show_operand(_place, operand, result, progress);
    if (is_short(operand.bytes(), _place)) {
        return join_slots(_place, operand, result, progress);
    }
    const int code = join_buffers(_place, operand, _place.rank(), progress);
    if (code == MPI_SUCCESS) {
        _place.meet(progress);
    }
    return code;
}

int ProcessesModule::reduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, int root,
    Communicator& comm) noexcept {
    const Op::Kernel kernel = kernel_of(op, type);
    if (kernel == nullptr) {
        return _below.find(Function::reduce, Form::blocking)->reduce(send, recv, count, type, op, root, comm);
    }
    const Operand operand{send == MPI_IN_PLACE ? recv : send, count, type, kernel};
    Progress& progress = *comm.progress;
    const int leader = leader_for(root);
    if (_place.rank() == leader) {
        return reduce_as_leader(operand, recv, op, root, comm);
    }
    const int code = contribute(operand, leader, progress);
    if (!is_short(operand.bytes(), _place)) {
        _place.wait_for_all(progress); // the others have read the operand
    }
    return code;
}

int ProcessesModule::reduce_as_leader(
    const Operand& operand, void* result, const Op& op, int root, Communicator& comm) noexcept {
    TypedBuffer own(comm.coll->scratch_pool(), comm.rank == root ? 0 : operand.count, operand.type);
    if (comm.rank != root) {
        result = own.valid() ? own.data() : nullptr;
    }
    Leaders leaders(comm, Function::reduce, *_team, root);
    leaders.fail(collect(operand, result, *comm.progress));
    leaders.reduce(result, operand.count, operand.type, op);
    return leaders.code();
}

int ProcessesModule::allreduce(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    const Op::Kernel kernel = kernel_of(op, type);
    if (kernel == nullptr) {
        return _below.find(Function::allreduce, Form::blocking)->allreduce(send, recv, count, type, op, comm);
    }
    const Operand operand{send == MPI_IN_PLACE ? recv : send, count, type, kernel};
    Progress& progress = *comm.progress;
    if (_place.rank() != 0) {
        contribute(operand, 0, progress); // its error is the leader's, too
        return take(_place, 0, recv, count, type, progress);
    }
    Leaders leaders(comm, Function::allreduce, *_team);
    leaders.fail(collect(operand, recv, progress));
    leaders.allreduce(recv, count, type, op);
    if (!is_alone()) {
        give(_place, leaders.code(), recv, count, type, progress);
    }
    return leaders.code();
}

void ProcessesModule::blocking_failed(const Call& call, Communicator& comm, int code) noexcept {
    const Datatype& type = *to_object<Datatype>(MPI_BYTE);
    if (is_passed_on(call)) {
        _below.find(call.function, Form::blocking)->blocking_failed(call, comm, code);
    } else if (call.function == Function::barrier) {
        barrier(comm);
    } else if (call.function != Function::bcast) {
        reduction_failed(call, comm, code);
    } else if (const int leader = leader_for(call.root); _place.rank() == leader) {
        bcast_as_leader(code, nullptr, 0, type, call.root, comm);
    } else {
        take(_place, leader, nullptr, 0, type, *comm.progress);
    }
}

// A member that has failed shows a slot without data, so that its leader fails, too; a leader goes on with its
// messages, which have no elements then.
void ProcessesModule::reduction_failed(const Call& call, Communicator& comm, int code) noexcept {
    Progress& progress = *comm.progress;
    const bool has_root = call.function == Function::reduce;
    const int leader = has_root ? leader_for(call.root) : 0;
    if (!is_alone()) {
        _place.arrive(progress);
    }
    if (_place.rank() == leader) {
        Leaders leaders(comm, call.function, *_team, has_root ? call.root : Leaders::no_root);
        leaders.fail(code);
        if (has_root) {
            leaders.reduce(nullptr, call.recv_count, *call.recv_type, *call.op);
        } else {
            leaders.allreduce(nullptr, call.recv_count, *call.recv_type, *call.op);
        }
    }
    if (has_root || is_alone()) {
        return;
    }
    const Datatype& type = *to_object<Datatype>(MPI_BYTE);
    if (_place.rank() == leader) {
        give(_place, code, nullptr, 0, type, progress);
    } else {
        take(_place, leader, nullptr, 0, type, progress);
    }
}

} // namespace patchbay::coll::threads
