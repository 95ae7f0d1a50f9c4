// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/attribute.h"

namespace patchbay {

// The callbacks and the extra state of an attribute key. The object exists until the key is freed and no attribute uses
// it any more; then the key leaves the table of keys.
class Keyval {
public:
    Keyval(int number, AttributeOwner owner, void* copy_fn, void* delete_fn, void* extra_state) noexcept
        : _number(number),
          _owner(owner),
          _copy(copy_fn),
          _delete(delete_fn),
          _extra_state(extra_state) {}
    ~Keyval();
    Keyval(const Keyval&) = delete;
    Keyval& operator=(const Keyval&) = delete;

    // nullptr: there is no such key, or it has been freed, or it is for another kind of object.
    static std::shared_ptr<Keyval> find(AttributeOwner owner, int keyval);

    AttributeOwner owner() const noexcept { return _owner; }
    // Each of these returns the code that the callback has returned.
    int call_copy(void* handle, int keyval, void* value, void** copy, bool* copied) const;
    int call_delete(void* handle, int keyval, void* value) const;

private:
    const int _number;
    AttributeOwner _owner;
    void* _copy;
    void* _delete;
    void* _extra_state;
};

} // namespace patchbay
