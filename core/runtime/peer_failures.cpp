// SPDX-License-Identifier: BSD-3-Clause
// Reports of processes that have failed, or have ended and left others behind.
#include "core/runtime/pmix_value.h"
#include "core/runtime/runtime.h"
#include "core/runtime/runtime_private.h"

namespace patchbay {

namespace {
using Handler = std::function<void(const ProcessName&)>;

// The object that was given at registration comes back among the event's own data.
void on_event(std::size_t, pmix_status_t, const pmix_proc_t* source, pmix_info_t* info, std::size_t count, pmix_info_t*,
    std::size_t, pmix_event_notification_cbfunc_fn_t done, void* done_context) {
    const pmix_proc_t* failed = source;
    const Handler* handler = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC) && info[i].value.type == PMIX_PROC) {
            failed = info[i].value.data.proc;
        } else if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_RETURN_OBJECT)) {
            handler = static_cast<const Handler*>(info[i].value.data.ptr);
        }
    }
    if (handler != nullptr && failed != nullptr) {
        (*handler)(ProcessName{failed->nspace, failed->rank});
    }
    if (done != nullptr) {
        done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, done_context);
    }
}
} // namespace

Status Runtime::on_peer_failure(std::function<void(const ProcessName&)> failed) {
    if (_singleton) {
        return Error{Errc::unsupported, "no launcher reports failures of processes to a process that runs alone"};
    }
    if (_private->reports_failures) {
        return Error{Errc::invalid, "failures are reported to one handler, which is there already"};
    }
    _private->peer_failed = std::move(failed);
    // The last one: mpirun reports it after a failure in the same job.
    pmix_status_t codes[] = {
        PMIX_ERR_PROC_ABORTED, PMIX_ERR_EXIT_NONZERO_TERM, PMIX_ERR_PROC_TERM_WO_SYNC, PMIX_EVENT_PROC_TERMINATED};
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_EVENT_RETURN_OBJECT, &_private->peer_failed, PMIX_POINTER);
    // Without a callback the call blocks and returns the handler's number, or a negative status.
    pmix_status_t number = PMIx_Register_event_handler(codes, std::size(codes), &info, 1, on_event, nullptr, nullptr);
    PMIX_INFO_DESTRUCT(&info);
    if (number < 0) {
        return Error{Errc::unsupported, "this launcher reports no failures of processes: " + text_of(number)};
    }
    _private->death_handler = std::size_t(number);
    _private->reports_failures = true;
    return {};
}

void Runtime::stop_death_reports() noexcept {
    if (_private->reports_failures) {
        PMIx_Deregister_event_handler(_private->death_handler, nullptr, nullptr);
        _private->reports_failures = false;
    }
}

} // namespace patchbay
