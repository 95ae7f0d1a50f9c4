// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"

#include <map>
#include <mutex>

namespace [[gnu::visibility("default")]] patchbay {

class Instance;

// The attributes that communicators have from the beginning (MPI-5.0, 9.1.2): all of them in the world model, and
// MPI_TAG_UB alone in the sessions model. The program gets a pointer to the integer, so that the values are stored
// here. A value that the launcher provides is requested on first use.
class PredefinedAttributes {
public:
    explicit PredefinedAttributes(Instance& instance) noexcept;

    static bool is_one(int keyval) noexcept;
    // Points *value at the integer; false: the attribute has no value on `comm`. Thread-safe.
    bool get(const Communicator& comm, int keyval, void** value);

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
