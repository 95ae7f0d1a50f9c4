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
#include <utility>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// State that lasts as long as the process: it outlives every instance, because a session is finalized locally, and
// other processes do not know when this process finalizes the library and initializes it again. It holds the counters
// that make identifiers unique, and messages that arrived for a later instance. Thread-safe.
class ProcessState {
public:
    // The number of earlier calls with this text and these members (members_of() a group). All members make the same
    // calls, so that all of them get the same number. A counter is never deleted, because no member knows when all
    // others have finished with it.
    std::uint32_t next_sequence(std::string_view text, std::string_view members) {
        std::lock_guard lock(_mutex);
        const auto found = _group_ids.find(members);
        const std::uint32_t group_id =
            found != _group_ids.end() ? found->second : _group_ids.emplace(members, _group_ids.size()).first->second;
        return _sequences.next(group_id, text);
    }

    // Returns a different number at every call.
    std::uint64_t next_number() noexcept { return _numbers.fetch_add(1, std::memory_order_relaxed); }

    // Messages of the bootstrap exchange (mpi/bootstrap/exchange.h) for reductions that this process has not joined.
    void keep_bootstrap_messages(std::vector<std::vector<std::byte>> messages) {
        std::lock_guard lock(_mutex);
        for (auto& message : messages) { // behind those that an earlier instance left
            _bootstrap_messages.push_back(std::move(message));
        }
    }
    std::vector<std::vector<std::byte>> take_bootstrap_messages() {
        std::lock_guard lock(_mutex);
        return std::exchange(_bootstrap_messages, {});
    }

    // Messages for communicators that a later instance may construct.
    void keep_early_messages(std::vector<pml::EarlyMessage> messages) {
        std::lock_guard lock(_mutex);
        for (auto& message : messages) {
            _messages.push_back(std::move(message));
        }
    }
    std::vector<pml::EarlyMessage> take_early_messages() {
        std::lock_guard lock(_mutex);
        return std::exchange(_messages, {});
    }

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
