/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenPMIx 4.2 does not free some of its memory at exit; of a part of it the only frame seen is the C library's
 * vasprintf. */
const char* __lsan_default_suppressions(void);

__attribute__((visibility("default"))) const char* __lsan_default_suppressions(void) {
    return "leak:libpmix\nleak:vasprintf_internal\n";
}
