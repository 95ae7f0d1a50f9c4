// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/split.h"

#include "core/base/out_of_memory.h"
#include "frameworks/coll/coll.h"
#include "mpi/instance/instance.h"

#include <algorithm>

namespace patchbay {

int gather_split_arguments(Communicator& parent, SplitArguments mine, std::vector<SplitArguments>* arguments) {
    const Datatype& type = *to_object<Datatype>(MPI_INT64_T);
    coll::Module& module = (*parent.coll)[coll::Function::allgather];
    const int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        arguments->resize(std::size_t(parent.size));
        return MPI_SUCCESS;
    });
    if (code != MPI_SUCCESS) {
        // The other members wait for this one's message. Without a buffer the call fails in all of them.
        module.allgather(&mine, 2, type, nullptr, 0, type, parent);
        return code;
    }
    return module.allgather(&mine, 2, type, arguments->data(), 2, type, parent);
}

SplitArguments own_split_arguments(const Communicator& parent, std::int64_t color, int key, std::uint32_t indices) {
    const bool possible = color == no_color || parent.instance->communicators().has_free(indices);
    return {color, key, possible ? MPI_SUCCESS : MPI_ERR_NO_SPACE};
}

int refusal_of(const std::vector<SplitArguments>& arguments, std::int64_t color) noexcept {
    const auto refused = std::find_if(arguments.begin(), arguments.end(),
        [color](const SplitArguments& one) { return one.color == color && one.refused != MPI_SUCCESS; });
    return refused != arguments.end() ? refused->refused : MPI_SUCCESS;
}

std::vector<ProcessId> members_with_color(
    const Group& group, const std::vector<SplitArguments>& arguments, std::int64_t color) {
    std::vector<int> ranks;
    for (int rank = 0; rank < group.size(); ++rank) {
        if (arguments[std::size_t(rank)].color == color) {
            ranks.push_back(rank);
        }
    }
    std::stable_sort(ranks.begin(), ranks.end(),
        [&](int a, int b) { return arguments[std::size_t(a)].key < arguments[std::size_t(b)].key; });
    std::vector<ProcessId> members;
    members.reserve(ranks.size());
    for (const int rank : ranks) {
        members.push_back(group.process(rank));
    }
    return members;
}

} // namespace patchbay
