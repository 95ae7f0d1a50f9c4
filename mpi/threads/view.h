// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/thread_team.h"
#include "frameworks/pml/pml.h"
#include "mpi/threads/request.h"

#include <memory>
#include <vector>

namespace patchbay::threads {

class Activation;

// Where a rank of a communicator is.
struct Member {
    Engine* engine; // of a thread of this process; nullptr: in another process
    int process;    // its rank in the parent of the thread communicator
    int thread;     // its number in its process
};
using Members = std::vector<Member>;

// What one thread has of one communicator whose ranks are threads. Messages name ranks of the remote group, so that of
// an intercommunicator has the places of that group's members: a destination is found by its rank, as in an
// intracommunicator, and the source in an envelope is the sender's rank in its own group, which is the receiver's
// remote group. Both groups have the same context.
class View final : public pml::CommData {
public:
    View(Communicator& comm, Engine& engine, std::shared_ptr<Activation> activation, std::uint32_t context,
        std::shared_ptr<const Members> members) noexcept
        : comm(comm),
          engine(engine),
          activation(std::move(activation)),
          context(context),
          members(std::move(members)) {}

    // Of an intracommunicator, the members that are threads of this process: one object for all of them, each of which
    // calls this once. Throws std::bad_alloc.
    std::shared_ptr<coll::ThreadTeam> team() const;

    const Member& member(int rank) const noexcept { return (*members)[std::size_t(rank)]; }

    // The first posted receive that matches, which is not posted any more then; nullptr: there is none.
    RecvRequest* match(const Envelope& envelope) noexcept {
        for (RecvRequest* request = posted.first(); request != nullptr; request = posted.next(*request)) {
            if (request->accepts(envelope)) {
                posted.erase(*request);
                request->posted = false;
                return request;
            }
        }
        return nullptr;
    }
    // The first unexpected message that such a receive matches; nullptr: there is none.
    Unexpected* find(int source, int tag) const noexcept {
        for (Unexpected* one = unexpected.first(); one != nullptr; one = unexpected.next(*one)) {
            if (matches(source, tag, one->envelope)) {
                return one;
            }
        }
        return nullptr;
    }

    Communicator& comm;
    Engine& engine;
    const std::shared_ptr<Activation> activation;
    const std::uint32_t context;
    const std::shared_ptr<const Members> members; // by their rank in the remote group
    List<RecvRequest, &RecvRequest::posted_link> posted;
    List<Unexpected, &Unexpected::link> unexpected;
};

} // namespace patchbay::threads
