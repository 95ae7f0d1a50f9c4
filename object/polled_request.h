// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"
#include "object/request.h"

#include <atomic>

namespace [[gnu::visibility("default")]] patchbay {

// A request whose completion depends on other operations, which it tests once per poll while it is active: the two
// parts of a sendrecv, the messages in a buffer. It is allocated with new and deletes itself.
class PolledRequest : public Request {
public:
    int start() noexcept override;
    int cancel() noexcept override { return MPI_SUCCESS; }
    void recycle() noexcept final;

protected:
    explicit PolledRequest(Progress& waits) noexcept { progress = &waits; }

    // Whether the operation is complete. Before it returns true, it sets status and error and releases its resources.
    // Any polling thread calls it; it must neither block nor poll. After true it is not called until the next watch().
    virtual bool finished() noexcept = 0;

    // Makes the request active, or complete where finished() returns true at once.
    void watch() noexcept;

private:
    enum class End : std::uint8_t { open, complete, freed };
    static int poll(void* self) noexcept;

    PollerHandle _poller;
    // Decides which of completion and MPI_Request_free comes second and deletes the request. `complete` while the
    // request is not active.
    std::atomic<End> _end{End::complete};
};

} // namespace patchbay
