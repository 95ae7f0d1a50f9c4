// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/handle.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// Attribute caching (MPI-5.0, 7.7) for communicators, datatypes, windows and, as an extension, sessions.
enum class AttributeOwner : std::uint8_t { communicator, datatype, window, session };

class Keyval; // the callbacks and extra state of an attribute key (object/keyval.h)

// The attributes of one object, in the order in which they were set, also those that replace another value; deletion
// callbacks run in reverse order (MPI-5.0, 7.7.1 and 11.2.4). While a thread is in a callback for a value, other
// threads that would delete or copy it wait. A callback gets the owner's handle. The signatures of callbacks differ in
// the handle type only; predefined callbacks have the values 0 and 1.
class AttributeMap {
public:
    AttributeMap();
    ~AttributeMap();
    bool empty() const noexcept;
    // false: no attribute has this key, which may be none of this kind of object.
    bool get(int keyval, void** value) const noexcept;
    // Each of these returns an MPI code, which may be the code that a callback has returned.
    int set(AttributeOwner, void* handle, int keyval, void* value);
    int erase(AttributeOwner, void* handle, int keyval);
    int copy_to(AttributeMap& target, AttributeOwner, void* source_handle, void* target_handle);
    // Deletes all attributes, the newest first. If a deletion callback returns an error, that attribute and the older
    // ones stay.
    int erase_all(AttributeOwner, void* handle);
    // Moves all attributes to `target`, which is empty, without running a callback.
    void move_to(AttributeMap& target) noexcept;

private:
    struct Entry {
        int keyval;
        void* value;
        std::shared_ptr<Keyval> definition;
        const void* user = nullptr; // the thread that is in a callback for the value
    };
    using Lock = std::unique_lock<std::mutex>;
    // The functions below are called with the lock held. claim() and release() give it up meanwhile.
    std::vector<Entry>::iterator find(int keyval);
    std::vector<Entry>::const_iterator find(int keyval) const;
    bool claim(Lock& lock, int keyval, Entry* claimed);
    void release(Lock& lock, const Entry& claimed);
    int remove(Lock& lock, void* handle, int keyval);

    std::atomic<bool> _used{false}; // false: no attribute was ever set, and functions need not take the lock
    mutable std::mutex _mutex;
    std::vector<Entry> _entries;
};

// These may be called before initialization, and are thread-safe. The keys that they create are greater than every
// constant of the standard. `copy_fn` and `delete_fn` are function pointers of the ABI, or 0 or 1.
int keyval_create(AttributeOwner, void* copy_fn, void* delete_fn, void* extra_state, int* keyval);
int keyval_free(AttributeOwner, int* keyval);
bool keyval_is_valid(AttributeOwner, int keyval);

} // namespace patchbay
