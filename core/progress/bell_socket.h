// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/progress/doorbell.h"

namespace patchbay {

// The datagram socket by which a doorbell is rung whose process waits for descriptors. It has no file.

// Makes one with a new name. Returns its descriptor. Errc::system: the text has the cause.
Result<int> make_bell_socket(BellSocketName& name);
// Sends a packet there. A process that has ended does not get it, and one that has not read the last ones needs no
// more.
void ring_bell_socket(const BellSocketName& name) noexcept;
// Takes all packets that have arrived.
void drain_bell_socket(int fd) noexcept;

} // namespace patchbay
