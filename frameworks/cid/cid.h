// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/component.h"
#include "core/progress/continuation.h"
#include "frameworks/cid/derivation.h"
#include "frameworks/cid/extended_id.h"
#include "object/communicator.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace [[gnu::visibility("default")]] patchbay {

class Context;

// cid: allocates the identifier of a communicator (CID), and is the one service that maps a peer's local index to the
// index in this process.
//
// Every process keeps its communicators in a table; the slot number is the local index that the match header carries.
// A component decides which slot a new communicator gets, and whether all members have the same one. Where they do not,
// the communicator has an exCID, by which peers find it until they have exchanged their indices.
// The component is chosen per communicator: by info key `patchbay_cid` of the constructor, otherwise by parameter
// `cid`.
//
// Several allocations may be under way at one time, of communicators with some members in common, in a different order
// in each process (MPI_Comm_idup, several threads). A component whose proposals depend on the free indices must see to
// it that they do not take each other's indices for ever: cid/consensus and cid/mask let one of them go first.
//
// No function blocks, because MPI_Comm_idup must not: an allocation is begun, and then advanced whenever it can make
// progress, by the constructor that waits or by the progress engine.
namespace cid {

inline constexpr std::uint32_t interface_version = 12;

// Group reduction: reduces a few words over exactly the members of a communicator that is under construction. The
// constructor provides it. One reduction is under way at a time; all members start the same reductions in the same
// order, of at most `most_words` words.
class GroupReduction {
public:
    virtual ~GroupReduction() = default;
    enum class Operation : std::uint8_t {
        maximum,
        minimum,
        bit_and,
        // A broadcast: all members get the words of the first member; the other members pass zeros. No message goes up
        // to the first member, so that it costs half as much as the other operations. An intercommunicator has two
        // groups and so two first members: all members get the maximum of both.
        first,
        // One word, which every member passes: all members get that of one of them, and it does not matter of which.
        // Where all members share memory, none waits for another.
        any,
    };
    static constexpr std::size_t most_words = 72;
    // Begins to reduce `words` in place; the caller keeps them there until advance() has returned true. Returns an MPI
    // code. An error of one member, also that its start() fails, ends the reduction in every member that needs its
    // words; advance() returns it when the member has taken part to the end. After an error no other reduction is
    // started.
    virtual int start(std::span<std::uint64_t> words, Operation operation) noexcept = 0;
    // Whether advance() would make progress now. Makes none itself.
    virtual bool ready() const noexcept = 0;
    // Makes as much progress as it can without blocking. true: the reduction is finished, and *code is the result.
    virtual bool advance(int* code) noexcept = 0;
    // In place of asking ready() again and again: called by a nonblocking constructor after advance() has returned
    // false. Attaches `next`, which is open, to what ready() waits for. A reduction that is destroyed before detaches
    // it. MPI_ERR_NO_MEM: nothing is attached. Reductions that no nonblocking constructor uses have no such function.
    virtual int attach(Continuation& next) noexcept {
        (void)next;
        return MPI_ERR_INTERN;
    }
    // Called by the constructor in a process that fails, so that no other member waits for its contribution. Has no
    // effect once a reduction has begun, or where the other members cannot be reached.
    virtual void withdraw() noexcept {}
    // Called by the constructor in a process that fails before it begins a reduction. true: it has withdrawn, and the
    // constructor fails in all members. false: nothing has been done, because some of them may have the communicator
    // already; the process takes part, and refuses the communicator afterwards.
    virtual bool withdraw_from_all() noexcept { return false; }
    // Whether withdraw() reaches them. Where it does not, a member that fails must still take part.
    virtual bool can_withdraw() const noexcept { return false; }
    // A name of this call of the constructor, which is the same in all members and which no other call ever has; empty:
    // there is none.
    virtual std::string name() const { return {}; }
};

// Identifies one call of a constructor of a communicator: the same in all members, and different for any two calls that
// may be under way at one time.
struct ConstructorKey {
    ExtendedId parent;    // where the parent has no exCID: its index, and `indexed` as the PGCID
    std::int64_t tag = 0; // different for all constructors that may be under way on this parent

