// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/split.h"

#include "frameworks/coll/coll.h"

#include <algorithm>

namespace patchbay {

int gather_votes(Communicator& parent, Vote mine, std::vector<Vote>* votes) noexcept {
    const Datatype& type = *to_object<Datatype>(MPI_INT64_T);
    votes->resize(std::size_t(parent.size));
    return (*parent.coll)[coll::Function::allgather].allgather(&mine, 2, type, votes->data(), 2, type, parent);
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
