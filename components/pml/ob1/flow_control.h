// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/backlog.h"
#include "components/pml/ob1/message_store.h"
#include "components/pml/ob1/shortage.h"
#include "core/tool/source.h"

#include <vector>

namespace patchbay::pml::ob1 {

// The memory of unexpected messages. It is charged to their sender; a sender that takes more than the limit gets an
// xoff, and an xon when half of the limit is free again.
class FlowControl {
public:
    FlowControl(Backlog& backlog, Shortage& shortage, std::size_t limit) noexcept
        : _backlog(backlog),
          _shortage(shortage),
          _limit(limit) {}

    // Copies a message that no receive has matched. nullptr: out of memory, and nothing has been sent; the packet has
    // to be delivered again. Ends the job if that has lasted too long.
    Unexpected* store(Peer& from, const void* header, const std::byte* payload, std::size_t payload_size) noexcept;
    // Frees the memory of a message that is in no queue any more.
    void release(Unexpected& message) noexcept;
    // The same for a module that is about to be destroyed: see end().
    void discard(Unexpected& message) noexcept { _store.free(&message); }
    // Each peer that got an xoff gets an xon: the next module of this process begins to charge anew.
    void end(Peers& peers) noexcept;

    // Memory that unexpected messages take; marks that follow its highest value.
    std::uint64_t bytes() const noexcept { return _bytes; }
    void track(Watermark& mark, bool on) noexcept;

    static void on_xoff(Peer& from, bool off) noexcept {
        from.xoff_received = off;
        from.refresh_direct();
    }

private:
    Backlog& _backlog;
    Shortage& _shortage;
    const std::size_t _limit;
    MessageStore _store;
    std::uint64_t _bytes = 0;
    std::vector<Watermark*> _marks;
};

} // namespace patchbay::pml::ob1
