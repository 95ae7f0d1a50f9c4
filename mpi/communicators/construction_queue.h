// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"
#include "mpi/communicators/construction.h"

#include <list>
#include <mutex>
#include <vector>

namespace patchbay {

class Instance;

// The nonblocking constructors under way. A poller advances them; it is registered only while there are any. Each
// session has a queue, and the instance has one for the world model.
class ConstructionQueue {
public:
    explicit ConstructionQueue(Instance& instance) noexcept
        : _instance(instance) {}
    ~ConstructionQueue();

    // Begins a construction. At its completion the new handle is written to *result, and *request is complete. Returns
    // an MPI code.
    int add(std::unique_ptr<Construction> construction, MPI_Comm* result, Request** request) noexcept;
    // Removes all constructions, when the session or the library is finalized before they are complete. Afterwards no
    // thread is in the poller.
    void clear() noexcept;

private:
    class Entry;
    static int poll(void* context) noexcept;
    int advance_all() noexcept;

    Instance& _instance;
    std::mutex _mutex; // protects the list and the poller; never held during a construction
    std::list<Entry*> _active;
    std::vector<Entry*> _snapshot; // memory for a poll, reserved by add(), because a poll cannot report an error
    bool _used = false;            // whether a thread may have called the poller
    bool _advancing = false;       // only one thread polls, but sending a message may poll recursively
    PollerHandle _poller;
};

} // namespace patchbay
