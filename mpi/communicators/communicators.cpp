// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/communicators.h"

#include "core/progress/waiter.h"
#include "core/runtime/runtime.h"
#include "frameworks/cid/uniform_cid.h"
#include "frameworks/coll/engine.h"
#include "mpi/bootstrap/exchange_reduction.h"
#include "mpi/communicators/construction_queue.h"
#include "mpi/communicators/construction_tags.h"
#include "mpi/communicators/hints.h"
#include "mpi/communicators/intercommunicators.h"
#include "mpi/communicators/new_communicator.h"
#include "mpi/communicators/session_list.h"
#include "mpi/communicators/split.h"
#include "mpi/communicators/thread_constructors.h"
#include "mpi/instance/instance.h"
#include "mpi/instance/observed_instance.h"
#include "mpi/instance/process_state.h"
#include "mpi/instance/send_buffer.h"
#include "object/error_cause.h"
#include "object/request.h"
#include "object/session.h"

namespace patchbay {

namespace {

void take_group(Communicator& comm, Ref<Group> group) noexcept {
    comm.rank = group->rank();
    comm.size = group->size();
    comm.remote_size = comm.size;
    comm.remote_group = group.get();
    comm.group = std::move(group);
}

int build(Communicator& parent, Ref<Communicator> comm, bool collective, int tag, Communicator** made) {
    Construction construction(*parent.instance, std::move(comm), parent, collective, tag);
    return finish(construction, made);
}

std::unique_ptr<Construction> duplication(Communicator& parent, Ref<Communicator> comm) {
    return parent.is_inter ? duplication_of_inter(parent, std::move(comm))
                           : std::make_unique<Construction>(
                                 *parent.instance, std::move(comm), parent, true, next_construction_tag(parent));
}

// The highest error code of the members of the parent, so that all members return an error if one of them has no free
// index. Collective.
int reduce_refusals(Communicator& parent, int refused, int tag) {
    std::array<std::uint64_t, 1> words{std::uint64_t(refused)};
    ParentReduction reduction(parent, *parent.group, tag);
    const int code = complete(parent, reduction, words, cid::GroupReduction::Operation::maximum);
    return code != MPI_SUCCESS ? code : int(words[0]);
}

// Takes part in the construction of a communicator that this process will not be in. `info` may be null.
int participate(Communicator& parent, int tag, const Info* info) {
    const Ref<Info> hints = hints_for_child(parent, info);
    return participate_in_construction(parent, tag, hints ? hints->get("patchbay_cid").value_or("") : "");
}

// Creates the duplicate and copies the attributes. The copy callbacks run before the construction begins, because they
// may return an error (MPI-5.0, 7.7.2).
int prepare_duplicate(Communicator& parent, const Info* info, Ref<Communicator>* comm) {
    *comm = child_of(parent, parent.group, info);
    (*comm)->topology = parent.topology;
    if (!(*comm)->hints && parent.coll->is_shared()) {
        // Neither communicator has hints, so that a selection would give the same result.
        (*comm)->coll = parent.coll;
        parent.coll->retain();
    }
    return parent.attributes.copy_to(
        (*comm)->attributes, AttributeOwner::communicator, to_handle(&parent), to_handle(comm->get()));
}

} // namespace

Ref<Communicator> child_of(Communicator& parent, Ref<Group> group, const Info* info) {
    auto comm = Ref<Communicator>::adopt(new Communicator);
    // Only a group that was constructed for this communicator may still have another session, and no other object uses
    // such a group.
    if (const SessionId id = Session::id(parent.session); group->session != id && !group->is_predefined()) {
        group->session = id;
    }
    take_group(*comm, std::move(group));
    comm->instance = parent.instance;
    comm->session = parent.session;
    comm->jobs = parent.jobs;
    std::unique_lock lock(parent.mutex);
    comm->errhandler = parent.errhandler;
    if (info != nullptr || parent.hints) {
        lock.unlock();
        comm->hints = hints_for_child(parent, info);
    }
    return comm;
}

Ref<Communicator> without_parent(Instance& instance, Ref<Group> group, const Info* info, Ref<Errhandler> errhandler) {
    auto comm = Ref<Communicator>::adopt(new Communicator);
    comm->instance = &instance;
    comm->session = group->session.session;
    comm->errhandler = std::move(errhandler);
    take_group(*comm, std::move(group));
    if (info != nullptr) {
        set_hints(*comm, *info);
    }
    return comm;
}

// What the callbacks return has no effect: the error of the construction is reported.
void delete_copied_attributes(Communicator& comm) {
    static_cast<void>(comm.attributes.erase_all(AttributeOwner::communicator, to_handle(&comm)));
}

int finish(Construction& construction, Communicator** made) noexcept {
    const int code = construction.complete();
    *made = code == MPI_SUCCESS ? construction.take().detach() : nullptr;
    return code;
}

OperationKey next_operation_key(
    Instance& instance, const Group& members, std::string_view tag, std::string_view kind, std::uint32_t least) {
    OperationKey key{std::string(tag), members_of(members, instance.runtime().jobs()), 0};
    if (!kind.empty()) {
        // A string tag of a user contains no null character.
        key.string_tag = key.string_tag + '\0' + std::string(kind);
    }
    key.sequence = instance.process_state().next_sequence(key.string_tag, key.members, least);
    return key;
}

int build_over_bootstrap(
    Ref<Communicator> comm, Ref<Group> members, std::string_view tag, std::string_view kind, Communicator** made) {
    Instance& instance = *comm->instance;
    OperationKey key = next_operation_key(instance, *members, tag, kind);
    auto reduction = std::make_unique<ExchangeReduction>(instance.bootstrap(), std::move(members), std::move(key));
    Construction construction(instance, std::move(comm), nullptr, std::move(reduction));
    return finish(construction, made);
}

int duplicate(Communicator& parent, const Info* info, Communicator** made) {
    if (parent.view != nullptr) {
        return threads::duplicate(parent, info, made);
    }
    Ref<Communicator> comm;
    const int refused = prepare_duplicate(parent, info, &comm);
    const std::unique_ptr<Construction> construction = duplication(parent, comm);
    construction->refuse_with(refused);
    const int code = finish(*construction, made);
    if (code != MPI_SUCCESS) {
        delete_copied_attributes(*comm);
    }
    return code;
}

int duplicate_for_library(Communicator& parent, Communicator** made) {
    if (parent.view != nullptr) {
        return threads::create(parent, parent.group, nullptr, nullptr, MPI_SUCCESS, made);
    }
    Ref<Communicator> comm = child_of(parent, parent.group, nullptr);
    comm->of_library = true;
    if (!comm->hints && parent.topology == nullptr && parent.coll->is_shared()) {
        comm->coll = parent.coll;
        parent.coll->retain();
    }
    return build(parent, std::move(comm), true, next_construction_tag(parent), made);
}

int start_duplicate(Communicator& parent, const Info* info, MPI_Comm* made, Request** request) {
    if (parent.view != nullptr) {
        return threads::start_duplicate(parent, info, made, request);
    }
    Ref<Communicator> comm;
    const int refused = prepare_duplicate(parent, info, &comm);
    std::unique_ptr<Construction> construction = duplication(parent, comm);
    construction->refuse_with(refused);
    ConstructionQueue& queue =
        parent.session != nullptr ? *parent.session->constructions : parent.instance->constructions();
    const int code = queue.add(std::move(construction), made, request);
    if (code != MPI_SUCCESS) {
        delete_copied_attributes(*comm);
    }
    if (refused == MPI_SUCCESS || code != MPI_SUCCESS) {
        return code;
    }
    // The program has no request: the construction, which gives it nothing, goes on in polls.
    std::exchange(*request, nullptr)->recycle();
    return refused;
}

int create_from_subgroup(Communicator& parent, Group& group, Communicator** made) {
    if (parent.is_inter) {
        return create_from_subgroups(parent, group, made);
    }
    return create_with_topology(parent, group, nullptr, nullptr, MPI_SUCCESS, made);
}

int create_with_topology(Communicator& parent, Group& group, std::shared_ptr<const Topology> topology, const Info* info,
    int refused, Communicator** made) {
    if (parent.view != nullptr) {
        return threads::create(parent, Ref<Group>::share(&group), std::move(topology), info, refused, made);
    }
    const int status_tag = next_construction_tag(parent); // taken by all members, so that their next tags are equal
    const int tag = next_construction_tag(parent);
    *made = nullptr;
    const bool member = group.rank() != MPI_UNDEFINED;
    if (refused == MPI_SUCCESS && member && !parent.instance->communicators().has_free(1)) {
        refused = MPI_ERR_NO_SPACE;
    }
    refused = reduce_refusals(parent, refused, status_tag);
    if (refused != MPI_SUCCESS || !member) {
        const int code = participate(parent, tag, info);
        return refused != MPI_SUCCESS ? refused : code;
    }
    Ref<Communicator> comm = child_of(parent, Ref<Group>::share(&group), info);
    comm->topology = std::move(topology);
    return build(parent, std::move(comm), true, tag, made);
}

int create_group(Communicator& parent, Group& group, int tag, Communicator** made) {
    *made = nullptr;
    if (group.rank() == MPI_UNDEFINED) {
        return MPI_SUCCESS;
    }
    if (parent.view != nullptr) {
        return threads::create_group(parent, group, tag, made);
    }
    return build(
        parent, child_of(parent, Ref<Group>::share(&group), nullptr), false, group_construction_tag(tag), made);
}

int split(Communicator& parent, int color, int key, const Info* info, Communicator** made) {
    return split_by_color(parent, color == MPI_UNDEFINED ? no_color : color, key, info, made);
}

int split_by_color(Communicator& parent, std::int64_t color, int key, const Info* info, Communicator** made) {
    if (parent.is_inter) {
        return split_inter(parent, color, key, info, made);
    }
    *made = nullptr;
    if (parent.view != nullptr) {
        return threads::split(parent, color, key, info, made);
    }
    std::vector<SplitArguments> arguments;
    if (const int code = gather_split_arguments(parent, own_split_arguments(parent, color, key, 1), &arguments);
        code != MPI_SUCCESS) {
        return code;
    }
    const int tag = next_construction_tag(parent);
    if (color == no_color) {
        return participate(parent, tag, info);
    }
    if (const int refused = refusal_of(arguments, color); refused != MPI_SUCCESS) {
        participate(parent, tag, info);
        return refused;
    }
    Ref<Group> group = Group::list(members_with_color(*parent.group, arguments, color), parent.group->self());
    return build(parent, child_of(parent, std::move(group), info), true, tag, made);
}

int free_communicator(Communicator& comm) noexcept {
    const int code = comm.attributes.erase_all(AttributeOwner::communicator, to_handle(&comm));
    if (code == MPI_SUCCESS) {
        comm.freed = true;
        SendBuffer::detach_from(comm.send_buffer);
        Ref<Communicator>::adopt(&comm).reset();
    }
    return code;
}

std::int32_t pending_operations(const Communicator& comm) noexcept {
    const std::int32_t references = comm.references(); // before the others: a request that ends then counts as one
    return references - (comm.freed ? 0 : 1) - Request::idle_references(comm) - comm.complete_references();
}

bool has_no_communication(const Communicator& comm) noexcept {
    Request::check_all(comm);
    return pending_operations(comm) == 0;
}

int disconnect(Communicator& comm) {
    if (comm.view != nullptr) {
        return threads::disconnect(comm);
    }
    comm.pml->drain_communicator(comm); // before the synchronization, because a peer may not poll any more after it
    if (const int code = synchronize_finalize(comm); code != MPI_SUCCESS) {
        return code;
    }
    wait_until(comm.instance->progress(), [&comm] { return has_no_communication(comm); });
    return free_communicator(comm);
}

int compare(const Communicator& a, const Communicator& b) noexcept {
    if (&a == &b) {
        return MPI_IDENT;
    }
    if (a.is_inter != b.is_inter) {
        return MPI_UNEQUAL;
    }
    const int local = a.group->compare(*b.group);
    const int remote = a.is_inter ? a.remote_group->compare(*b.remote_group) : local;
    if (local == MPI_UNEQUAL || remote == MPI_UNEQUAL) {
        return MPI_UNEQUAL;
    }
    return local == MPI_IDENT && remote == MPI_IDENT ? MPI_CONGRUENT : MPI_SIMILAR;
}

int create_from_group(Instance& instance, Group& group, std::string_view tag, const Info* info,
    Ref<Errhandler> errhandler, Communicator** made) {
    *made = nullptr;
    if (group.rank() == MPI_UNDEFINED) {
        return MPI_SUCCESS;
    }
    auto comm = without_parent(instance, Ref<Group>::share(&group), info, std::move(errhandler));
    return build_over_bootstrap(std::move(comm), Ref<Group>::share(&group), tag, {}, made);
}

int make_predefined(Instance& instance, const PredefinedCommunicator& what, Ref<Group> group, MPI_Errhandler errhandler,
    Communicator** made) {
    auto comm = Ref<Communicator>::adopt(new Communicator);
    comm->set_predefined(reinterpret_cast<std::uintptr_t>(what.handle));
    comm->name = what.name;
    take_group(*comm, std::move(group));
    comm->instance = &instance;
    comm->errhandler = Errhandler::predefined(errhandler);
    comm->index = what.index;
    comm->id = new cid::UniformCid(what.index, what.id, what.active, what.last);
    if (const int code = open_communicator(instance, *comm); code != MPI_SUCCESS) {
        return code;
    }
    *made = comm.detach();
    return MPI_SUCCESS;
}

int make_bootstrap_communicator(Instance& instance, Ref<Group> group, Communicator** made) {
    auto comm = Ref<Communicator>::adopt(new Communicator);
    comm->name = "of the bootstrap exchange";
    comm->of_library = true;
    take_group(*comm, std::move(group));
    comm->instance = &instance;
    comm->errhandler = Errhandler::predefined(MPI_ERRORS_ARE_FATAL);
    comm->index = cid::IndexTable::bootstrap;
    comm->id = new cid::UniformCid(comm->index);
    comm->pml = &instance.pml();
    instance.communicators().bind(comm->index, comm.get());
    if (const int code = comm->pml->add_comm(*comm); code != MPI_SUCCESS) {
        return code;
    }
    *made = comm.detach();
    return MPI_SUCCESS;
}

void Communicator::destroy(Communicator* comm) noexcept {
    {
        const std::lock_guard lock(bound_objects_mutex());
        comm->is_ending = true;
    }
    remove_from_session(*comm);
    if (comm->coll_data != nullptr || comm->outstanding != nullptr) {
        coll::Engine::forget(*comm);
    }
    if (comm->coll != nullptr) {
        comm->coll->release();
    }
    // The exCID is removed first, so that no message finds the communicator any more: the pml searches the directory
    // with its lock held, and remove_comm takes that lock.
    const cid::ExtendedId* id = comm->id != nullptr ? comm->id->extended_id() : nullptr;
    if (id != nullptr) {
        comm->instance->directory().unbind(*id);
    }
    if (comm->pml_data != nullptr) {
        comm->pml->remove_comm(*comm);
    }
    if (comm->id != nullptr) {
        cid::IndexTable& indices = comm->instance->communicators();
        delete comm->id;
        {
            const std::lock_guard lock(bound_objects_mutex());
            indices.bind(comm->index, nullptr);
        }
        if (comm->index >= cid::IndexTable::predefined) {
            indices.release(comm->index);
        }
    }
    Ref<Communicator>::adopt(comm->local_comm).reset();
    delete comm;
}

void destroy_all(Instance& instance) noexcept {
    const std::vector<Communicator*> left = instance.communicators().all();
    for (Communicator* comm : left) {
        comm->local_comm = nullptr; // it is in the list itself
    }
    for (Communicator* comm : left) {
        Communicator::destroy(comm);
    }
}

} // namespace patchbay
