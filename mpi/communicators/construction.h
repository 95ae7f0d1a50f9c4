// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/communicators/parent_reduction.h"

#include <memory>
#include <optional>
#include <string>

namespace patchbay {

class Instance;

// One new communicator under way, from "its members are known" to "it can be used". Blocking constructors wait for it,
// nonblocking ones leave it to the progress engine.
class Construction {
public:
    // From one intracommunicator: `comm` has its groups, rank and hints, and inherits the rest from `parent`. `tag` is
    // its own on the parent. `collective`: all members of the parent are in this call.
    Construction(Instance& instance, Ref<Communicator> comm, Communicator& parent, bool collective, int tag);
    // By other means: `members` agrees over the members of the new communicator. `parent`: the intercommunicator all
    // of whose members make this call, so that children can be named after it, or null. `key` as in
    // cid::NewCommunicator.
    Construction(Instance& instance, Ref<Communicator> comm, Communicator* parent,
        std::unique_ptr<cid::GroupReduction> members, const cid::ConstructorKey& key = {});
    // Before begin(), for an intercommunicator: its local_comm is made at the same time.
    void add_local_side(std::unique_ptr<Construction> local) noexcept { _local = std::move(local); }
    ~Construction();
    Construction(const Construction&) = delete;
    Construction& operator=(const Construction&) = delete;

    // Chooses who names it, and begins. Does not block. Returns an MPI code.
    int begin() noexcept;
    // Would advance() get any further now? Only looks.
    bool ready() const noexcept;
    // Goes as far as it can without blocking. true: finished, and with *code MPI_SUCCESS take() has the communicator.
    bool advance(int* code) noexcept;
    Ref<Communicator> take() noexcept { return std::move(_comm); }
    // Whose error handler hears of what goes wrong; null: nobody's.
    Communicator* parent() const noexcept { return _parent.get(); }
    // Begins, and waits until it is finished. Returns an MPI code.
    int complete() noexcept;

private:
    Instance& _instance;
    Ref<Communicator> _parent; // it may be freed meanwhile
    Ref<Communicator> _comm;
    std::optional<ParentReduction> _members; // of the two constructors' means of agreeing, those in use
    std::optional<ParentReduction> _whole;
    std::unique_ptr<cid::GroupReduction> _other;
    cid::NewCommunicator _what;
    std::unique_ptr<cid::Allocation> _allocation; // uses all of the above
    std::unique_ptr<Construction> _local;         // until it is finished
    int _local_code = MPI_SUCCESS;                // why there is no local_comm
    bool _open = false;                           // the communicator is named, and its pml knows it
};

// The part in a constructor of a process that will be in no new communicator, though it is a member of the parent:
// `only` is what the constructor's info says of patchbay_cid. May block. Returns an MPI code.
int participate_in_construction(Communicator& parent, int tag, const std::string& only);

// The last step, also of the predefined communicators: `comm` has its index and name; its pml learns of it and its
// collectives are chosen. Returns an MPI code.
int open_communicator(Instance& instance, Communicator& comm);

} // namespace patchbay
