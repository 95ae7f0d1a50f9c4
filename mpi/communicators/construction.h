// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/communicators/parent_reduction.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace patchbay {

class Instance;

// The construction of one communicator: it begins when the groups are known, and ends when the communicator can be
// used. A blocking constructor waits for the end; a nonblocking one leaves the construction to the progress engine.
class Construction final : private cid::RefusalSender {
public:
    // A construction on an intracommunicator. `comm` has its groups, rank and hints, and inherits the rest from
    // `parent`. No other construction on the parent has the same `tag`. `collective`: all members of the parent call
    // the constructor.
    Construction(Instance& instance, Ref<Communicator> comm, Communicator& parent, bool collective, int tag);
    // All other constructions. `members` is a reduction over the members of the new communicator. `parent` is the
    // intercommunicator of which all members call the constructor, so that the exCID can be derived from its exCID, or
    // null. `key` as in cid::NewCommunicator.
    Construction(Instance& instance, Ref<Communicator> comm, Communicator* parent,
        std::unique_ptr<cid::GroupReduction> members, const cid::ConstructorKey& key = {});
    // Called before begin() for an intercommunicator, whose local_comm is constructed at the same time.
    void add_local_side(std::unique_ptr<Construction> local) noexcept { _local = std::move(local); }
    ~Construction() override;
    Construction(const Construction&) = delete;
    Construction& operator=(const Construction&) = delete;

    // Called before begin() where this process has failed already, and the others cannot know it: it takes its part in
    // the construction nevertheless, so that the next one of all members has the same number, and refuses the result.
    void refuse_with(int code) noexcept { _refusal = code; }
    // Selects the cid module, and begins the CID allocation. Does not block. Returns an MPI code.
    int begin() noexcept;
    // Whether advance() would make progress now. Makes none itself.
    bool ready() const noexcept;
    // Makes as much progress as it can without blocking. true: finished; if *code is MPI_SUCCESS, take() returns the
    // communicator.
    bool advance(int* code) noexcept;
    Ref<Communicator> take() noexcept { return std::move(_comm); }
    Communicator& comm() const noexcept { return *_comm; } // before take()
    // The communicator to whose error handler errors are reported; may be null.
    Communicator* parent() const noexcept { return _parent; }
    // Begins the construction, and waits until it is finished. Returns an MPI code.
    int complete() noexcept;

    // The parts of a construction. Each waits for messages of its own, and goes on as soon as these are complete: the
    // members need not be in the same step of one part when they are in the same step of the other.
    enum class Part : std::uint8_t { allocation, local_side };
    // Makes as much progress with one part as it can without blocking. true: the part is finished, or does not exist.
    bool advance(Part part) noexcept;
    // As cid::GroupReduction::attach(), after advance(part) has returned false.
    int attach(Part part, Continuation& next) noexcept;
    // When all parts are finished: opens the communicator. If it returns MPI_SUCCESS, take() returns the communicator.
    int open() noexcept;

private:
    void refuse(const cid::ExtendedId& id, int code) noexcept override;

    Instance& _instance;
    Communicator* const _parent; // it exists as long as this: a call is using it, or ConstructionQueue has a reference
    Ref<Communicator> _comm;
    std::optional<ParentReduction> _members;     // over the members, in a construction on an intracommunicator
    std::optional<ParentReduction> _whole;       // over the parent, where it has other processes too
    std::unique_ptr<cid::GroupReduction> _other; // over the members, in all other constructions
    cid::NewCommunicator _what;
    std::unique_ptr<cid::Allocation> _allocation; // refers to the members above
    std::unique_ptr<Construction> _local;         // of local_comm; null when it is finished
    int _refusal = MPI_SUCCESS;                   // of this process
    int _code = MPI_SUCCESS;                      // the error of the CID allocation
    int _local_code = MPI_SUCCESS;                // the error that left no local_comm
    bool _allocated = false;                      // the CID allocation is finished
    bool _refused = false;                        // the error came from another member, which sends it to all others
    bool _local_refused = false;                  // the same for local_comm
};

// Non-member participation: a member of the parent that will be in no new communicator calls this. `only` is the value
// of patchbay_cid in the constructor's info. May block. Returns an MPI code.
int participate_in_construction(Communicator& parent, int tag, const std::string& only);

// The last step of a construction, also of the predefined communicators. `comm` has its index and id. Adds it to the
// pml and selects its collectives. Returns an MPI code.
int open_communicator(Instance& instance, Communicator& comm);

} // namespace patchbay
