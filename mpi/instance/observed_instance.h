// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mutex>

namespace [[gnu::visibility("default")]] patchbay {

class Instance;

// The instance for a thread of a tool that has no lease on it: while this object exists, another thread that finalizes
// the library waits before it destroys the runtime and the progress engine. The thread must not initialize or finalize
// the library meanwhile, and holds no lock that MPI_Finalize may take.
class ObservedInstance {
public:
    ObservedInstance() noexcept;
    // nullptr: there is none now. Another thread than that of MPI calls needs an object of this class.
    static Instance* get() noexcept;

private:
    std::unique_lock<std::mutex> _lock;
};

// Held by a tool from the look whether an object that it has bound exists to the end of its use, and where a
// communicator or a session ceases to exist for tools. Held for moments; no function of the program is called with it.
std::mutex& bound_objects_mutex() noexcept;

} // namespace patchbay
