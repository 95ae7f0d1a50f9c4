// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <pmix.h>

namespace patchbay::launch {

class InfoList;

// Runs `work` on PMIx's own thread, soon but not within this call, in the order of the calls. May be called from any
// thread, including that one, while the PMIx server runs, which is as long as the process does.
void on_pmix_thread(std::function<void()> work);

// Answers the request of a rank. May be called from any thread, also from within the upcall; the answer always goes
// through PMIx's own thread. Several callbacks of PMIx put the answer into the queue of the connection themselves
// (4.2.2: those of job control, queries, publish and lookup, abort). From another thread that races with the sending of
// an earlier message, an event for instance: the answer stays in a queue that is never emptied, and the rank waits for
// ever.
void answer(pmix_info_cbfunc_t callback, void* callback_data, InfoList results); // with status PMIX_SUCCESS
void answer_error(pmix_info_cbfunc_t callback, void* callback_data, pmix_status_t status);
void answer_operation(pmix_op_cbfunc_t callback, void* callback_data, pmix_status_t status);

} // namespace patchbay::launch
