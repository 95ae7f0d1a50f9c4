// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/instance/operation_key.h"
#include "object/communicator.h"

#include <cstdint>
#include <string_view>

namespace patchbay {

// The groups that MPI_Intercomm_create_from_groups joins tell each other whether they have an error, before all of
// their processes wait for each other: the first process of each group takes part. A group that fails before all of its
// processes know the remote group has its leader withdraw, which knows it.
class ErrorExchange {
public:
    // Collective over the local group of `comm`, once `remote` is known; all pass the same `tag`. `least`: the number()
    // of the leader; the leader passes 0, and constructs it once. It may have withdrawn in earlier calls, of which the
    // others do not know.
    ErrorExchange(Communicator& comm, const Group& remote, std::string_view tag, std::uint32_t least);
    // The same in all processes of both groups. false: there is nothing to tell, because all find the error themselves,
    // or no way, because the processes of several jobs have no communicator yet.
    bool exists() const noexcept { return bool(_pair); }
    // How many exchanges with this tag there have been between these groups.
    std::uint32_t number() const noexcept { return _key.sequence; }
    // Called by the first process of the local group, where the exchange exists. Returns the higher one of `own` and
    // the error of the remote group, or an error of the exchange.
    int run(int own);
    // Called by the leader in place of run() in the first process: the remote group gets an error.
    void withdraw();

private:
    Communicator& _comm;
    Ref<Group> _pair; // null: there is no exchange
    OperationKey _key{};
};

} // namespace patchbay
