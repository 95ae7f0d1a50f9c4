// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"

#include <map>
#include <mutex>

namespace [[gnu::visibility("default")]] patchbay {

class Instance;

// The attributes that every communicator has (MPI-5.0, 9.1.2): MPI_TAG_UB and the others. Their values are integers
// that programs read through a pointer, so they live here. What only the launcher knows is asked for on first use.
class PredefinedAttributes {
public:
    explicit PredefinedAttributes(Instance& instance) noexcept
        : _instance(instance) {}

    static bool is_one(int keyval) noexcept;
    // Points *value at the integer; false: the attribute has no value here. Thread-safe.
    bool get(int keyval, void** value);

private:
    struct Value {
        bool known = false;
        int value = 0;
    };
    Value determine(int keyval);

    Instance& _instance;
    std::mutex _mutex;
    std::map<int, Value> _values;
};

} // namespace patchbay
