// SPDX-License-Identifier: BSD-3-Clause
#include "object/polled_request.h"

namespace patchbay {

int PolledRequest::start() noexcept {
    watch();
    return error;
}

void PolledRequest::watch() noexcept {
    set_active();
    if (finished()) {
        set_complete();
        return;
    }
    _poller = progress->add_poller(&PolledRequest::poll, this);
    // Another thread may call poll() before _poller is assigned; poll() does nothing until this store.
    _open.store(true, std::memory_order_release);
}

int PolledRequest::poll(void* context) noexcept {
    auto& self = *static_cast<PolledRequest*>(context);
    if (!self._open.load(std::memory_order_acquire) || !self.finished()) {
        return 0;
    }
    self._open.store(false, std::memory_order_relaxed);
    self._poller.reset();
    self.complete();
    return 1;
}

int PolledRequest::retire() noexcept {
    progress->quiesce();
    delete this;
    return MPI_SUCCESS;
}

} // namespace patchbay
