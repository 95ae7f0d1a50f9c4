// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/split.h"

#include "frameworks/coll/coll.h"

#include <algorithm>

namespace patchbay {

namespace {

struct Vote {
    std::int64_t color;
    std::int64_t key;
};
static_assert(sizeof(Vote) == 2 * sizeof(std::int64_t));

} // namespace

int members_with_color(Communicator& parent, std::int64_t color, int key, std::vector<ProcessId>* members) noexcept {
    const Datatype& type = *to_object<Datatype>(MPI_INT64_T);
    const Vote mine{color, key};
    std::vector<Vote> choices(std::size_t(parent.size));
    const int code =
        (*parent.coll)[coll::Function::allgather].allgather(&mine, 2, type, choices.data(), 2, type, parent);
    if (code != MPI_SUCCESS || color == no_color) {
        return code;
    }
    std::vector<int> ranks;
    for (int rank = 0; rank < parent.size; ++rank) {
        if (choices[std::size_t(rank)].color == color) {
            ranks.push_back(rank);
        }
    }
    std::stable_sort(ranks.begin(), ranks.end(),
        [&](int a, int b) { return choices[std::size_t(a)].key < choices[std::size_t(b)].key; });
    members->reserve(ranks.size());
    for (const int rank : ranks) {
        members->push_back(parent.group->process(rank));
    }
    return MPI_SUCCESS;
}

} // namespace patchbay
