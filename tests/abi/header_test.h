// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mpi.h>

#include <cstdint>

// Handles, addresses and predefined callbacks: the values of the header and those of the table. Generated from
// expected_constants.tsv; ends with a null name.
struct PointerConstant {
    const char* name;
    std::uintptr_t found;
    std::uintptr_t expected;
};
extern const PointerConstant pointer_constants[];
