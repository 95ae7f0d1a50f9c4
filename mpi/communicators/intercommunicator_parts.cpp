// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/intercommunicator_parts.h"

#include "core/runtime/runtime.h"
#include "mpi/communicators/leader_exchange.h"
#include "mpi/communicators/new_communicator.h"
#include "mpi/instance/instance.h"
#include "object/session.h"

#include <array>
#include <bit>

namespace patchbay {

void set_remote_group(Communicator& comm, Ref<Group> group) noexcept {
    comm.is_inter = true;
    comm.remote_size = group->size();
    if (!group->is_predefined()) {
        group->session = Session::id(comm.session);
    }
    comm.remote_group = group.get();
    comm.own_remote_group = std::move(group);
}

void remove_collectives_hint(Communicator& comm) {
    if (comm.hints) {
        comm.hints->erase("patchbay_coll");
    }
}

std::unique_ptr<Construction> local_side(Communicator& parent, const Ref<Group>& group, bool collective, int tag) {
    auto comm = child_of(parent, group, nullptr);
    comm->is_local_side = true;
    return std::make_unique<Construction>(*parent.instance, std::move(comm), parent, collective, tag);
}

const JobTable& jobs_of(const Communicator& comm) noexcept {
    return comm.instance->runtime().jobs();
}

Ref<Group> read_remote_group(const Communicator& local, std::span<const std::uint64_t> words,
    std::shared_ptr<const JobReferences>* references, int* code) {
    Instance& instance = *local.instance;
    const AddJob add = [&instance](std::string_view nspace) { return instance.add_job(nspace); };
    return read_group(words, local.group->self(), instance.runtime().jobs(), add, references, code);
}

void keep_jobs(Communicator& comm, std::shared_ptr<const JobReferences> references) {
    if (references == nullptr || comm.jobs == nullptr) {
        comm.jobs = references == nullptr ? comm.jobs : std::move(references);
        return;
    }
    auto both = std::make_shared<JobReferences>(comm.instance->runtime().jobs());
    both->add(std::move(references));
    both->add(comm.jobs);
    comm.jobs = std::move(both);
}

int exchange_split_arguments(Communicator& inter, const Bridge& bridge, const std::vector<SplitArguments>& arguments,
    std::vector<SplitArguments>* remote) {
    using Pair = std::array<std::uint64_t, 2>;
    Words mine;
    for (const SplitArguments& one : arguments) {
        const auto words = std::bit_cast<Pair>(one);
        mine.insert(mine.end(), words.begin(), words.end());
    }
    Words theirs;
    const int code = exchange_groups(*inter.local_comm, 0, bridge, mine, &theirs).code;
    for (std::size_t i = 0; code == MPI_SUCCESS && i < theirs.size(); i += 2) {
        remote->push_back(std::bit_cast<SplitArguments>(Pair{theirs[i], theirs[i + 1]}));
    }
    return code;
}

bool is_first(const Communicator& inter) {
    return jobs_of(inter).precedes(inter.group->process(0), inter.remote_group->process(0));
}

} // namespace patchbay
