// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/thread_agreement.h"

#include "core/base/out_of_memory.h"
#include "frameworks/coll/coll.h"
#include "mpi/communicators/bridge_reduction.h"
#include "mpi/communicators/construction_tags.h"
#include "mpi/communicators/parent_reduction.h"
#include "mpi/threads/activation.h"
#include "object/error_cause.h"

namespace patchbay::threads {

namespace {

constexpr auto maximum = cid::GroupReduction::Operation::maximum;

// The part of the member that takes the contexts for all.
Agreement first_part(Activation& activation, bool inter) noexcept {
    const std::uint32_t own = activation.take_context();
    const std::uint32_t local_comm = inter ? activation.take_context() : 0;
    const bool taken = own != 0 && (local_comm != 0 || !inter);
    return taken ? Agreement{MPI_SUCCESS, own, local_comm} : Agreement{MPI_ERR_NO_SPACE, 0, 0};
}

} // namespace

Agreement part_of(const Communicator& parent, bool inter, int refused) noexcept {
    return parent.rank == 0 && refused == MPI_SUCCESS ? first_part(*parent.view->activation, inter)
                                                      : Agreement{std::uint64_t(refused), 0, 0};
}

int result_of(const Agreement& agreed, Contexts* contexts) noexcept {
    const int refused = int(agreed[0]);
    *contexts = {std::uint32_t(agreed[1]), std::uint32_t(agreed[2])};
    return refused == MPI_ERR_NO_SPACE && contexts->own == 0
        ? note_cause(refused, "the threads have constructed as many communicators as there are contexts")
        : refused;
}

int agree(Communicator& parent, int refused, Contexts* contexts) noexcept {
    const Agreement mine = part_of(parent, parent.is_inter, refused);
    if (parent.is_inter) {
        return unless_out_of_memory(
            MPI_ERR_NO_MEM, [&] { return agree_by(*bridge_over(parent), *parent.local_comm, mine, contexts); });
    }
    Agreement agreed{};
    const int code = (*parent.coll)[coll::Function::allreduce].allreduce(
        mine.data(), agreed.data(), mine.size(), word_type(), *to_object<Op>(MPI_MAX), parent);
    return code != MPI_SUCCESS ? code : result_of(agreed, contexts);
}

int agree_in_group(Communicator& parent, const Group& group, int tag, std::uint32_t* context) noexcept {
    Agreement agreed{};
    const auto rank_of = [&](int member) { return parent.group->rank_of(group.process(member)); };
    int code = MPI_SUCCESS;
    if (group.rank() != 0) {
        code = parent.pml->recv(agreed.data(), agreed.size(), word_type(), rank_of(0), tag, parent, nullptr);
    } else {
        agreed = first_part(*parent.view->activation, false);
        for (int member = 1; member < group.size() && code == MPI_SUCCESS; ++member) {
            code = parent.pml->send(
                agreed.data(), agreed.size(), word_type(), rank_of(member), tag, pml::SendMode::standard, parent);
        }
    }
    Contexts contexts;
    code = code != MPI_SUCCESS ? code : result_of(agreed, &contexts);
    *context = contexts.own;
    return code;
}

int agree_by(cid::GroupReduction& reduction, const Communicator& local, Agreement part, Contexts* contexts) noexcept {
    const int code = complete(local, reduction, part, maximum);
    return code != MPI_SUCCESS ? code : result_of(part, contexts);
}

std::unique_ptr<cid::GroupReduction> agreement_over(Communicator& parent) {
    if (parent.is_inter) {
        return bridge_over(parent);
    }
    return std::make_unique<ParentReduction>(parent, *parent.group, next_construction_tag(parent));
}

} // namespace patchbay::threads
