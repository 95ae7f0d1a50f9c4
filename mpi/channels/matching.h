// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/channels/messages.h"

#include <map>
#include <memory>
#include <string_view>

namespace patchbay {

class Channels;
class Communicator;

// Finds the receives for the proposals that arrive, by the rules of MPI_Start of the two requests (MPI-5.0, 3.5): for
// each communicator in the order in which the receives were bound, and for each sender in the order in which it has
// bound its sends. All functions are called with the lock of Channels held.
class Matching {
public:
    // A receive that looks for its send.
    class Receive {
    public:
        virtual bool accepts(int source, int tag) const noexcept = 0;
        // It is not in the table any more. Not called before add() has returned.
        virtual void match(const Proposal& proposal, int source) noexcept = 0;
        // The same: it will never match.
        virtual void fail(int code, std::string_view text) noexcept = 0;

    protected:
        ~Receive() = default;
    };

    explicit Matching(Channels& channels) noexcept;
    ~Matching();

    // Has the receive matched, perhaps by the next poll. MPI code; after an error it is not in the table. What follows
    // needs no memory: where there is none, a proposal that fits no receive yet keeps those that come after it waiting.
    int add(Communicator& comm, Receive& receive) noexcept;
    // The receive ends for another reason. false: it has matched before.
    bool remove(Communicator& comm, Receive& receive) noexcept;
    // The library goes down.
    void give_up() noexcept;

private:
    class Table;
    friend class Table;

    Channels& _channels;
    std::map<Communicator*, std::unique_ptr<Table>> _tables; // of communicators where something waits
};

} // namespace patchbay
