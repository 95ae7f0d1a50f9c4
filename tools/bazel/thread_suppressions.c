/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenPMIx 4.2 keeps the lock of a call on the stack of the caller, and its own thread may still unlock it when the
 * caller goes on and uses that memory for something else. The library is not instrumented, so that only these accesses
 * to a lock's memory are seen. */
const char* __tsan_default_suppressions(void);

__attribute__((visibility("default"))) const char* __tsan_default_suppressions(void) {
    return "race:pthread_mutex_lock\nrace:pthread_mutex_unlock\nrace:pthread_cond_broadcast\n";
}