    static constexpr std::uint64_t indexed = ~std::uint64_t(0); // which is no PGCID
    std::string text() const { return parent.text() + ' ' + std::to_string(tag); }
};

// Sends the error of a process that cannot be in a communicator to the other members. The constructor provides it.
class RefusalSender {
public:
    virtual ~RefusalSender() = default;
    // Called by an allocation in a process that fails for a reason of its own, with the exCID that the communicator has
    // in the other members, which have not learnt of the error from a reduction: they have the communicator already, or
    // get it without another message. Their constructors, or their operations on the communicator, return `code`
    // (pml::Module::refuse). At most once for each allocation; on the thread that calls begin() or advance(). Does not
    // block.
    virtual void refuse(const ExtendedId& id, int code) noexcept = 0;
};

// The communicator under construction, and what its allocation may use.
struct NewCommunicator {
    Communicator& comm;      // groups, rank and size are set, index is not
    Communicator* parent;    // nullptr: from a group (sessions), or from two parents (intercommunicators)
    GroupReduction& members; // over the members of the communicator to be
    // Over all members of the parent, where all of them call this constructor (dup, split, create), also those that
    // will be in no new communicator; nullptr: only the new members call it (create_group), or there is no parent.
    GroupReduction* whole;
    ConstructorKey key;                // identifies the call where the group reduction has no name
    RefusalSender* refusals = nullptr; // nullptr: the other members cannot be reached
    // Of an intercommunicator: whether the local group is the first one in an order that is the same in all processes.
    bool in_first_group = true;
    // The error of this process, which takes part nevertheless, or MPI_SUCCESS. A component that gives all members the
    // same index lets the allocation fail in all of them. Where there is an exCID, the constructor refuses the
    // communicator after the allocation.
    int refusal = MPI_SUCCESS;

    // Whether this process is the leader: the one of all members, of both groups of an intercommunicator, that chooses
    // what only one member may choose.
    bool is_leader() const noexcept { return comm.rank == 0 && in_first_group; }
};

// What a component keeps for one communicator: its identifier and the table of its peers' CIDs. Deleted with the
// communicator, before its index is free again. The pml calls peer_index() and learned() with its own lock held.
class CommunicatorId {
public:
    virtual ~CommunicatorId() = default;
    // The index that process `rank` has for this communicator; nullopt: not known yet, and the pml sends the extended
    // header. Components whose indices are equal in all processes never return nullopt.
    virtual std::optional<std::uint16_t> peer_index(int rank) const noexcept = 0;
    // The pml has received the index that process `rank` has for this communicator.
    virtual void learned(int rank, std::uint16_t index) noexcept = 0;
    // The exCID that the extended header carries; the directory holds it as long as the communicator exists. nullptr:
    // there is none, because the index is the same in all processes.
    virtual const ExtendedId* extended_id() const noexcept { return nullptr; }
    // Derives the exCIDs of children from this communicator's own; nullptr: none can be derived.
    virtual Derivation* derivation() noexcept { return nullptr; }
};

// The key of a constructor that is called on `parent`: the same in all members, although the parent's index need not
// be.
inline ConstructorKey constructor_key(const Communicator& parent, int tag) noexcept {
    const ExtendedId* id = parent.id != nullptr ? parent.id->extended_id() : nullptr;
    return {id != nullptr ? *id : ExtendedId{ConstructorKey::indexed, parent.index}, tag};
}

// A CID allocation under way. Its destructor releases what an unfinished one has reserved.
class Allocation {
public:
    virtual ~Allocation() = default;
    // Whether advance() would make progress now. Makes none itself.
    virtual bool ready() const noexcept = 0;
    // Makes as much progress as it can without blocking. true: finished; when *code is MPI_SUCCESS an index is reserved
    // in the table, and comm.index and comm.id are set. Called by one thread at a time.
    virtual bool advance(int* code) noexcept = 0;
    // As GroupReduction::attach().
    virtual int attach(Continuation& next) noexcept = 0;
};

class Module {
public:
    virtual ~Module() = default;
    // Begins to allocate the identifier of a communicator; every member calls this. What `what` refers to outlives the
    // result. Does not block. nullptr: finished already, with *code as in Allocation::advance.
    virtual std::unique_ptr<Allocation> begin(const NewCommunicator& what, int* code) noexcept = 0;
    // Non-member participation: the same for a process that calls the constructor and will be in no new communicator
    // (MPI_UNDEFINED, or not in the group of MPI_Comm_create). `whole` as in NewCommunicator. nullptr: this process has
    // nothing to contribute.
    virtual std::unique_ptr<Allocation> participate(Communicator& parent, GroupReduction& whole) noexcept {
        (void)parent, (void)whole;
        return nullptr;
    }
};

class Component : public patchbay::Component {
public:
    // Offers a module with its priority (0..100). Local. Called once per instance, and again for each constructor whose
    // info has the key `patchbay_cid`.
    struct Choice {
        int priority;
        Module* module; // owned by the component
    };
    virtual Result<Choice> query(Context& context) = 0;
};

} // namespace cid
} // namespace patchbay
