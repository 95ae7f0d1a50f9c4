// SPDX-License-Identifier: BSD-3-Clause
// What ends when another process has died.
#include "components/pml/ob1/module.h"

namespace patchbay::pml::ob1 {

namespace {

// A process that died has left a bounded number of packets behind; each poll takes some of them.
constexpr int most_polls = 1000;

} // namespace

void Ob1::peer_failed(ProcessId process) noexcept {
    // What it had sent before it died is received as if it were alive.
    for (int polls = 0; polls < most_polls && poll() > 0; ++polls) {
    }
    {
        Guard guard(*this);
        Peer* peer = _peers.find(process);
        if (peer == nullptr) {
            _peers.abort("pml/ob1: out of memory for the end of a process");
        }
        if (peer->failed) {
            return;
        }
        _peers.note_failed(*peer);
        _backlog.drop(*peer);
        _sends.fail(*peer, [this](const SendRequest& send) { return is_abandoned_and_complete(send); });
        _rendezvous.fail(*peer);
        _matching.fail_posted(process);
    }
    destroy_abandoned();
    _progress.wake(); // other threads may wait for the requests
}

bool Ob1::is_abandoned_and_complete(const Ob1Request& request) const noexcept {
    for (const Ob1Request* each = _abandoned; each != nullptr; each = each->next_abandoned) {
        if (each == &request) {
            return true;
        }
    }
    return false;
}

} // namespace patchbay::pml::ob1
