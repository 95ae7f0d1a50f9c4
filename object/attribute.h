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

// The attributes of one object, in the order in which they were set; deletion callbacks run in reverse order (MPI-5.0,
// 7.7.1). A callback gets the owner's handle. The signatures of callbacks differ in the handle type only; predefined
// callbacks have the values 0 and 1.
class AttributeMap {
public:
    AttributeMap();
    ~AttributeMap();
    bool empty() const noexcept;
    // Each of these returns an MPI code, which may be the code that a callback has returned.
    int set(AttributeOwner, void* handle, int keyval, void* value);
    int get(int keyval, void** value, bool* found) const;
    int erase(AttributeOwner, void* handle, int keyval);
    int copy_to(AttributeMap& target, AttributeOwner, void* source_handle, void* target_handle) const;
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
    };
    std::vector<Entry>::iterator find(int keyval); // called with the lock held
    std::vector<Entry>::const_iterator find(int keyval) const;
    int remove(void* handle, const Entry& removed);

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
