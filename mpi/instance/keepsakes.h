// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/pml.h"

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
class Keepsakes {
public:
    // How often these processes (members_of() their group) have used this text before. All of them make the same calls,
    // so that all count alike. Never forgotten: a member cannot know that all others have finished as well as it has.
    std::uint32_t next_use(std::string_view text, std::string_view members) {
        std::lock_guard lock(_mutex);
        return entry(entry(_uses, members), text)++;
    }

    // Identifiers that this process has handed out to groups that it leads.
    std::uint64_t next_number() noexcept { return _numbers.fetch_add(1, std::memory_order_relaxed); }

    // Messages to the lobby (mpi/instance/lobby.h) that nobody here waited for.
    void leave(std::vector<std::vector<std::byte>> letters) {
        std::lock_guard lock(_mutex);
        for (auto& letter : letters) { // to those of an earlier life that met nobody
            _letters.push_back(std::move(letter));
        }
    }
    std::vector<std::vector<std::byte>> collect() {
        std::lock_guard lock(_mutex);
        return std::exchange(_letters, {});
    }

    // Messages for communicators that a later life may have.
    void leave_messages(std::vector<pml::EarlyMessage> messages) {
        std::lock_guard lock(_mutex);
        for (auto& message : messages) {
            _messages.push_back(std::move(message));
        }
    }
    std::vector<pml::EarlyMessage> collect_messages() {
        std::lock_guard lock(_mutex);
        return std::exchange(_messages, {});
    }

private:
    template <class Value>
    using Map = std::map<std::string, Value, std::less<>>;

    template <class Value>
    static Value& entry(Map<Value>& map, std::string_view key) {
        const auto found = map.find(key);
        return found != map.end() ? found->second : map.emplace(key, Value()).first->second;
    }

    std::mutex _mutex;
    Map<Map<std::uint32_t>> _uses; // by members, which may be many, and then by text
    std::atomic<std::uint64_t> _numbers{1};
    std::vector<std::vector<std::byte>> _letters;
    std::vector<pml::EarlyMessage> _messages;
};

} // namespace patchbay
