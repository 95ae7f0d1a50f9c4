// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/handle.h"

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// An ordered list of (key, value) pairs (MPI-5.0, 10). Thread-safe; may be used before initialization.
class Info final : public Object {
public:
    Info()
        : Object(ObjectKind::info) {}
    static void destroy(Info*) noexcept;

    void set(std::string_view key, std::string_view value);
    std::optional<std::string> get(std::string_view key) const;
    // Calls look(value), with the lock held, if there is the key. Takes no memory. Returns whether there is.
    template <class Look>
    bool look_at(std::string_view key, const Look& look) const {
        std::lock_guard lock(_mutex);
        const std::string* value = find(key);
        if (value != nullptr) {
            look(std::string_view(*value));
        }
        return value != nullptr;
    }
    bool erase(std::string_view key);
    int size() const;
    std::optional<std::string> nth_key(int n) const;
    std::vector<std::pair<std::string, std::string>> pairs() const; // in order of setting
    Ref<Info> duplicate() const;
    void clear();

private:
    friend struct Predefined<Info>;
    static Info* make_env();
    // Under the lock; nullptr: there is no such key.
    const std::string* find(std::string_view key) const noexcept;

    mutable std::mutex _mutex;
    std::vector<std::pair<std::string, std::string>> _pairs;
};

} // namespace patchbay
