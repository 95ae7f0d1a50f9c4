// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <pmix.h>

namespace patchbay::launch {

class InfoList;

// Runs `work` on PMIx's own thread, soon and not within this call; in the order in which it was asked for. From any
// thread, that one included. Only while the PMIx server runs, which is as long as the process does.
void on_pmix_thread(std::function<void()> work);

// The answers to what a rank has asked for: from any thread, also from within the upcall, and always through PMIx's
// own thread. Several of PMIx's callbacks put the answer into the connection's queue themselves (4.2.2: those of
// job control, queries, publish and lookup, abort). From another thread that races with the sending of an earlier
// message, an event for instance: the answer stays in a queue that nobody empties, and the rank waits for ever.
void answer(pmix_info_cbfunc_t callback, void* callback_data, InfoList results); // a success
void answer_error(pmix_info_cbfunc_t callback, void* callback_data, pmix_status_t status);
void answer_operation(pmix_op_cbfunc_t callback, void* callback_data, pmix_status_t status);

} // namespace patchbay::launch
