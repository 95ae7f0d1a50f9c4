// SPDX-License-Identifier: BSD-3-Clause
#include "object/attribute.h"

#include "object/keyval.h"

#include <algorithm>
#include <cstdint>

namespace patchbay {

AttributeMap::AttributeMap() = default;
AttributeMap::~AttributeMap() = default;

namespace {

// Identifies the calling thread.
const void* this_thread() noexcept {
    thread_local char place = 0;
    return &place;
}

// How often a thread has returned from a callback, so that those that wait for that look again.
std::atomic<std::uint32_t> returns{0};

} // namespace

// Callbacks run without the lock, because they may call attribute functions, also for the same attribute.

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
    Lock lock(_mutex);
    if (const int code = remove(lock, handle, keyval); code != MPI_SUCCESS) {
        return code;
    }
    _entries.push_back({keyval, value, std::move(definition)});
    return MPI_SUCCESS;
}

bool AttributeMap::get(int keyval, void** value) const noexcept {
    if (!_used.load(std::memory_order_acquire)) {
        return false;
    }
    const std::lock_guard lock(_mutex);
    const auto entry = find(keyval);
    const bool found = entry != _entries.end();
    if (found) {
        *value = entry->value;
    }
    return found;
}

int AttributeMap::erase(AttributeOwner owner, void* handle, int keyval) {
    Lock lock(_mutex);
    if (find(keyval) != _entries.end()) {
        return remove(lock, handle, keyval);
    }
    lock.unlock();
    // A key without an attribute here is no error; a key that does not exist or is for another kind of object is.
    return Keyval::find(owner, keyval) != nullptr ? MPI_SUCCESS : MPI_ERR_KEYVAL;
}

int AttributeMap::copy_to(AttributeMap& target, AttributeOwner owner, void* source_handle, void* target_handle) {
    if (empty()) {
        return MPI_SUCCESS;
    }
    Lock lock(_mutex);
    std::vector<int> keyvals;
    for (const Entry& entry : _entries) {
        keyvals.push_back(entry.keyval);
    }
    for (const int keyval : keyvals) {
        Entry entry;
        if (!claim(lock, keyval, &entry)) {
            continue; // it has been deleted meanwhile
        }
        lock.unlock();
        void* value = nullptr;
        bool copied = false;
        const int code = entry.definition->call_copy(source_handle, keyval, entry.value, &value, &copied);
        lock.lock();
        release(lock, entry);
        if (code != MPI_SUCCESS) {
            // The attributes that have been copied before are deleted by their callbacks. The first error is returned.
            lock.unlock();
            target.erase_all(owner, target_handle);
            return code;
        }
        if (copied) {
            target._used.store(true, std::memory_order_release);
            const std::lock_guard of_target(target._mutex);
            target._entries.push_back({keyval, value, entry.definition});
        }
    }
    return MPI_SUCCESS;
}

int AttributeMap::erase_all(AttributeOwner, void* handle) {
    while (!empty()) {
        Lock lock(_mutex);
        if (_entries.empty()) {
            return MPI_SUCCESS;
        }
        if (const int code = remove(lock, handle, _entries.back().keyval); code != MPI_SUCCESS) {
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

// Waits until no other thread is in a callback for the value of this key, and takes it for a callback of this one. A
// callback may itself need the value that it is called for. false: there is none (any more).
bool AttributeMap::claim(Lock& lock, int keyval, Entry* claimed) {
    for (;;) {
        const auto entry = find(keyval);
        if (entry == _entries.end()) {
            return false;
        }
        if (entry->user == nullptr || entry->user == this_thread()) {
            *claimed = *entry;
            entry->user = this_thread();
            return true;
        }
        const std::uint32_t seen = returns.load(std::memory_order_acquire);
        lock.unlock();
        returns.wait(seen, std::memory_order_acquire);
        lock.lock();
    }
}

// `claimed` is as claim() has returned it, with the thread that was in a callback before: this one, or none.
void AttributeMap::release(Lock&, const Entry& claimed) {
    if (const auto entry = find(claimed.keyval); entry != _entries.end() && entry->user == this_thread()) {
        entry->user = claimed.user;
    }
    returns.fetch_add(1, std::memory_order_release);
    returns.notify_all();
}

int AttributeMap::remove(Lock& lock, void* handle, int keyval) {
    Entry removed;
    if (!claim(lock, keyval, &removed)) {
        return MPI_SUCCESS; // another thread was faster
    }
    lock.unlock();
    const int code = removed.definition->call_delete(handle, keyval, removed.value);
    lock.lock();
    if (code == MPI_SUCCESS) {
        if (const auto entry = find(keyval); entry != _entries.end()) {
            _entries.erase(entry); // also one that the callback has set, so that an end comes
        }
    }
    release(lock, removed);
    return code;
}

std::vector<AttributeMap::Entry>::iterator AttributeMap::find(int keyval) {
    return std::find_if(_entries.begin(), _entries.end(), [keyval](const Entry& e) { return e.keyval == keyval; });
}

std::vector<AttributeMap::Entry>::const_iterator AttributeMap::find(int keyval) const {
    return std::find_if(_entries.begin(), _entries.end(), [keyval](const Entry& e) { return e.keyval == keyval; });
}

} // namespace patchbay
