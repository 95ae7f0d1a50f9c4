// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/tuned/tuned.h"

#include "components/coll/tuned/pair.h"

namespace patchbay::coll::tuned {

namespace {

std::uint64_t bytes_of(MPI_Count count, const Datatype& type) noexcept {
    return std::uint64_t(count) * std::uint64_t(type.size);
}

// What a decision depends on: the bytes of the vector that is broadcast or reduced, or of the block of one rank. They
// are equal in all members, because the signatures are.
std::uint64_t decisive_bytes(const Call& call, int rank) noexcept {
    const bool counts_send = (call.function == Function::gather && rank != call.root) ||
        (call.function == Function::scatter && rank == call.root);
    return counts_send ? bytes_of(call.send_count, *call.send_type) : bytes_of(call.recv_count, *call.recv_type);
}

template <class Steps>
void add_steps(Steps& steps, const Call& call, const Choice& choice) noexcept {
    switch (call.function) {
    case Function::bcast:
        return bcast(steps, call, choice);
    case Function::gather:
        return gather(steps, call, choice);
    case Function::scatter:
        return scatter(steps, call, choice);
    case Function::allgather:
        return allgather(steps, call, choice);
    case Function::alltoall:
        return alltoall(steps, call, choice);
    case Function::reduce:
        return reduce(steps, call, choice);
    case Function::scan:
        return scan(steps, call, choice);
    case Function::exscan:
        return exscan(steps, call, choice);
    default:
        return allreduce(steps, call, choice);
    }
}

} // namespace

Choice TunedModule::choose(const Call& call, Form form, const Communicator& comm) const noexcept {
    const Choice choice = decide(call, form, comm.rank);
    _chosen.note(comm, call.function, choice.algorithm);
    return choice;
}

Choice TunedModule::decide(const Call& call, Form form, int rank) const noexcept {
    if (call.function == Function::alltoall && call.send == MPI_IN_PLACE) {
        return {}; // given by all members or by none
    }
    const auto f = std::size_t(call.function);
    const bool commutative = call.op == nullptr || call.op->is_commutative();
    if (const auto& forced = _settings->forced[f]; forced) [[unlikely]] {
        return applies(call.function, forced->algorithm, _settings->ranks, commutative) ? *forced : Choice{};
    }
    return _settings->decisions[f].choose(
        call.function, form, _settings->ranks, decisive_bytes(call, rank), commutative);
}

int TunedModule::blocking(const Call& call, Communicator& comm) noexcept {
    const Choice choice = choose(call, Form::blocking, comm);
    if (choice.algorithm == Algorithm::pass) {
        return _below.find(call, Form::blocking)->run_blocking(call, comm);
    }
    Immediate steps(comm, call.function);
    add_steps(steps, call, choice);
    return steps.code();
}

int TunedModule::bcast(void* buffer, MPI_Count count, const Datatype& type, int root, Communicator& comm) noexcept {
    return serves_pair(Function::bcast, count, type, comm) ? pair::bcast(buffer, count, type, root, comm)
                                                           : Module::bcast(buffer, count, type, root, comm);
}

int TunedModule::gather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, int root, Communicator& comm) noexcept {
    const bool is_pair = comm.rank == root ? serves_pair(Function::gather, recv_count, recv_type, comm)
                                           : serves_pair(Function::gather, send_count, send_type, comm);
    return is_pair ? pair::gather(send, send_count, send_type, recv, recv_count, recv_type, root, comm)
                   : Module::gather(send, send_count, send_type, recv, recv_count, recv_type, root, comm);
}

int TunedModule::scatter(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, int root, Communicator& comm) noexcept {
    const bool is_pair = comm.rank == root ? serves_pair(Function::scatter, send_count, send_type, comm)
                                           : serves_pair(Function::scatter, recv_count, recv_type, comm);
    return is_pair ? pair::scatter(send, send_count, send_type, recv, recv_count, recv_type, root, comm)
                   : Module::scatter(send, send_count, send_type, recv, recv_count, recv_type, root, comm);
}

