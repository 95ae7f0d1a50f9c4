// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The program's own malloc, calloc, realloc and aligned allocations, which the MPI library and its plugins use as well:
// they fail on demand.
namespace failing_malloc {

// The allocation with this number, counted from 0, fails; with `all_later` those after it fail, too.
void arm(long number, bool all_later);
// All succeed, and are not counted, until resume().
void pause();
void resume();
// All succeed again. Returns how many have failed since arm().
long disarm();

} // namespace failing_malloc
