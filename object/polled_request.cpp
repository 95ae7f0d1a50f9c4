// SPDX-License-Identifier: BSD-3-Clause
#include "object/polled_request.h"

namespace patchbay {

int PolledRequest::start() noexcept {
    watch();
    return error;
}

void PolledRequest::watch() noexcept {
    set_state(State::active);
    if (finished()) {
        set_state(State::complete);
        return;
    }
    _poller = progress->add_poller(&PolledRequest::poll, this);
    // Another thread may call poll() before _poller is assigned; poll() does nothing until this store.
    _end.store(End::open, std::memory_order_release);
}

int PolledRequest::poll(void* context) noexcept {
    auto& self = *static_cast<PolledRequest*>(context);
    if (self._end.load(std::memory_order_acquire) == End::complete || !self.finished()) {
        return 0;
    }
    self._poller.reset();
    if (self._end.exchange(End::complete, std::memory_order_acq_rel) == End::freed) {
        delete &self;
        return 1;
    }
    self.set_state(State::complete);
    return 1;
}

void PolledRequest::recycle() noexcept {
    if (is_active() && _end.exchange(End::freed, std::memory_order_acq_rel) == End::open) {
        return; // poll() deletes it
    }
    progress->quiesce();
    delete this;
}

} // namespace patchbay
