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

// What has to outlive an instance, because other processes cannot know when this one goes down and comes up again
// (sessions end locally): what makes names unique, and what arrived for a later life. Thread-safe.
class ProcessState {
public:
    // How often these processes (members_of() their group) have used this text before. All of them make the same calls,
    // so that all count alike. Never forgotten: a member cannot know that all others have finished as well as it has.
    std::uint32_t next_sequence(std::string_view text, std::string_view members) {
        std::lock_guard lock(_mutex);
        const auto found = _group_ids.find(members);
        const std::uint32_t group_id =
            found != _group_ids.end() ? found->second : _group_ids.emplace(members, _group_ids.size()).first->second;
        return _sequences.next(group_id, text);
    }

    // Identifiers that this process has handed out to groups that it leads.
    std::uint64_t next_number() noexcept { return _numbers.fetch_add(1, std::memory_order_relaxed); }

    // Messages to the bootstrap exchange (mpi/bootstrap/exchange.h) that nobody here waited for.
    void keep_bootstrap_messages(std::vector<std::vector<std::byte>> messages) {
        std::lock_guard lock(_mutex);
        for (auto& message : messages) { // to those of an earlier life that met nobody
            _bootstrap_messages.push_back(std::move(message));
        }
    }
    std::vector<std::vector<std::byte>> take_bootstrap_messages() {
        std::lock_guard lock(_mutex);
        return std::exchange(_bootstrap_messages, {});
    }

    // Messages for communicators that a later life may have.
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
    std::map<std::string, std::uint32_t, std::less<>>
        _group_ids; // members, which may be many, once for all their texts
    SequenceCounters _sequences;
    std::atomic<std::uint64_t> _numbers{1};
    std::vector<std::vector<std::byte>> _bootstrap_messages;
    std::vector<pml::EarlyMessage> _messages;
};

} // namespace patchbay
