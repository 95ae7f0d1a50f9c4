// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace patchbay::api {

// The integers that MPI_X_toint returns (MPI-5.0, 21.6). The integer of a predefined handle is its value. Another
// handle is an address, and gets the next free number when it is first converted. A number is never released: if a new
// object gets the address of an old one, it also gets its number, because the old handle is no longer valid. So the
// size of the table is bounded by the number of different addresses. Handles of all kinds share one table, because no
// two objects have the same address. Thread-safe; may be used at any time.
class HandleTable {
public:
    int number_of(std::uintptr_t handle);
    // The result for a number that number_of() has not returned is 0, which is never a valid handle.
    std::uintptr_t handle_of(int number) const;

private:
    mutable std::shared_mutex _mutex;
    std::unordered_map<std::uintptr_t, int> _numbers;
    std::vector<std::uintptr_t> _handles;
};

} // namespace patchbay::api
