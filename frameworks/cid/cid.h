// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/component.h"
#include "frameworks/cid/derivation.h"
#include "frameworks/cid/extended_id.h"
#include "object/communicator.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace [[gnu::visibility("default")]] patchbay {

class Instance;

// cid: names a communicator, and is the one service that turns a peer's local index into ours.
//
// Every process keeps its communicators in a table; the slot number is the local index that travels in the match
// header. A component decides which slot a new communicator gets, and whether all members have the same one. Where they
// have not, the communicator has an exCID, by which peers find it until they have told each other their indices.
// Chosen per communicator: info key `patchbay_cid` on the constructor, else parameter `cid`.
//
// Nothing here blocks, because MPI_Comm_idup must not: a CID allocation is begun, and then advanced whenever it can get
// further, by the constructor that waits or by the progress engine.
namespace cid {

inline constexpr std::uint32_t interface_version = 5;

// How the members of the communicator to be can agree on something before it exists: reductions over exactly these
// members, given by the constructor. One reduction at a time; all members start the same ones in the same order, of at
// most `most_words` words.
class GroupReduction {
public:
    virtual ~GroupReduction() = default;
    enum class Operation : std::uint8_t {
        maximum,
        minimum,
        bit_and,
        // The words of the first member become everybody's; those of all others are 0 before. Nobody waits for a member
        // that has nothing to say, so that it costs half of the others. Two groups have two first members: the higher
        // words count.
        first,
        // One word, which every member offers: that of one of them, whoever it is, becomes everybody's. Where members
        // share memory nobody waits for anybody.
        any,
    };
    static constexpr std::size_t most_words = 72;
    // Begins to reduce `words` in place; they stay where they are until advance() says that it is finished. Returns an
    // MPI code.
    virtual int start(std::span<std::uint64_t> words, Operation operation) noexcept = 0;
    // Would advance() get any further now? Only looks.
    virtual bool ready() const noexcept = 0;
    // Goes as far as it can without blocking. true: finished, and *code is the result.
    virtual bool advance(int* code) noexcept = 0;
    // By the constructor of a process that fails: nobody shall wait for what it would have said. Nothing happens once a
    // reduction has begun, or where others cannot be told.
    virtual void withdraw() noexcept {}
    // Can withdraw() tell them? Where it cannot, a member that fails must still take part.
    virtual bool can_withdraw() const noexcept { return false; }
    // A name for the call that no other call ever has, the same at all members; empty: there is none.
    virtual std::string name() const { return {}; }
};

// Which constructor of which communicator is at work; exact, and the same at all members.
struct ConstructorKey {
    ExtendedId parent;    // by its index where it has no exCID: pgcid is `indexed` then
    std::int64_t tag = 0; // differs from those of all others that may be under way from this parent

    static constexpr std::uint64_t indexed = ~std::uint64_t(0); // which is no PGCID
    std::string text() const { return parent.text() + ' ' + std::to_string(tag); }
};

// What is being made.
struct NewCommunicator {
    Communicator& comm;      // groups, rank and size are set, index is not
    Communicator* parent;    // nullptr: from a group (sessions), or from two parents (intercommunicators)
    GroupReduction& members; // over the members of the communicator to be
    // Over all members of the parent, all of which are in this call of a constructor (dup, split, create), also those
    // that will be in no new communicator; nullptr: only the new members call (create_group), or there is no parent.
    GroupReduction* whole;
    ConstructorKey key; // where the call is told by that, and not by the group reduction's name

    // Whether this process is the one of all members that speaks for them, in both groups of an intercommunicator.
    bool leads() const noexcept {
        return comm.rank == 0 && (!comm.is_inter || comm.group->process(0) < comm.remote_group->process(0));
    }
};

// What a component keeps with a communicator: its name and what it knows about peers' indices. Deleted with the
// communicator, before its index is free again. peer_index() and learned() are called by the pml, with its lock held.
class CommunicatorId {
public:
    virtual ~CommunicatorId() = default;
    // The index by which `rank` knows this communicator; nullopt: not known yet, the pml then sends its extended
    // header. Components whose indices are globally equal never answer nullopt.
    virtual std::optional<std::uint16_t> peer_index(int rank) const noexcept = 0;
    // A peer has told us its index.
    virtual void learned(int rank, std::uint16_t index) noexcept = 0;
    // The name that the extended header carries, in the directory while the communicator lives; nullptr: it has none,
    // because its index is the same everywhere.
    virtual const ExtendedId* extended_id() const noexcept { return nullptr; }
    // How children can be named after it; nullptr: not at all.
    virtual Derivation* derivation() noexcept { return nullptr; }
};

// Equal at all members, although the parent's index need not be.
inline ConstructorKey constructor_key(const Communicator& parent, int tag) noexcept {
    const ExtendedId* id = parent.id != nullptr ? parent.id->extended_id() : nullptr;
    return {id != nullptr ? *id : ExtendedId{ConstructorKey::indexed, parent.index}, tag};
}

// A CID allocation under way. Destroying one that is not finished gives back what it reserved.
class Allocation {
public:
    virtual ~Allocation() = default;
    // Would advance() get any further now? Only looks.
    virtual bool ready() const noexcept = 0;
    // Goes as far as it can without blocking. true: finished; with *code MPI_SUCCESS an index is reserved in the table,
    // and comm.index and comm.id are set. Called on one thread at a time.
    virtual bool advance(int* code) noexcept = 0;
};

class Module {
public:
    virtual ~Module() = default;
    // Begins to name a communicator: every member does. What `what` refers to outlives the result. Does not block.
    // nullptr: finished already, with *code as in Allocation::advance.
    virtual std::unique_ptr<Allocation> begin(const NewCommunicator& what, int* code) noexcept = 0;
    // The same for a process that takes part in the constructor and will be in no new communicator (MPI_UNDEFINED, not
    // in the group of MPI_Comm_create). `whole` as in NewCommunicator. nullptr: there is nothing to do for it.
    virtual std::unique_ptr<Allocation> participate(Communicator& parent, GroupReduction& whole) noexcept {
        (void)parent, (void)whole;
        return nullptr;
    }
};

class Component : public patchbay::Component {
public:
    // Which module would name communicators, and how much does it want to (0..100)? Local; asked once per instance and
    // again for each constructor whose info says `patchbay_cid`.
    struct Choice {
        int priority;
        Module* module; // owned by the component
    };
    virtual Result<Choice> query(Instance& instance) noexcept = 0;
};

} // namespace cid
} // namespace patchbay
