// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/leader_exchange.h"

#include "frameworks/coll/coll.h"
#include "frameworks/coll/transfer.h"
#include "mpi/communicators/construction_tags.h"

#include <array>

namespace patchbay {

Refusal distribute(Communicator& local, int leader, const Refusal& refusal, Words* words) {
    coll::Module& module = (*local.coll)[coll::Function::bcast];
    std::array<std::uint64_t, 3> head{std::uint64_t(refusal.code), std::uint64_t(refusal.by), words->size()};
    if (const int code = module.bcast(head.data(), head.size(), word_type(), leader, local); code != MPI_SUCCESS) {
        return {code};
    }
    const Refusal result{int(head[0]), Refusal::By(head[1])};
    words->resize(result.happened() ? 0 : head[2]);
    if (words->empty()) {
        return result;
    }
    return {module.bcast(words->data(), MPI_Count(words->size()), word_type(), leader, local)};
}

Refusal exchange_between_leaders(const Bridge& bridge, const Refusal& own, const Words& mine, Words* theirs) {
    coll::Transfer transfer(*bridge.comm, bridge.tag);
    const std::array<std::uint64_t, 2> sent{std::uint64_t(own.code), mine.size()};
    std::array<std::uint64_t, 2> received{};
    const int code = transfer.exchange(
        sent.data(), sent.size(), word_type(), bridge.rank, received.data(), received.size(), word_type(), bridge.rank);
    if (own.happened()) {
        return own;
    }
    if (code != MPI_SUCCESS) {
        return {code};
    }
    if (received[0] != MPI_SUCCESS) {
        return {int(received[0]), Refusal::By::other_group};
    }
    theirs->resize(received[1]);
    return {transfer.exchange(mine.data(), MPI_Count(mine.size()), word_type(), bridge.rank, theirs->data(),
        MPI_Count(theirs->size()), word_type(), bridge.rank)};
}

Refusal exchange_groups(Communicator& local, int leader, const Bridge& bridge, const Words& mine, Words* theirs) {
    const Refusal refusal = local.rank == leader ? exchange_between_leaders(bridge, {}, mine, theirs) : Refusal{};
    return distribute(local, leader, refusal, theirs);
}

GroupArguments compare_arguments(Communicator& local, int leader, int refused) {
    constexpr std::uint64_t by_leader = std::uint64_t(1) << 32;
    const bool is_leader = local.rank == leader;
    std::array<std::uint64_t, 3> words{std::uint64_t(leader + 1), ~std::uint64_t(leader + 1),
        std::uint64_t(refused) | (is_leader && refused != MPI_SUCCESS ? by_leader : 0)};
    ParentReduction reduction(local, *local.group, next_construction_tag(local));
    const int code = complete(local, reduction, words, cid::GroupReduction::Operation::maximum);
    if (code != MPI_SUCCESS) {
        return {-1, {code}};
    }
    GroupArguments result{int(words[0]) - 1, {}};
    if (words[2] != MPI_SUCCESS) {
        result.refusal = {int(words[2] & ~by_leader),
            (words[2] & by_leader) != 0 ? Refusal::By::own_leader : Refusal::By::own_member};
    } else if (words[0] != ~words[1]) {
        result.refusal = {MPI_ERR_RANK, Refusal::By::different_leaders};
    }
    return result;
}

} // namespace patchbay
