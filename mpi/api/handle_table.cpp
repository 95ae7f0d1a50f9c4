// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/api/handle_table.h"

#include "object/object.h"

#include <mutex>

namespace patchbay::api {

int HandleTable::number_of(std::uintptr_t handle) {
    if (handle < first_dynamic_handle) {
        return static_cast<int>(handle);
    }
    {
        std::shared_lock lock(_mutex);
        if (const auto found = _numbers.find(handle); found != _numbers.end()) {
            return found->second;
        }
    }
    std::unique_lock lock(_mutex);
    const auto [entry, is_new] = _numbers.try_emplace(handle, static_cast<int>(first_dynamic_handle + _handles.size()));
    if (is_new) {
        _handles.push_back(handle);
    }
    return entry->second;
}

std::uintptr_t HandleTable::handle_of(int number) const {
    if (number < static_cast<int>(first_dynamic_handle)) {
        return number > 0 ? static_cast<std::uintptr_t>(number) : 0;
    }
    std::shared_lock lock(_mutex);
    const std::size_t index = static_cast<std::size_t>(number) - first_dynamic_handle;
    return index < _handles.size() ? _handles[index] : 0;
}

} // namespace patchbay::api
