// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/request.h"

namespace [[gnu::visibility("default")]] patchbay {

// A request that is complete as soon as it is started: an operation with MPI_PROC_NULL or MPI_MESSAGE_NO_PROC.
class ImmediateRequest final : public Request {
public:
    ImmediateRequest(Progress& waits, const MPI_Status& outcome, bool is_persistent) noexcept {
        progress = &waits;
        status = outcome;
        persistent = is_persistent;
        if (!is_persistent) {
            set_complete();
        }
    }

    int start() noexcept override {
        set_complete();
        return MPI_SUCCESS;
    }
    int cancel() noexcept override { return MPI_SUCCESS; }

private:
    int retire() noexcept override {
        delete this;
        return MPI_SUCCESS;
    }
};

} // namespace patchbay
