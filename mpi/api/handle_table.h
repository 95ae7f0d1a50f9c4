// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace patchbay::api {

// The integers that MPI_X_toint gives out (MPI-5.0, 21.6). A predefined handle is its own integer; any other handle is
// an address and gets the next free number on first sight. Numbers are never taken back: an address that is used again
// for a new object may keep its number, since the old handle is invalid by then, and so the table is no larger than the
// number of addresses that were ever asked for. Handles of all kinds share one table, as no two live objects share an
// address. Thread-safe; legal at any time.
class HandleTable {
public:
    int number_of(std::uintptr_t handle);
    // 0, which is never a valid handle, for a number that was not given out.
    std::uintptr_t handle_of(int number) const;

private:
    mutable std::shared_mutex _mutex;
    std::unordered_map<std::uintptr_t, int> _numbers;
    std::vector<std::uintptr_t> _handles;
};

} // namespace patchbay::api
