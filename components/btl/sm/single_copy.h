// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <sys/types.h>
#include <sys/uio.h>

namespace patchbay::btl::sm {

// What a process shows its peers so that they can try whether they may read its memory, and how fast: a number and
// where it stands, at the beginning of `shown_bytes` that may all be read. Without the number a wrong process (another
// pid namespace) could be taken for the peer.
struct ProbeToken {
    std::atomic<std::uint64_t> address;
    std::atomic<std::uint64_t> value;
};

inline constexpr std::size_t shown_bytes = 32 * 1024;

// Reads `size` bytes at `remote` in process `pid` by process_vm_readv, in as many calls as it takes. Returns the number
// of bytes, fewer than asked for when a later part cannot be read, or -errno when nothing could.
std::ptrdiff_t read_process(pid_t pid, std::uint64_t remote, std::span<const iovec> local) noexcept;

// 0: memory of process `pid` can be read and holds the value that `token` has published. Otherwise an errno; EREMCHG:
// some other process has that pid here.
int probe_process(pid_t pid, const ProbeToken& token) noexcept;

// The token of this process, for as long as the object lives. Where a security module restricts such reads (Yama), it
// also permits them to processes of the same user.
class OwnProbe {
public:
    explicit OwnProbe(ProbeToken& token) noexcept;
    ~OwnProbe();
    OwnProbe(const OwnProbe&) = delete;
    OwnProbe& operator=(const OwnProbe&) = delete;

private:
    ProbeToken& _token;
    // Not touched but for the number: until a peer reads the rest it takes no memory.
    std::unique_ptr<std::byte[]> _shown;
};

} // namespace patchbay::btl::sm
