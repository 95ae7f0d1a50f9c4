// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/list.h"
#include "mpi/communicators/construction.h"
#include "object/request.h"

#include <mutex>

namespace patchbay {

class Instance;

// The nonblocking constructors under way. Each is a request that attaches a continuation to the messages for which a
// part of its construction waits; when these are complete, a poll advances that part. Each session has a queue, and the
// instance has one for the world model.
class ConstructionQueue : public Continuation {
public:
    explicit ConstructionQueue(Instance& instance) noexcept;
    ~ConstructionQueue();

    // Begins a construction. At its completion the new handle is written to *result, and *request is complete. Returns
    // an MPI code.
    int add(std::unique_ptr<Construction> construction, MPI_Comm* result, Request** request) noexcept;
    // Ends all constructions with MPI_ERR_OTHER, when the session or the library is finalized before they are complete.
    // Afterwards no thread advances one.
    void clear() noexcept;

private:
    class Entry;
    struct Place {
        Entry* entry;
        Link<Place> link{};
    };

    void withdraw_all() noexcept;
    bool empty() noexcept;

    Instance& _instance;
    std::mutex _mutex; // protects the members below; never held during a construction
    List<Place, &Place::link> _active;
    bool _used = false; // whether another thread may have advanced a construction
};

} // namespace patchbay
