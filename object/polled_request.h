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

protected:
    explicit PolledRequest(Progress& waits) noexcept { progress = &waits; }

    // Whether the operation is complete. Before it returns true, it sets status and error and releases its resources.
    // Any polling thread calls it; it must neither block nor poll. After true it is not called until the next watch().
    virtual bool finished() noexcept = 0;

    // Makes the request active, or complete where finished() returns true at once.
    void watch() noexcept;

private:
    static int poll(void* self) noexcept;
    int retire() noexcept final;

    PollerHandle _poller;
    std::atomic<bool> _open{false};
};

} // namespace patchbay
