// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/thread_contexts.h"

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

// The contribution of the member that takes the contexts for all.
ContextWords first_contribution(Activation& activation, bool inter) noexcept {
    const std::uint32_t own = activation.take_context();
    const std::uint32_t local_comm = inter ? activation.take_context() : 0;
    const bool taken = own != 0 && (local_comm != 0 || !inter);
    return taken ? ContextWords{MPI_SUCCESS, own, local_comm} : ContextWords{MPI_ERR_NO_SPACE, 0, 0};
}

} // namespace

ContextWords contribution_of(const Communicator& parent, bool inter, int refused) noexcept {
    return parent.rank == 0 && refused == MPI_SUCCESS ? first_contribution(*parent.view->activation, inter)
                                                      : ContextWords{std::uint64_t(refused), 0, 0};
}

int result_of(const ContextWords& reduced, Contexts* contexts) noexcept {
    const int refused = int(reduced[0]);
    *contexts = {std::uint32_t(reduced[1]), std::uint32_t(reduced[2])};
    return refused == MPI_ERR_NO_SPACE && contexts->own == 0
        ? note_cause(refused, "the threads have constructed as many communicators as there are contexts")
        : refused;
}

int reduce_contexts(Communicator& parent, int refused, Contexts* contexts) noexcept {
    const ContextWords mine = contribution_of(parent, parent.is_inter, refused);
    if (parent.is_inter) {
        return unless_out_of_memory(MPI_ERR_NO_MEM,
            [&] { return reduce_contexts_by(*bridge_over(parent), *parent.local_comm, mine, contexts); });
    }
    ContextWords words{};
    const int code = (*parent.coll)[coll::Function::allreduce].allreduce(
        mine.data(), words.data(), mine.size(), word_type(), *to_object<Op>(MPI_MAX), parent);
    return code != MPI_SUCCESS ? code : result_of(words, contexts);
}

int reduce_contexts_by(
    cid::GroupReduction& reduction, const Communicator& local, ContextWords words, Contexts* contexts) noexcept {
    const int code = complete(local, reduction, words, maximum);
    return code != MPI_SUCCESS ? code : result_of(words, contexts);
}

int share_context(Communicator& parent, const Group& group, int tag, std::uint32_t* context) noexcept {
    ContextWords words{};
    const auto rank_of = [&](int member) { return parent.group->rank_of(group.process(member)); };
    int code = MPI_SUCCESS;
    if (group.rank() != 0) {
        code = parent.pml->recv(words.data(), words.size(), word_type(), rank_of(0), tag, parent, nullptr);
    } else {
        words = first_contribution(*parent.view->activation, false);
        for (int member = 1; member < group.size() && code == MPI_SUCCESS; ++member) {
            code = parent.pml->send(
                words.data(), words.size(), word_type(), rank_of(member), tag, pml::SendMode::standard, parent);
        }
    }
    Contexts contexts;
    code = code != MPI_SUCCESS ? code : result_of(words, &contexts);
    *context = contexts.own;
    return code;
}

std::unique_ptr<cid::GroupReduction> context_reduction(Communicator& parent) {
    if (parent.is_inter) {
        return bridge_over(parent);
    }
    return std::make_unique<ParentReduction>(parent, *parent.group, next_construction_tag(parent));
}

} // namespace patchbay::threads
