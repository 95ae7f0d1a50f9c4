// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/pml.h"
#include "mpi/instance/use_counts.h"

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
        const auto found = _families.find(members);
        const std::uint32_t family =
            found != _families.end() ? found->second : _families.emplace(members, _families.size()).first->second;
        return _uses.next(family, text);
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
    std::mutex _mutex;
    std::map<std::string, std::uint32_t, std::less<>> _families; // members, which may be many, once for all their texts
    UseCounts _uses;
    std::atomic<std::uint64_t> _numbers{1};
    std::vector<std::vector<std::byte>> _letters;
    std::vector<pml::EarlyMessage> _messages;
};

} // namespace patchbay
