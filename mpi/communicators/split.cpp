// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/split.h"

#include "core/base/out_of_memory.h"
#include "frameworks/coll/coll.h"
#include "mpi/instance/instance.h"

#include <algorithm>

namespace patchbay {

int gather_votes(Communicator& parent, Vote mine, std::vector<Vote>* votes) {
    const Datatype& type = *to_object<Datatype>(MPI_INT64_T);
    coll::Module& module = (*parent.coll)[coll::Function::allgather];
    const int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        votes->resize(std::size_t(parent.size));
        return MPI_SUCCESS;
    });
    if (code != MPI_SUCCESS) {
        module.allgather(&mine, 2, type, nullptr, 0, type, parent); // the others wait for it, and fail too
        return code;
    }
    return module.allgather(&mine, 2, type, votes->data(), 2, type, parent);
}

Vote vote(const Communicator& parent, std::int64_t color, int key, std::uint32_t indices) {
    const bool possible = color == no_color || parent.instance->communicators().has_free(indices);
    return {color, key, possible ? MPI_SUCCESS : MPI_ERR_NO_SPACE};
}

int refusal_of(const std::vector<Vote>& votes, std::int64_t color) noexcept {
    const auto refused = std::find_if(votes.begin(), votes.end(),
        [color](const Vote& vote) { return vote.color == color && vote.refused != MPI_SUCCESS; });
    return refused != votes.end() ? refused->refused : MPI_SUCCESS;
}

std::vector<ProcessId> members_with_color(const Group& group, const std::vector<Vote>& votes, std::int64_t color) {
    std::vector<int> ranks;
    for (int rank = 0; rank < group.size(); ++rank) {
        if (votes[std::size_t(rank)].color == color) {
            ranks.push_back(rank);
        }
    }
    std::stable_sort(ranks.begin(), ranks.end(),
        [&](int a, int b) { return votes[std::size_t(a)].key < votes[std::size_t(b)].key; });
    std::vector<ProcessId> members;
    members.reserve(ranks.size());
    for (const int rank : ranks) {
        members.push_back(group.process(rank));
    }
    return members;
}

} // namespace patchbay
