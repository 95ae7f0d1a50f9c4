// SPDX-License-Identifier: BSD-3-Clause
#include "object/data_representation.h"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>

namespace patchbay {

namespace {

constexpr std::string_view predefined[] = {"native", "internal", "external32"};

struct Registered {
    std::mutex mutex;
    std::map<std::string, DataRepresentation, std::less<>> by_name; // never shrinks
};

// Never destroyed: a program may call MPI in its static destructors.
Registered& registered() {
    static auto& all = *new Registered;
    return all;
}

} // namespace

bool add_data_representation(std::string_view name, const DataRepresentation& added) {
    if (std::ranges::find(predefined, name) != std::end(predefined)) {
        return false;
    }
    Registered& all = registered();
    const std::lock_guard lock(all.mutex);
    return all.by_name.try_emplace(std::string(name), added).second;
}

const DataRepresentation* find_data_representation(std::string_view name) noexcept {
    Registered& all = registered();
    const std::lock_guard lock(all.mutex);
    const auto found = all.by_name.find(name);
    return found == all.by_name.end() ? nullptr : &found->second;
}

} // namespace patchbay
