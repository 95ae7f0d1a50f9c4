// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/common/mapped_memory.h"

#include <cstdint>
#include <span>
#include <sys/types.h>

namespace patchbay::btl::sm {

// Copies between memory of this process and that of another one by process_vm_readv and process_vm_writev (CMA), in as
// many calls as it takes. The lists have been checked; `base` is the address in the other process that their offsets
// count from. Returns 0 or an errno, after which a part has been copied.
int copy_process(common::Direction direction, pid_t pid, std::span<const iovec> local, std::uint64_t base,
    std::span<const RemotePiece> remote) noexcept;

} // namespace patchbay::btl::sm
