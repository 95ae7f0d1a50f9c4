// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/threads/module.h"

#include "components/coll/threads/broadcast.h"
#include "components/coll/threads/reduction.h"

namespace patchbay::coll::threads {

int ThreadModule::barrier(Communicator& comm) noexcept {
    _place.meet(*comm.progress);
    return MPI_SUCCESS;
}

int ThreadModule::bcast(void* buffer, MPI_Count count, const Datatype& type, int root, Communicator& comm) noexcept {
    Progress& progress = *comm.progress;
    return _place.rank() == root ? give(_place, MPI_SUCCESS, buffer, count, type, progress)
                                 : take(_place, root, buffer, count, type, progress);
}

int ThreadModule::reduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, int root,
    Communicator& comm) noexcept {
    const Op::Kernel kernel = kernel_of(op, type);
    if (kernel == nullptr) {
        return _below.find(Function::reduce, Form::blocking)->reduce(send, recv, count, type, op, root, comm);
    }
    Progress& progress = *comm.progress;
    const Operand operand{send == MPI_IN_PLACE ? recv : send, count, type, kernel};
    show_operand(_place, operand, recv, progress);
    if (is_short(operand.bytes(), _place)) {
        return _place.rank() == root ? join_slots(_place, operand, recv, progress) : MPI_SUCCESS;
    }
    const int code = join_buffers(_place, operand, root, progress);
    if (code == MPI_SUCCESS) {
        _place.meet(progress); // nobody reads or writes the buffers any more
    }
    return code;
}

int ThreadModule::allreduce(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    const Op::Kernel kernel = kernel_of(op, type);
    if (kernel == nullptr) {
        return _below.find(Function::allreduce, Form::blocking)->allreduce(send, recv, count, type, op, comm);
    }
    Progress& progress = *comm.progress;
    const Operand operand{send == MPI_IN_PLACE ? recv : send, count, type, kernel};
    show_operand(_place, operand, recv, progress);
    if (is_short(operand.bytes(), _place)) {
        return join_slots(_place, operand, recv, progress);
    }
    const int code = join_buffers(_place, operand, all, progress);
    if (code == MPI_SUCCESS) {
        _place.meet(progress); // nobody reads or writes the buffers any more
    }
    return code;
}

// A member that has failed shows a slot without data, of which members that wait for all of them make an error.
void ThreadModule::blocking_failed(const Call& call, Communicator& comm, int code) noexcept {
    if (is_passed_on(call)) {
        _below.find(call.function, Form::blocking)->blocking_failed(call, comm, code);
    } else if (call.function != Function::bcast) {
        _place.arrive(*comm.progress);
    } else if (_place.rank() == call.root) {
        give(_place, code, nullptr, 0, *call.recv_type, *comm.progress);
    } else {
        take(_place, call.root, nullptr, 0, *call.recv_type, *comm.progress);
    }
}

} // namespace patchbay::coll::threads
