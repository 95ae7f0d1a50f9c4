// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>

namespace patchbay::cid {

// What CID allocation communicators has cost this process, printed at the end with parameter cid_stats. Relaxed: nobody
// decides anything by them.
class Counter {
public:
    void add(std::uint64_t by = 1) noexcept { _value.fetch_add(by, std::memory_order_relaxed); }
    // The same where a lock keeps all who add apart. A read-modify-write would have the processor wait for the stores
    // before it, of which a message is one.
    void add_locked(std::uint64_t by = 1) noexcept { _value.store(value() + by, std::memory_order_relaxed); }
    std::uint64_t value() const noexcept { return _value.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> _value{0};
};

struct Counters {
    Counter named;            // communicators, the predefined ones left out
    Counter rounds;           // reductions over the members
    Counter pgcids;           // taken from their source
    Counter children;         // named by derivation
    Counter extended_headers; // messages sent with the exCID header
    Counter answers;          // indices that peers told us in an answer
};

} // namespace patchbay::cid
