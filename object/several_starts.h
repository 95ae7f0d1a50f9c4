// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/request.h"

#include <memory>

namespace [[gnu::visibility("default")]] patchbay {

// A persistent request of which several starts may be outstanding. They complete in the order in which they were
// started; each completing call (MPI_Wait, MPI_Test) ends the oldest one and returns its status.
class SeveralStarts : public Request {
protected:
    // Throws std::bad_alloc. `most`: as Request::most_starts, at least 2.
    SeveralStarts(Progress& waits, std::uint16_t most);
    ~SeveralStarts() override;

    // Called by start(), before the operation begins.
    void add_start() noexcept;
    // Completes the oldest start that is not complete: for each start the owner's end, with the conditions of
    // Request::complete().
    void complete_start(const MPI_Status& result, int code) noexcept;

private:
    struct Result {
        MPI_Status status;
        int error;
    };

    std::uint32_t outstanding_starts() const noexcept final;
    bool has_later_communication() noexcept final;
    void end_first_start() noexcept final;
    int retire() noexcept final;
    // In place of retire(): when the handle has been released and all starts are complete.
    virtual void retire_last() noexcept = 0;
    void show_first() noexcept;

    mutable ProgressLock _lock;
    const std::unique_ptr<Result[]> _results; // of the complete starts, from _first on, as a ring
    std::uint32_t _first = 0;
    std::uint32_t _started = 0;  // outstanding
    std::uint32_t _complete = 0; // of them: complete
    bool _retiring = false;      // the handle has been released
};

} // namespace patchbay
