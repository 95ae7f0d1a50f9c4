// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/handle.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// Attribute caching (MPI-5.0, 7.7), the same for communicators, datatypes, windows and (MPIX) sessions.
enum class AttributeOwner : std::uint8_t { communicator, datatype, window, session };

class Keyval; // callbacks, extra state and a count; lives until freed *and* no attribute uses it

// The attributes of one object, in order of setting (deletion callbacks run in reverse: MPI-5.0, 7.7.1).
// Callbacks get the owner's handle. Callback signature differs only by handle type; predefined ones are 0 and 1.
class AttributeMap {
public:
    AttributeMap();
    ~AttributeMap();
    bool empty() const noexcept;
    // Each returns an MPI error code; a callback's own code is passed through.
    int set(AttributeOwner, void* handle, int keyval, void* value);
    int get(int keyval, void** value, bool* found) const;
    int erase(AttributeOwner, void* handle, int keyval);
    int copy_to(AttributeMap& target, AttributeOwner, void* source_handle, void* target_handle) const;
    // Newest first. Stops at the first callback that refuses, with that attribute and the older ones still there.
    int erase_all(AttributeOwner, void* handle);
    // Hands all attributes over without any callback; `target` is empty.
    void move_to(AttributeMap& target) noexcept;

private:
    struct Entry {
        int keyval;
        void* value;
        std::shared_ptr<Keyval> definition;
    };
    std::vector<Entry>::iterator find(int keyval); // under the lock
    std::vector<Entry>::const_iterator find(int keyval) const;
    int remove(void* handle, const Entry& going);

    std::atomic<bool> _used{false}; // ever: most objects never have an attribute, and need no lock to know it
    mutable std::mutex _mutex;
    std::vector<Entry> _entries;
};

// Legal and thread-safe before any init. Keys that the program makes lie above every constant of the standard.
// `copy_fn` and `delete_fn` are the ABI's function pointers or 0/1.
int keyval_create(AttributeOwner, void* copy_fn, void* delete_fn, void* extra_state, int* keyval);
int keyval_free(AttributeOwner, int* keyval);
bool keyval_is_valid(AttributeOwner, int keyval);

} // namespace patchbay
