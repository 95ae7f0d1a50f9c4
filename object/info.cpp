// SPDX-License-Identifier: BSD-3-Clause
#include "object/info.h"

#include <algorithm>

namespace patchbay {

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

template <class P>
auto find_key(P& pairs, std::string_view key) {
    return std::find_if(pairs.begin(), pairs.end(), [key](const auto& pair) { return pair.first == key; });
}

} // namespace

void Info::destroy(Info* info) noexcept {
    if (!info->is_predefined()) {
        delete info;
    }
}

void Info::set(std::string_view key, std::string_view value) {
    std::lock_guard lock(_mutex);
    if (const auto found = find_key(_pairs, key); found != _pairs.end()) {
        found->second = value;
    } else {
        _pairs.emplace_back(key, value);
    }
}

std::optional<std::string> Info::get(std::string_view key) const {
    std::lock_guard lock(_mutex);
    const std::string* value = find(key);
    return value == nullptr ? std::nullopt : std::optional(*value);
}

const std::string* Info::find(std::string_view key) const noexcept {
    const auto found = find_key(_pairs, key);
    return found == _pairs.end() ? nullptr : &found->second;
}

bool Info::erase(std::string_view key) {
    std::lock_guard lock(_mutex);
    const auto found = find_key(_pairs, key);
    if (found == _pairs.end()) {
        return false;
    }
    _pairs.erase(found);
    return true;
}

void Info::clear() {
    std::lock_guard lock(_mutex);
    _pairs.clear();
}

int Info::size() const {
    std::lock_guard lock(_mutex);
    return int(_pairs.size());
}

std::optional<std::string> Info::nth_key(int n) const {
    std::lock_guard lock(_mutex);
    if (n < 0 || std::size_t(n) >= _pairs.size()) {
        return std::nullopt;
    }
    return _pairs[std::size_t(n)].first;
}

std::vector<std::pair<std::string, std::string>> Info::pairs() const {
    std::lock_guard lock(_mutex);
    return _pairs;
}

Ref<Info> Info::duplicate() const {
    auto copy = Ref<Info>::adopt(new Info);
    copy->_pairs = pairs();
    return copy;
}

// MPI_INFO_ENV is constructed when the library is loaded, because its handle is valid then; MPI_Init fills it.
Info* Info::make_env() {
    auto* info = new Info;
    info->set_predefined(reinterpret_cast<std::uintptr_t>(MPI_INFO_ENV));
    return info;
}

template <>
Info* Predefined<Info>::table[HandleTraits<Info>::count] = {nullptr, Info::make_env()};

} // namespace patchbay
