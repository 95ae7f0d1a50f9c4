// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/communicators.h"

#include "core/progress/waiter.h"
#include "frameworks/cid/equal_name.h"
#include "mpi/instance/construction_queue.h"
#include "mpi/instance/construction_tags.h"
#include "mpi/instance/hints.h"
#include "mpi/instance/instance.h"
#include "mpi/instance/send_buffer.h"
#include "mpi/instance/session.h"
#include "mpi/instance/split.h"

namespace patchbay {

namespace {

// A communicator of these members; what does not follow from them it has from its parent.
Ref<Communicator> child_of(Communicator& parent, Ref<Group> group, const Info* info) {
    auto comm = Ref<Communicator>::adopt(new Communicator);
    if (!group->is_predefined()) {
        group->session = parent.session;
    }
    comm->rank = group->rank();
    comm->size = group->size();
    comm->remote_size = comm->size;
    comm->remote_group = group;
    comm->group = std::move(group);
    comm->instance = parent.instance;
    comm->session = parent.session;
    comm->hints = hints_for_child(parent, info);
    std::lock_guard lock(parent.mutex);
    comm->errhandler = parent.errhandler;
    return comm;
}

int build(Communicator& parent, Ref<Communicator> comm, bool whole_parent, int tag, Communicator** made) {
    Instance& instance = *parent.instance;
    Construction construction(instance, std::move(comm), parent, whole_parent, tag);
    int code = construction.begin();
    while (code == MPI_SUCCESS && !construction.advance(&code)) {
        wait_until(instance.progress(), [&] { return construction.ready(); });
    }
    *made = code == MPI_SUCCESS ? construction.take().detach() : nullptr;
    return code;
}

int next_tag(Communicator& parent) noexcept {
    return construction_tag(parent.constructions.fetch_add(1, std::memory_order_relaxed));
}

// The duplicate with its attributes: their callbacks run first, because they may refuse (MPI-5.0, 7.7.2).
int prepare_duplicate(Communicator& parent, const Info* info, Ref<Communicator>* comm) {
    *comm = child_of(parent, parent.group, info);
    return parent.attributes.copy_to((*comm)->attributes, AttributeOwner::communicator, to_handle(&parent),
                                     to_handle(comm->get()));
}

} // namespace

int duplicate(Communicator& parent, const Info* info, Communicator** made) noexcept {
    Ref<Communicator> comm;
    if (const int code = prepare_duplicate(parent, info, &comm); code != MPI_SUCCESS) {
        return code;
    }
    return build(parent, std::move(comm), true, next_tag(parent), made);
}

int start_duplicate(Communicator& parent, const Info* info, MPI_Comm* made, Request** request) noexcept {
    Ref<Communicator> comm;
    if (const int code = prepare_duplicate(parent, info, &comm); code != MPI_SUCCESS) {
        return code;
    }
    auto construction =
        std::make_unique<Construction>(*parent.instance, std::move(comm), parent, true, next_tag(parent));
    return parent.instance->constructions().add(std::move(construction), made, request);
}

int create_from_subgroup(Communicator& parent, Group& group, Communicator** made) noexcept {
    const int tag = next_tag(parent); // all members count, so that they agree on the next one
    *made = nullptr;
    if (group.rank() == MPI_UNDEFINED) {
        return MPI_SUCCESS;
    }
    return build(parent, child_of(parent, Ref<Group>::share(&group), nullptr), group.size() == parent.size, tag, made);
}

int create_group(Communicator& parent, Group& group, int tag, Communicator** made) noexcept {
    *made = nullptr;
    if (group.rank() == MPI_UNDEFINED) {
        return MPI_SUCCESS;
    }
    return build(parent, child_of(parent, Ref<Group>::share(&group), nullptr), false, group_construction_tag(tag),
                 made);
}

int split(Communicator& parent, int color, int key, const Info* info, Communicator** made) noexcept {
    return split_by_color(parent, color == MPI_UNDEFINED ? no_color : color, key, info, made);
}

int split_by_color(Communicator& parent, std::int64_t color, int key, const Info* info, Communicator** made) noexcept {
    *made = nullptr;
    std::vector<ProcessId> members;
    if (const int code = members_with_color(parent, color, key, &members); code != MPI_SUCCESS) {
        return code;
    }
    const int tag = next_tag(parent);
    if (color == no_color) {
        return MPI_SUCCESS;
    }
    Ref<Group> group = Group::list(std::move(members), parent.group->self());
    return build(parent, child_of(parent, std::move(group), info), true, tag, made);
}

int free_communicator(Communicator& comm) noexcept {
    const int code = comm.attributes.erase_all(AttributeOwner::communicator, to_handle(&comm));
    if (code == MPI_SUCCESS) {
        if (comm.send_buffer != nullptr) { // as if detached
            comm.send_buffer->flush();
            comm.send_buffer.reset();
        }
        Ref<Communicator>::adopt(&comm).reset();
    }
    return code;
}

int disconnect(Communicator& comm) noexcept {
    comm.pml->drain();
    if (const int code = agree_to_leave(comm); code != MPI_SUCCESS) {
        return code;
    }
    // What is pending holds a reference; the handle holds the last one.
    wait_until(comm.instance->progress(), [&] { return comm.references() == 1; });
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

int make_predefined(Instance& instance, const PredefinedCommunicator& what, Ref<Group> group,
                    Communicator** made) noexcept {
    auto comm = Ref<Communicator>::adopt(new Communicator);
    comm->set_predefined(reinterpret_cast<std::uintptr_t>(what.handle));
    comm->name = what.name;
    comm->rank = group->rank();
    comm->size = group->size();
    comm->remote_size = comm->size;
    comm->remote_group = group;
    comm->group = std::move(group);
    comm->instance = &instance;
    comm->errhandler = Errhandler::predefined(what.errhandler);
    comm->index = what.index;
    comm->name_service = new cid::EqualName(what.index);
    if (const int code = open_communicator(instance, *comm); code != MPI_SUCCESS) {
        return code;
    }
    *made = comm.detach();
    return MPI_SUCCESS;
}

void Communicator::destroy(Communicator* comm) noexcept {
    leave_session(*comm);
    delete comm->coll;
    if (comm->pml_data != nullptr) {
        comm->pml->remove_comm(*comm);
    }
    if (comm->name_service != nullptr) {
        cid::IndexTable& indices = comm->instance->communicators();
        delete comm->name_service;
        indices.bind(comm->index, nullptr);
        if (comm->index >= cid::IndexTable::predefined) {
            indices.release(comm->index);
        }
    }
    delete comm;
}

void destroy_all(Instance& instance) noexcept {
    for (Communicator* comm : instance.communicators().all()) {
        Communicator::destroy(comm);
    }
}

} // namespace patchbay
