// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/pmix_connection.h"

#include "core/runtime/launch_environment.h"
#include "core/runtime/socket_delay.h"

#include <atomic>
#include <mutex>
#include <pmix.h>
#include <unistd.h>
#include <utility>

namespace patchbay::pmix_connection {

namespace {
struct Connection {
    bool opened_before = false;
    std::atomic<bool> kept{false}; // keep() may come from any thread
    std::mutex mutex;              // protects the members below
    bool in_use = false;
    bool abandoned = false;
    bool closed = false; // since it was abandoned; before that a session may still use it
    bool ending = false; // the process; nothing is kept any more
    pid_t process = 0;   // a child of it has no connection
    Identity identity;

    // A process that exits while it uses the connection has not finalized, and its launcher must learn that: others may
    // be waiting for it.
    void end() noexcept {
        if (process != 0 && process != getpid()) { // the thread that PMIx_Finalize waits for is one of the parent
            return;
        }
        const std::lock_guard lock(mutex);
        ending = true;
        if (kept && !in_use) {
            finalize();
        }
    }
    void finalize() noexcept {
        PMIx_Finalize(nullptr, 0);
        kept = false;
    }
};

// Never destroyed: a program may call MPI in its static destructors, which run after `end`.
Connection& connection() {
    static auto& process_connection = *new Connection;
    static const struct End {
        ~End() { connection().end(); }
    } end;
    return process_connection;
}
} // namespace

Result<Identity> open() {
    Connection& ours = connection();
    const std::lock_guard lock(ours.mutex);
    ours.abandoned = false;
    ours.closed = false;
    if (ours.kept) {
        ours.in_use = true;
        return ours.identity;
    }
    LaunchEnvironment& environment = LaunchEnvironment::of_process();
    pmix_proc_t self;
    pmix_status_t status = PMIX_ERR_UNREACH;
    environment.show();
    if (environment.names_pmix_server()) {
        status = PMIx_Init(&self, nullptr, 0);
        send_without_delay_to(pmix_server_ports());
    }
    environment.hide();
    if (status == PMIX_ERR_UNREACH) {
        // No PMIx_Finalize: in this state libpmix 4.2.2 crashes in it. Its idle thread is left over.
        return Error{Errc::unsupported, "a PMIx server is announced (PMIX_NAMESPACE is set), but it does not answer"};
    }
    if (status != PMIX_SUCCESS) {
        return Error{Errc::system, std::string("PMIx_Init failed: ") + PMIx_Error_string(status)};
    }
    ours.identity = Identity{self.nspace, self.rank};
    ours.process = getpid();
    ours.kept = std::exchange(ours.opened_before, true) && !ours.ending;
    ours.in_use = true;
    return ours.identity;
}

void close() noexcept {
    const std::lock_guard lock(connection().mutex);
    if (connection().abandoned) {
        connection().closed = true;
        return;
    }
    connection().in_use = false;
    if (!connection().kept || connection().ending) {
        connection().finalize();
    }
}

void keep() noexcept {
    connection().kept = true;
}

void abandon() noexcept {
    const std::lock_guard lock(connection().mutex);
    if (connection().in_use) {
        connection().abandoned = true;
        connection().kept = true;
    }
}

void end_abandoned() noexcept {
    const std::lock_guard lock(connection().mutex);
    if (std::exchange(connection().abandoned, false) && std::exchange(connection().closed, false)) {
        connection().in_use = false;
    }
}

} // namespace patchbay::pmix_connection
