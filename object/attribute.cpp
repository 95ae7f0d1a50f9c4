// SPDX-License-Identifier: BSD-3-Clause
#include "object/attribute.h"

#include "object/keyval.h"

#include <algorithm>

namespace patchbay {

AttributeMap::AttributeMap() = default;
AttributeMap::~AttributeMap() = default;

// Callbacks run without the lock, because they may call attribute functions.

bool AttributeMap::empty() const noexcept {
    if (!_used.load(std::memory_order_acquire)) {
        return true;
    }
    std::lock_guard lock(_mutex);
    return _entries.empty();
}

int AttributeMap::set(AttributeOwner owner, void* handle, int keyval, void* value) {
    std::shared_ptr<Keyval> definition = Keyval::find(owner, keyval);
    if (definition == nullptr) {
        return MPI_ERR_KEYVAL;
    }
    _used.store(true, std::memory_order_release);
    // An old value is deleted first; if its deletion callback returns an error, the old value stays (MPI-5.0, 7.7.2).
    std::unique_lock lock(_mutex);
    const auto old = find(keyval);
    if (old == _entries.end()) {
        _entries.push_back({keyval, value, std::move(definition)});
        return MPI_SUCCESS;
    }
    void* const old_value = old->value;
    lock.unlock();
    if (const int code = definition->call_delete(handle, keyval, old_value); code != MPI_SUCCESS) {
        return code;
    }
    lock.lock();
    const auto place = find(keyval); // the callback may have moved or deleted the entry
    if (place == _entries.end()) {
        _entries.push_back({keyval, value, std::move(definition)});
    } else {
        place->value = value;
    }
    return MPI_SUCCESS;
}

int AttributeMap::get(int keyval, void** value, bool* found) const {
    std::lock_guard lock(_mutex);
    const auto entry = find(keyval);
    *found = entry != _entries.end();
    if (*found) {
        *value = entry->value;
    }
    return MPI_SUCCESS;
}

int AttributeMap::erase(AttributeOwner owner, void* handle, int keyval) {
    std::unique_lock lock(_mutex);
    const auto entry = find(keyval);
    if (entry == _entries.end()) {
        lock.unlock();
        // A key without an attribute here is no error; a key that does not exist or is for another kind of object is.
        return Keyval::find(owner, keyval) != nullptr ? MPI_SUCCESS : MPI_ERR_KEYVAL;
    }
    const Entry removed = *entry;
    lock.unlock();
    return remove(handle, removed);
}

int AttributeMap::copy_to(AttributeMap& target, AttributeOwner owner, void* source_handle, void* target_handle) const {
    if (empty()) {
        return MPI_SUCCESS;
    }
    std::vector<Entry> entries;
    {
        std::lock_guard lock(_mutex);
        entries = _entries;
    }
    for (const Entry& entry : entries) {
        void* value = nullptr;
        bool copied = false;
        const int code = entry.definition->call_copy(source_handle, entry.keyval, entry.value, &value, &copied);
        if (code != MPI_SUCCESS) {
            // The attributes that have been copied before are deleted by their callbacks. The first error is returned.
            target.erase_all(owner, target_handle);
            return code;
        }
        if (copied) {
            target._used.store(true, std::memory_order_release);
            std::lock_guard lock(target._mutex);
            target._entries.push_back({entry.keyval, value, entry.definition});
        }
    }
    return MPI_SUCCESS;
}

int AttributeMap::erase_all(AttributeOwner, void* handle) {
    while (!empty()) {
        std::unique_lock lock(_mutex);
        if (_entries.empty()) {
            return MPI_SUCCESS;
        }
        const Entry removed = _entries.back();
        lock.unlock();
        if (const int code = remove(handle, removed); code != MPI_SUCCESS) {
            return code;
        }
    }
    return MPI_SUCCESS;
}

void AttributeMap::move_to(AttributeMap& target) noexcept {
    std::scoped_lock lock(_mutex, target._mutex);
    target._used.store(_used.load(std::memory_order_relaxed), std::memory_order_release);
    target._entries.swap(_entries);
}

int AttributeMap::remove(void* handle, const Entry& removed) {
    if (const int code = removed.definition->call_delete(handle, removed.keyval, removed.value); code != MPI_SUCCESS) {
        return code;
    }
    std::lock_guard lock(_mutex);
    if (const auto entry = find(removed.keyval); entry != _entries.end()) {
        _entries.erase(entry);
    }
    return MPI_SUCCESS;
}

std::vector<AttributeMap::Entry>::iterator AttributeMap::find(int keyval) {
    return std::find_if(_entries.begin(), _entries.end(), [keyval](const Entry& e) { return e.keyval == keyval; });
}

std::vector<AttributeMap::Entry>::const_iterator AttributeMap::find(int keyval) const {
    return std::find_if(_entries.begin(), _entries.end(), [keyval](const Entry& e) { return e.keyval == keyval; });
}

} // namespace patchbay
