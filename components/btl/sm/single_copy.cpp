// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/sm/single_copy.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <new>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

namespace patchbay::btl::sm {

std::ptrdiff_t read_process(pid_t pid, std::uint64_t remote, std::span<const iovec> local) noexcept {
    std::ptrdiff_t done = 0;
    while (!local.empty()) {
        const std::size_t batch = std::min<std::size_t>(local.size(), IOV_MAX);
        std::size_t wanted = 0;
        for (std::size_t i = 0; i < batch; ++i) {
            wanted += local[i].iov_len;
        }
        iovec from{reinterpret_cast<void*>(remote + std::uint64_t(done)), wanted};
        const ssize_t got = process_vm_readv(pid, local.data(), batch, &from, 1, 0);
        if (got < 0) {
            return done > 0 ? done : -errno;
        }
        done += got;
        if (std::size_t(got) < wanted) {
            // One call moves at most 2 GiB; go on where it stopped.
            std::size_t left = std::size_t(got);
            std::size_t i = 0;
            for (; left >= local[i].iov_len; ++i) {
                left -= local[i].iov_len;
            }
            if (got == 0) {
                return done;
            }
            iovec part{static_cast<std::byte*>(local[i].iov_base) + left, local[i].iov_len - left};
            const std::ptrdiff_t rest = read_process(pid, remote + std::uint64_t(done), std::span(&part, 1));
            if (rest < 0 || std::size_t(rest) < part.iov_len) {
                return done + std::max<std::ptrdiff_t>(rest, 0);
            }
            done += rest;
            local = local.subspan(i + 1);
            continue;
        }
        local = local.subspan(batch);
    }
    return done;
}

int probe_process(pid_t pid, const ProbeToken& token) noexcept {
    const std::uint64_t address = token.address.load(std::memory_order_acquire);
    if (address == 0 || pid <= 0) {
        return ENOTCONN;
    }
    std::uint64_t seen = 0;
    iovec here{&seen, sizeof seen};
    const std::ptrdiff_t got = read_process(pid, address, std::span(&here, 1));
    if (got < 0) {
        return int(-got);
    }
    return got == sizeof seen && seen == token.value.load(std::memory_order_relaxed) ? 0 : EREMCHG;
}

OwnProbe::OwnProbe(ProbeToken& token) noexcept
    : _token(token),
      _shown(new (std::nothrow) std::byte[shown_bytes]) {
    if (_shown == nullptr) {
        return; // peers take it for a process that shows nothing
    }
    std::uint64_t number = 0;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) {
        number = std::uint64_t(getpid()) << 32 ^ reinterpret_cast<std::uintptr_t>(this);
    }
    std::memcpy(_shown.get(), &number, sizeof number);
    // Fails where there is no Yama, and is not needed there.
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    token.value.store(number, std::memory_order_relaxed);
    token.address.store(reinterpret_cast<std::uintptr_t>(_shown.get()), std::memory_order_release);
}

OwnProbe::~OwnProbe() {
    _token.address.store(0, std::memory_order_relaxed);
    prctl(PR_SET_PTRACER, 0, 0, 0, 0);
}

} // namespace patchbay::btl::sm
