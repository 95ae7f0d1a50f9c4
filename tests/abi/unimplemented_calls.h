// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mpix.h>

// One call of every function that this build does not implement, with arguments that mean nothing. Generated; ends with
// a null name.
struct UnimplementedCall {
    const char* name;
    int (*call)();
};
extern const UnimplementedCall unimplemented_calls[];
