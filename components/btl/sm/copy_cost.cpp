// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/sm/copy_cost.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/core.h>
#include <limits>
#include <memory>
#include <new>

namespace patchbay::btl::sm {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t small_read = 1024; // within one page
constexpr int repetitions = 4;           // the first of them brings the pages in
constexpr std::chrono::microseconds enough{100};

// The fastest of some calls in nanoseconds; fewer calls once the time is up. Infinite when one returns false.
template <class Action>
double fastest(Clock::time_point deadline, Action action) noexcept {
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repetitions; ++i) {
        const auto begin = Clock::now();
        if (!action()) {
            return std::numeric_limits<double>::infinity();
        }
        const auto end = Clock::now();
        best = std::min(best, std::chrono::duration<double, std::nano>(end - begin).count());
        if (end > deadline) {
            break;
        }
    }
    return best;
}

double per_kib(double ns, std::size_t bytes) noexcept {
    return ns * 1024 / double(bytes);
}

} // namespace

std::optional<CopyCost> CopyCost::measure(pid_t pid, const ProbeToken& token) noexcept {
    const std::uint64_t remote = token.address.load(std::memory_order_acquire);
    const std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[2 * shown_bytes]);
    if (remote == 0 || memory == nullptr) {
        return std::nullopt;
    }
    std::byte* here = memory.get();
    std::byte* there = here + shown_bytes;
    const auto deadline = Clock::now() + enough;
    const auto read = [&](std::size_t bytes) {
        const iovec block{here, bytes};
        return read_process(pid, remote, std::span(&block, 1)) == std::ptrdiff_t(bytes);
    };
    const double large_ns = fastest(deadline, [&] { return read(shown_bytes); });
    const double small_ns = fastest(deadline, [&] { return read(small_read); });
    const double copy_ns = fastest(deadline, [&] {
        std::memcpy(there, here, shown_bytes);
        asm volatile("" : : "r"(there) : "memory"); // it is read
        return true;
    });
    if (!(large_ns + small_ns < std::numeric_limits<double>::infinity())) {
        return std::nullopt;
    }
    CopyCost cost;
    cost.read_ns_per_kib = per_kib(std::max(large_ns - small_ns, 0.0), shown_bytes - small_read);
    cost.call_ns = std::max(small_ns - cost.read_ns_per_kib * small_read / 1024, 0.0);
    cost.copy_ns_per_kib = per_kib(copy_ns, shown_bytes);
    return cost;
}

std::size_t CopyCost::break_even() const noexcept {
    const double gain_per_kib = 2 * std::max(copy_ns_per_kib, least_copy_ns_per_kib) - read_ns_per_kib;
    constexpr double never = 1 << 30; // not worth a decision
    const double bytes = gain_per_kib > 0 ? call_ns / gain_per_kib * 1024 : never;
    return bytes < never ? std::max<std::size_t>(std::size_t(bytes), 1) : 0;
}

std::string CopyCost::text() const {
    const std::string numbers = fmt::format("process_vm_readv takes {:.2f} us and {:.0f} ns per KiB, a copy {:.0f} ns "
                                            "per KiB (counted as {:.0f} at least), and "
                                            "shared memory needs two",
        call_ns / 1000, read_ns_per_kib, copy_ns_per_kib, least_copy_ns_per_kib);
    const std::size_t from = break_even();
    return from == 0 ? numbers + ": copying through shared memory at every size"
                     : fmt::format("{}: single copy from {} bytes on", numbers, from);
}

} // namespace patchbay::btl::sm
