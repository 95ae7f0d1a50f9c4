// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/launch_environment.h"
#include "core/runtime/ready_protocol.h"
#include "core/runtime/runtime.h"

#include <memory>
#include <pmix.h>

namespace patchbay {

void Runtime::report_ready() {
    if (!_own_launcher || _lifetime != 0 || LaunchEnvironment::of_process().value(ready_variable).empty() ||
        _ready_reported.exchange(true)) {
        return;
    }
    auto directive = std::make_unique<pmix_info_t>(); // until PMIx's callback
    PMIX_INFO_LOAD(directive.get(), ready_key, nullptr, PMIX_BOOL);
    auto answered = [](pmix_status_t, pmix_info_t*, std::size_t, void* context, pmix_release_cbfunc_t release,
                        void* release_context) {
        const std::unique_ptr<pmix_info_t> owned(static_cast<pmix_info_t*>(context));
        if (release != nullptr) {
            release(release_context);
        }
    };
    if (PMIx_Job_control_nb(nullptr, 0, directive.get(), 1, answered, directive.get()) == PMIX_SUCCESS) {
        (void)directive.release();
    }
}

} // namespace patchbay
