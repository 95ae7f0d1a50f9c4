// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/pmix_thread.h"

#include "launch/pmix/info_list.h"

#include <cstdint>
#include <memory>

namespace patchbay::launch {

// PMIx has no function for this. The deregistration of an event handler is its cheapest call that is executed by its
// thread and calls back there, and with a number that no handler has it does nothing else.
void on_pmix_thread(std::function<void()> work) {
    constexpr std::size_t no_handler = SIZE_MAX;
    auto run = [](pmix_status_t, void* data) {
        const std::unique_ptr<std::function<void()>> work(static_cast<std::function<void()>*>(data));
        (*work)();
    };
    PMIx_Deregister_event_handler(no_handler, run, new std::function<void()>(std::move(work)));
}

void answer(pmix_info_cbfunc_t callback, void* callback_data, InfoList results) {
    auto* held = new InfoList(std::move(results)); // freed in the release callback of PMIx
    on_pmix_thread([callback, callback_data, held] {
        auto release = [](void* list) { delete static_cast<InfoList*>(list); };
        callback(PMIX_SUCCESS, held->data(), held->size(), callback_data, release, held);
    });
}

void answer_error(pmix_info_cbfunc_t callback, void* callback_data, pmix_status_t status) {
    on_pmix_thread(
        [callback, callback_data, status] { callback(status, nullptr, 0, callback_data, nullptr, nullptr); });
}

void answer_operation(pmix_op_cbfunc_t callback, void* callback_data, pmix_status_t status) {
    on_pmix_thread([callback, callback_data, status] { callback(status, callback_data); });
}

} // namespace patchbay::launch