int TunedModule::allgather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, Communicator& comm) noexcept {
    return serves_pair(Function::allgather, recv_count, recv_type, comm)
        ? pair::allgather(send, send_count, send_type, recv, recv_count, recv_type, comm)
        : Module::allgather(send, send_count, send_type, recv, recv_count, recv_type, comm);
}

int TunedModule::alltoall(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, Communicator& comm) noexcept {
    return send != MPI_IN_PLACE && serves_pair(Function::alltoall, recv_count, recv_type, comm)
        ? pair::alltoall(send, send_count, send_type, recv, recv_count, recv_type, comm)
        : Module::alltoall(send, send_count, send_type, recv, recv_count, recv_type, comm);
}

int TunedModule::reduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, int root,
    Communicator& comm) noexcept {
    return serves_pair(Function::reduce, count, type, comm) ? pair::reduce(send, recv, count, type, op, root, comm)
                                                            : Module::reduce(send, recv, count, type, op, root, comm);
}

int TunedModule::allreduce(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    return serves_pair(Function::allreduce, count, type, comm) ? pair::allreduce(send, recv, count, type, op, comm)
                                                               : Module::allreduce(send, recv, count, type, op, comm);
}

int TunedModule::scan(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    return serves_pair(Function::scan, count, type, comm) ? pair::scan(send, recv, count, type, op, comm)
                                                          : Module::scan(send, recv, count, type, op, comm);
}

int TunedModule::exscan(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    return serves_pair(Function::exscan, count, type, comm) ? pair::exscan(send, recv, count, type, comm)
                                                            : Module::exscan(send, recv, count, type, op, comm);
}

int TunedModule::plan(const Call& call, Schedule& schedule) noexcept {
    const int code = plan(call, choose(call, schedule.form(), schedule.comm()), schedule);
    schedule.may_repeat(*this);
    return code;
}

// Without an alternative: where the user has given the algorithm, and where this component serves no call.
std::size_t TunedModule::candidates(const Call& call, const Communicator& comm) const noexcept {
    const bool passes_all = call.function == Function::alltoall && call.send == MPI_IN_PLACE;
    if (passes_all || _settings->forced[std::size_t(call.function)]) {
        return 1;
    }
    return candidates_of(call, comm).choices().size();
}

Candidates TunedModule::candidates_of(const Call& call, const Communicator& comm) const noexcept {
    const bool commutative = call.op == nullptr || call.op->is_commutative();
    return {call.function, decide(call, Form::persistent, comm.rank), _settings->ranks, decisive_bytes(call, comm.rank),
        commutative, _below.find(call, Form::persistent) != nullptr};
}

int TunedModule::plan_candidate(std::size_t number, const Call& call, Schedule& schedule) noexcept {
    return plan(call, candidates_of(call, schedule.comm()).choices()[number], schedule);
}

void TunedModule::keep_candidate(std::size_t number, const Call& call, const Communicator& comm) noexcept {
    _chosen.note(comm, call.function, candidates_of(call, comm).choices()[number].algorithm);
}

std::string TunedModule::candidate_name(std::size_t number, const Call& call, const Communicator& comm) const {
    return "tuned: " + describe_choice(candidates_of(call, comm).choices()[number]);
}

int TunedModule::plan(const Call& call, const Choice& choice, Schedule& schedule) noexcept {
    if (schedule.form() != Form::blocking && schedule.steps().empty()) {
        schedule.at_start(_chosen.start_note(schedule.comm(), call.function, choice.algorithm));
    }
    if (choice.algorithm == Algorithm::pass) {
        const Form form = schedule.form() == Form::persistent ? Form::persistent : Form::nonblocking;
        return _below.find(call, form)->plan(call, schedule);
    }
    add_steps(schedule, call, choice);
    return MPI_SUCCESS;
}

} // namespace patchbay::coll::tuned
