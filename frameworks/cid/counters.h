// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>

namespace patchbay::cid {

// What CID allocation has cost this process; printed at the end with parameter cid_stats. Relaxed atomics: no decision
// depends on them.
class Counter {
public:
    void add(std::uint64_t by = 1) noexcept { _value.fetch_add(by, std::memory_order_relaxed); }
    // The same for callers that hold a lock. A read-modify-write would make the processor wait for the stores before
    // it, and one of these is a message.
    void add_locked(std::uint64_t by = 1) noexcept { _value.store(value() + by, std::memory_order_relaxed); }
    std::uint64_t value() const noexcept { return _value.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> _value{0};
};

struct Counters {
    Counter communicators;    // constructed ones; the predefined ones are not counted
    Counter rounds;           // reductions over the members
    Counter pgcids;           // taken from their source
    Counter children;         // with a derived exCID
    Counter extended_headers; // messages sent with the exCID header
    Counter acknowledgements; // indices received in a CID acknowledgement
};

} // namespace patchbay::cid
