// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "include/mpi.h"

#include <deque>
#include <string>
#include <vector>

namespace patchbay::tool {

// What an MPI_T_enum handle refers to: the names of the values 0, 1, ...
struct Enumeration {
    std::string name;
    std::vector<std::string> items;
};

// The enumerations of one generation of the tool interface. Their addresses do not change.
class Enumerations {
public:
    // Without items: MPI_T_ENUM_NULL.
    MPI_T_enum add(const std::string& name, const std::vector<std::string>& items) {
        return items.empty() ? MPI_T_ENUM_NULL
                             : reinterpret_cast<MPI_T_enum>(&_all.emplace_back(Enumeration{name, items}));
    }
    // nullptr: no such handle.
    const Enumeration* find(MPI_T_enum handle) const noexcept {
        for (const Enumeration& one : _all) {
            if (reinterpret_cast<MPI_T_enum>(const_cast<Enumeration*>(&one)) == handle) {
                return &one;
            }
        }
        return nullptr;
    }
    void clear() noexcept { _all.clear(); }

private:
    std::deque<Enumeration> _all;
};

} // namespace patchbay::tool
