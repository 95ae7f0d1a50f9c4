// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/poll_or_yield.h"
#include "core/progress/waiter.h"
#include "frameworks/btl/one_sided.h"

#include <atomic>

namespace patchbay::common {

// Waits until one operation of a btl is complete at the origin; no process is waited for. Returns 0 or the errno of
// btl::Started.
// `start(btl::Completion*)` starts it.
template <class Start>
int run_operation(Progress& progress, const Start& start) noexcept {
    struct End final : btl::Completion {
        std::atomic<bool> ended{false};
        int error = 0;
    } end;
    end.done = [](btl::Completion& self, int error) noexcept {
        auto& operation = static_cast<End&>(self);
        operation.error = error;
        operation.ended.store(true, std::memory_order_release);
    };
    for (;;) {
        const btl::Started started = start(&end);
        switch (started.code) {
        case btl::StartCode::done:
            return 0;
        case btl::StartCode::failed:
            return started.error;
        case btl::StartCode::pending:
            wait_until(progress, [&] { return end.ended.load(std::memory_order_acquire); });
            return end.error;
        case btl::StartCode::full:
            poll_or_yield(progress);
            break;
        }
    }
}

} // namespace patchbay::common
