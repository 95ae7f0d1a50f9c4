// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/chan/chan.h"
#include "object/status.h"

namespace patchbay {

// The bound request of MPI_PROC_NULL: it has no other side, and each start is complete at once (MPI-5.0, 3.10).
class NullChannel final : public chan::Channel {
public:
    NullChannel(Progress& waits, const chan::Binding& binding) noexcept
        : Channel(waits, binding) {
        fill_proc_null_status(status);
    }
    int start() noexcept override {
        add_start(true);
        return MPI_SUCCESS;
    }
    // Every start after the oldest one.
    void check() noexcept override { complete_oldest(); }
    int connect(std::span<const std::byte>) noexcept override { return MPI_SUCCESS; }
    int rebind(void*, MPI_Count) noexcept override { return MPI_SUCCESS; }
    void disconnect() noexcept override {}
    void partner_failed() noexcept override {}

private:
    int retire() noexcept override {
        delete this;
        return MPI_SUCCESS;
    }
};

} // namespace patchbay
