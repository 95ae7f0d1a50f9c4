// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/request.h"

namespace [[gnu::visibility("default")]] patchbay {

// A request that is complete from the beginning: an operation with MPI_PROC_NULL or MPI_MESSAGE_NO_PROC.
class ImmediateRequest : public Request {
public:
    ImmediateRequest(Progress& waits, const MPI_Status& outcome) noexcept {
        progress = &waits;
        status = outcome;
        set_complete();
    }

    int start() noexcept override { return MPI_ERR_REQUEST; } // never persistent
    int cancel() noexcept override { return MPI_SUCCESS; }

protected:
    ~ImmediateRequest() override = default;

private:
    int retire() noexcept override {
        delete this;
        return MPI_SUCCESS;
    }
};

} // namespace patchbay
