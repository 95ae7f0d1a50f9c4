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
    Instance* get() const noexcept { return _instance; } // nullptr: there is none now

private:
    std::unique_lock<std::mutex> _lock;
    Instance* _instance;
};

} // namespace patchbay
