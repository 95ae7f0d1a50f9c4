// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/pmix_connection.h"

#include "core/runtime/launch_environment.h"

#include <pmix.h>

namespace patchbay::pmix_connection {

namespace {
struct Connection {
    bool opened_before = false;
    bool kept = false;
    Identity identity;

    ~Connection() {
        if (kept) {
            PMIx_Finalize(nullptr, 0);
        }
    }
};

Connection& connection() {
    static Connection process_connection;
    return process_connection;
}
} // namespace

Result<Identity> open() {
    Connection& ours = connection();
    if (ours.kept) {
        return ours.identity;
    }
    LaunchEnvironment& environment = LaunchEnvironment::of_process();
    pmix_proc_t self;
    pmix_status_t status = PMIX_ERR_UNREACH;
    environment.show();
    if (environment.names_pmix_server()) {
        status = PMIx_Init(&self, nullptr, 0);
    }
    environment.hide();
    if (status == PMIX_ERR_UNREACH) {
        // No PMIx_Finalize: in this state libpmix 4.2.2 crashes in it. Its idle thread is left over.
        return Error{Errc::unsupported, "a PMIx server is announced (PMIX_NAMESPACE=" +
                                            environment.value("PMIX_NAMESPACE") + "), but it does not answer"};
    }
    if (status != PMIX_SUCCESS) {
        return Error{Errc::system, std::string("PMIx_Init failed: ") + PMIx_Error_string(status)};
    }
    ours.identity = Identity{self.nspace, self.rank};
    ours.kept = std::exchange(ours.opened_before, true);
    return ours.identity;
}

void close() noexcept {
    if (!connection().kept) {
        PMIx_Finalize(nullptr, 0);
    }
}

} // namespace patchbay::pmix_connection
