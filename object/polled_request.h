// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"
#include "object/request.h"

#include <atomic>

namespace [[gnu::visibility("default")]] patchbay {

// A request that is complete when something else is, which is looked at once per poll while the request is active: the
// two halves of a sendrecv, the messages in a buffer. Made with new; deletes itself.
class PolledRequest : public Request {
public:
    int start() noexcept override;
    int cancel() noexcept override { return MPI_SUCCESS; }
    void recycle() noexcept final;

protected:
    explicit PolledRequest(Progress& waits) noexcept { progress = &waits; }

    // Is it over? Then also sets status and error, and gives back what it held. Called on any polling thread; must
    // neither block nor poll. Not called again after it said true, until the next watch().
    virtual bool finished() noexcept = 0;

    // Active from now on, or complete at once.
    void watch() noexcept;

private:
    enum class End : std::uint8_t { open, complete, freed };
    static int poll(void* self) noexcept;

    PollerHandle _poller;
    // While watched: who comes second, completion or MPI_Request_free, deletes. Otherwise complete.
    std::atomic<End> _end{End::complete};
};

} // namespace patchbay
