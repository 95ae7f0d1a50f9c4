// SPDX-License-Identifier: BSD-3-Clause
#include "object/keyval.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

namespace patchbay {

namespace {

// Attribute keys are integers that belong to no object, and are valid before initialization and after finalization. So
// their table is global. A freed key stays in the table while an attribute uses it (MPI-5.0, 7.7.2).
struct KeyvalTable {
    struct Entry {
        std::shared_ptr<Keyval> owned; // until the program frees the key
        std::weak_ptr<Keyval> known;
    };
    std::mutex mutex;
    std::map<int, Entry> keyvals;
    int last = 4095; // greater than every predefined key
};

KeyvalTable& keyval_table() {
    static auto* table = new KeyvalTable;
    return *table;
}

// The values of the predefined callbacks (MPI-5.0 ABI).
constexpr std::uintptr_t null_function = 0;
constexpr std::uintptr_t dup_function = 1;

std::uintptr_t value_of(void* function) noexcept {
    return reinterpret_cast<std::uintptr_t>(function);
}

} // namespace

Keyval::~Keyval() {
    KeyvalTable& table = keyval_table();
    std::lock_guard lock(table.mutex);
    table.keyvals.erase(_number);
}

std::shared_ptr<Keyval> Keyval::find(AttributeOwner owner, int keyval) {
    KeyvalTable& table = keyval_table();
    std::shared_ptr<Keyval> definition; // outlives the lock, which the destructor takes
    std::lock_guard lock(table.mutex);
    const auto found = table.keyvals.find(keyval);
    if (found != table.keyvals.end()) {
        definition = found->second.known.lock();
    }
    return definition != nullptr && definition->_owner == owner ? definition : nullptr;
}

// All handles are pointers, so that the callbacks of the four kinds of objects can be called in the same way.

int Keyval::call_copy(void* handle, int keyval, void* value, void** copy, bool* copied) const {
    if (value_of(_copy) <= dup_function) {
        *copied = value_of(_copy) == dup_function;
        *copy = value;
        return MPI_SUCCESS;
    }
    int flag = 0;
    const auto function = reinterpret_cast<MPI_Comm_copy_attr_function*>(_copy);
    const int code = function(static_cast<MPI_Comm>(handle), keyval, _extra_state, value, copy, &flag);
    *copied = flag != 0;
    return code;
}

int Keyval::call_delete(void* handle, int keyval, void* value) const {
    if (value_of(_delete) == null_function) {
        return MPI_SUCCESS;
    }
    const auto function = reinterpret_cast<MPI_Comm_delete_attr_function*>(_delete);
    return function(static_cast<MPI_Comm>(handle), keyval, value, _extra_state);
}

int keyval_create(AttributeOwner owner, void* copy_fn, void* delete_fn, void* extra_state, int* keyval) {
    KeyvalTable& table = keyval_table();
    std::shared_ptr<Keyval> definition; // outlives the lock, which the destructor takes
    std::lock_guard lock(table.mutex);
    const int number = table.last + 1;
    definition = std::make_shared<Keyval>(number, owner, copy_fn, delete_fn, extra_state);
    table.keyvals.emplace(number, KeyvalTable::Entry{definition, definition});
    table.last = number;
    *keyval = number;
    return MPI_SUCCESS;
}

int keyval_free(AttributeOwner owner, int* keyval) {
    if (Keyval::find(owner, *keyval) == nullptr) {
        return MPI_ERR_KEYVAL;
    }
    KeyvalTable& table = keyval_table();
    std::shared_ptr<Keyval> freed; // outlives the lock, which the destructor takes
    std::lock_guard lock(table.mutex);
    if (const auto found = table.keyvals.find(*keyval); found != table.keyvals.end()) {
        freed = std::move(found->second.owned);
    }
    *keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

bool keyval_is_valid(AttributeOwner owner, int keyval) {
    return Keyval::find(owner, keyval) != nullptr;
}

} // namespace patchbay
