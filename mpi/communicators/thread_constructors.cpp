// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/thread_constructors.h"

#include "core/progress/waiter.h"
#include "frameworks/coll/coll.h"
#include "frameworks/coll/selector.h"
#include "mpi/communicators/communicators.h"
#include "mpi/communicators/construction_tags.h"
#include "mpi/communicators/hints.h"
#include "mpi/communicators/intercommunicator_parts.h"
#include "mpi/communicators/new_communicator.h"
#include "mpi/communicators/split.h"
#include "mpi/communicators/thread_intercommunicators.h"
#include "mpi/instance/instance.h"
#include "object/error_code.h"

namespace patchbay::threads {

namespace {

// A communicator of some members of an intracommunicator.
int construct_part(Communicator& parent, Ref<Communicator> comm, std::uint32_t context, Communicator** made) {
    auto members = places_of(*comm->group, *parent.group, parent.view->members);
    return construct(parent, std::move(comm), context, std::move(members), made);
}

} // namespace

std::shared_ptr<const Members> places_of(
    const Group& some, const Group& all, const std::shared_ptr<const Members>& places) {
    if (&some == &all) {
        return places;
    }
    auto members = std::make_shared<Members>();
    members->reserve(std::size_t(some.size()));
    for (int rank = 0; rank < some.size(); ++rank) {
        members->push_back((*places)[std::size_t(all.rank_of(some.process(rank)))]);
    }
    return members;
}

int construct(Communicator& parent, Ref<Communicator> comm, std::uint32_t context,
    std::shared_ptr<const Members> members, Communicator** made) {
    const View& of_parent = *parent.view;
    comm->progress = parent.progress;
    comm->pml = parent.pml;
    comm->view = new View(*comm, of_parent.engine, of_parent.activation, context, std::move(members));
    if (const int code = open(*comm); code != MPI_SUCCESS) {
        return code;
    }
    *made = comm.detach();
    return MPI_SUCCESS;
}

int open(Communicator& comm) {
    comm.pml_data = comm.view;
    if (const int code = comm.pml->add_comm(comm); code != MPI_SUCCESS) {
        return code;
    }
    Instance& instance = *comm.instance;
    auto team = comm.is_inter ? nullptr : comm.view->team();
    auto table = instance.coll_selector().select(instance, comm, hint_of_new(comm, "patchbay_coll"), team);
    if (!table) {
        return note_cause(table.error());
    }
    comm.coll = *table;
    return MPI_SUCCESS;
}

int prepare_duplicate(Communicator& parent, const Info* info, Ref<Communicator>* comm) {
    *comm = child_of(parent, parent.group, info);
    (*comm)->topology = parent.topology;
    if (parent.is_inter) {
        set_remote_group(**comm, parent.own_remote_group);
    }
    return parent.attributes.copy_to(
        (*comm)->attributes, AttributeOwner::communicator, to_handle(&parent), to_handle(comm->get()));
}

int complete_duplicate(Communicator& parent, Ref<Communicator> comm, const Contexts& contexts, Communicator** made) {
    return parent.is_inter ? construct_inter(*parent.local_comm, std::move(comm), parent.view->members, contexts, made)
                           : construct(parent, std::move(comm), contexts.own, parent.view->members, made);
}

int duplicate(Communicator& parent, const Info* info, Communicator** made) {
    *made = nullptr;
    Ref<Communicator> comm;
    const int copied = prepare_duplicate(parent, info, &comm);
    Contexts contexts;
    int code = reduce_contexts(parent, copied, &contexts);
    if (code == MPI_SUCCESS) {
        code = complete_duplicate(parent, comm, contexts, made);
    }
    if (code != MPI_SUCCESS) {
        delete_copied_attributes(*comm);
    }
    return code;
}

int create(Communicator& parent, Ref<Group> group, std::shared_ptr<const Topology> topology, const Info* info,
    int refused, Communicator** made) {
    *made = nullptr;
    Contexts contexts;
    const int code = reduce_contexts(parent, refused, &contexts);
    if (code != MPI_SUCCESS || group->rank() == MPI_UNDEFINED) {
        return code;
    }
    Ref<Communicator> comm = child_of(parent, std::move(group), info);
    comm->topology = std::move(topology);
    return construct_part(parent, std::move(comm), contexts.own, made);
}

int create_group(Communicator& parent, Group& group, int tag, Communicator** made) {
    std::uint32_t context = 0;
    const int code = share_context(parent, group, group_construction_tag(tag), &context);
    return code != MPI_SUCCESS
        ? code
        : construct_part(parent, child_of(parent, Ref<Group>::share(&group), nullptr), context, made);
}

int split(Communicator& parent, std::int64_t color, int key, const Info* info, Communicator** made) {
    std::vector<SplitArguments> arguments;
    int code = gather_split_arguments(parent, {color, key, MPI_SUCCESS}, &arguments);
    Contexts contexts;
    code = code != MPI_SUCCESS ? code : reduce_contexts(parent, MPI_SUCCESS, &contexts);
    if (code != MPI_SUCCESS || color == no_color) {
        return code;
    }
    Ref<Group> group = Group::list(members_with_color(*parent.group, arguments, color), parent.group->self());
    return construct_part(parent, child_of(parent, std::move(group), info), contexts.own, made);
}

// A thread whose requests are complete has nothing to do for the others any more.
int disconnect(Communicator& comm) {
    if (const int code = (*comm.coll)[coll::Function::barrier].barrier(comm); code != MPI_SUCCESS) {
        return code;
    }
    wait_until(*comm.progress, [&comm] { return has_no_communication(comm); });
    return free_communicator(comm);
}

} // namespace patchbay::threads
