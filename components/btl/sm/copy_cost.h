// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/sm/single_copy.h"

#include <cstddef>
#include <optional>
#include <string>
#include <sys/types.h>

namespace patchbay::btl::sm {

// What the two ways of moving a large message cost on this machine where processes share cores: whether the kernel's
// single copy is the faster one depends on what a system call and the pinning of a page cost here, which differs
// tenfold between machines (mitigations, virtual machines), so it is timed.
struct CopyCost {
    double call_ns = 0;         // of one process_vm_readv, whatever it reads
    double read_ns_per_kib = 0; // of what it reads
    double copy_ns_per_kib = 0; // of one copy between two blocks that both are in this core's cache

    // At least this is counted for a copy: each of the two copies through shared memory waits for lines that the other
    // core has in its cache, or for the other process on the same core. That cannot be timed without the other process.
    // With 16 ranks on 2 cores both ways took the same time from 20 to 64 KiB on; copies of 20 kB take 0.3 MB more
    // memory of each process, so that the limit is at the lower end.
    static constexpr double least_copy_ns_per_kib = 80;

    // Reads a few times what `token` shows of process `pid`, and copies as much within this one: the fastest of each,
    // because the first ones fault pages in and any may be interrupted. At most some 100 us. Nothing when a read
    // failed.
    static std::optional<CopyCost> measure(pid_t pid, const ProbeToken& token) noexcept;

    // The bytes from which single copy is the faster way; 0: at no size. Through shared memory a message is copied
    // twice, so single copy has as long as one more copy takes for its call and for what pinning adds to its reading.
    std::size_t break_even() const noexcept;
    // The numbers, and what follows from them.
    std::string text() const;
};

} // namespace patchbay::btl::sm
