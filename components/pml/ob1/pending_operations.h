// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/send_protocol.h"

namespace patchbay::pml::ob1 {

class FlowControl;

// The operations of this process that wait for a message which will never come, or for a receive that will never match.
class PendingOperations {
public:
    PendingOperations(SendProtocol& sends, Backlog& backlog, FlowControl& flow) noexcept
        : _sends(sends),
          _backlog(backlog),
          _flow(flow) {}

    // Ends all of one communicator, which has a failure, with this error: the posted receives, and the sends in a
    // queue. Rejects its unexpected messages. A send that its receiver knows about is ended by the receiver, which
    // replies in any case: the address of the request is in the packets. A message that has matched is transferred to
    // its end.
    void fail(CommState& state, int code) const noexcept;

private:
    SendProtocol& _sends;
    Backlog& _backlog;
    FlowControl& _flow;
};

} // namespace patchbay::pml::ob1
