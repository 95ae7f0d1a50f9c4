// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"
#include "mpi/communicators/construction.h"

#include <list>
#include <mutex>
#include <vector>

namespace patchbay {

class Instance;

// The nonblocking constructors of communicators that are under way: a poller moves them on, registered only while there
// are any. Each session has one, and the instance has one for the world model.
class ConstructionQueue {
public:
    explicit ConstructionQueue(Instance& instance) noexcept
        : _instance(instance) {}
    ~ConstructionQueue();

    // Begins one. At completion the new handle is written to *result, and *request is complete. Returns an MPI code.
    int add(std::unique_ptr<Construction> construction, MPI_Comm* result, Request** request) noexcept;
    // Forgets all of them, when the session or the library ends with some never completed. Afterwards no thread is in
    // the poller.
    void clear() noexcept;

private:
    class Entry;
    static int poll(void* context) noexcept;
    int advance_all() noexcept;

    Instance& _instance;
    std::mutex _mutex; // the list and the poller; held for moments
    std::list<Entry*> _active;
    std::vector<Entry*> _snapshot; // memory for one poll, which cannot report that there is none
    bool _used = false;            // a thread may have begun a poll
    bool _walking = false;         // only one thread polls, but sending a message may poll again
    PollerHandle _poller;
};

} // namespace patchbay
