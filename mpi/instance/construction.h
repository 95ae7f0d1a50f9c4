// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/instance/group_agreement.h"

#include <memory>

namespace patchbay {

class Instance;

// One new communicator under way, from "its members are known" to "it can be used". Blocking constructors wait for it,
// nonblocking ones leave it to the progress engine.
class Construction {
public:
    // `comm` has its groups, rank and hints, and inherits the rest from `parent`. `tag` is its own on the parent.
    Construction(Instance& instance, Ref<Communicator> comm, Communicator& parent, bool whole_parent, int tag);
    ~Construction();

    // Chooses who names it, and begins. Does not block. Returns an MPI code.
    int begin() noexcept;
    // Would advance() get any further now? Only looks.
    bool ready() const noexcept { return _assignment->ready(); }
    // Goes as far as it can without blocking. true: finished, and with *code MPI_SUCCESS take() has the communicator.
    bool advance(int* code) noexcept;
    Ref<Communicator> take() noexcept { return std::move(_comm); }
    Communicator& parent() const noexcept { return *_parent; }

private:
    Instance& _instance;
    Ref<Communicator> _parent; // it may be freed meanwhile
    Ref<Communicator> _comm;
    GroupAgreement _agreement;
    cid::NewCommunicator _what;
    std::unique_ptr<cid::Assignment> _assignment; // uses all of the above
};

// The last step, also of the predefined communicators: `comm` has its index and name; its pml learns of it and its
// collectives are chosen. Returns an MPI code.
int open_communicator(Instance& instance, Communicator& comm) noexcept;

} // namespace patchbay
