// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/pml.h"
#include "mpi/instance/sequence_counters.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// State that lasts as long as the process: it outlives every instance, because a session is finalized locally, and
// other processes do not know when this process finalizes the library and initializes it again. It holds the counters
// that make identifiers unique, and messages that arrived for a later instance. Thread-safe.
class ProcessState {
public:
    ProcessState() noexcept;
    ~ProcessState();
    ProcessState(const ProcessState&) = delete;
    ProcessState& operator=(const ProcessState&) = delete;

    // The number of earlier calls with this text and these members (members_of() a group). All members make the same
    // calls, so that all of them get the same number. A counter is never deleted, because no member knows when all
    // others have finished with it. `least` as in SequenceCounters.
    std::uint32_t next_sequence(std::string_view text, std::string_view members, std::uint32_t least = 0);

    // Returns a different number at every call.
    std::uint64_t next_number() noexcept { return _numbers.fetch_add(1, std::memory_order_relaxed); }

    // Messages of the bootstrap exchange (mpi/bootstrap/exchange.h) for reductions that this process has not joined.
    void keep_bootstrap_messages(std::vector<std::vector<std::byte>> messages);
    std::vector<std::vector<std::byte>> take_bootstrap_messages();

    // Messages for communicators that a later instance may construct.
    void keep_early_messages(std::vector<pml::EarlyMessage> messages);
    std::vector<pml::EarlyMessage> take_early_messages();

private:
    std::mutex _mutex;
    // A group id for each list of members, so that a long list is stored once and not with each of its texts.
    std::map<std::string, std::uint32_t, std::less<>> _group_ids;
    SequenceCounters _sequences;
    std::atomic<std::uint64_t> _numbers{1};
    std::vector<std::vector<std::byte>> _bootstrap_messages;
    std::vector<pml::EarlyMessage> _messages;
};

} // namespace patchbay
