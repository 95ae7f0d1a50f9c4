// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/library/session.h"

#include "core/progress/progress.h"
#include "mpi/bootstrap/exchange.h"
#include "mpi/channels/channels.h"
#include "mpi/communicators/communicators.h"
#include "mpi/communicators/construction_queue.h"
#include "mpi/communicators/thread_communicators.h"
#include "mpi/instance/observed_instance.h"
#include "mpi/instance/send_buffer.h"
#include "mpi/instance/thread_levels.h"
#include "mpi/library/library.h"
#include "mpi/windows/windows.h"
#include "object/origins.h"

#include <algorithm>
#include <atomic>

namespace patchbay {

namespace {

// The memory kinds that every MPI call accepts, whether or not the program requests them (MPI-5.0, 11.4.3).
constexpr char memory_kinds[] = "mpi,system";

std::uint64_t next_number() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// A communicator of the session whose handle the program has; nullptr: there is none.
Communicator* first_communicator(Session& session) noexcept {
    std::lock_guard lock(session.mutex);
    Communicator* comm = session.communicators;
    while (comm != nullptr && (comm->freed || comm->is_local_side)) {
        comm = comm->next_of_session;
    }
    return comm;
}

bool has_communicated(Session& session) noexcept {
    std::lock_guard lock(session.mutex);
    return session.has_had_communicators || session.send_buffer.get() != nullptr;
}

// Removes the communicators that are left from the session. They have been freed, but requests still refer to them:
// receives that no message matched, and persistent requests.
void abandon_communicators(Session& session) noexcept {
    std::lock_guard lock(session.mutex);
    while (Communicator* comm = session.communicators) {
        session.communicators = comm->next_of_session;
        comm->in_session = false;
        comm->session = nullptr;
    }
}

} // namespace

Session::Session()
    : Object(ObjectKind::session),
      number(next_number()) {}
Session::~Session() = default;

void Session::destroy(Session* session) noexcept {
    {
        const std::lock_guard lock(bound_objects_mutex());
        session->instance->remove_session(*session);
    }
    delete session;
}

Result<Ref<Session>> open_session(Library& library, std::optional<int> requested_level, Ref<Errhandler> errhandler) {
    auto lease = library.acquire(requested_level.value_or(MPI_THREAD_FUNNELED));
    if (!lease) {
        return lease.error();
    }
    Instance& instance = lease->instance();
    // Locks stay on as long as the instance exists.
    const int thread_level =
        requested_level.value_or(instance.progress().threaded() ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED);
    auto session = Ref<Session>::adopt(new Session);
    session->instance = &instance;
    session->lease = std::make_unique<InstanceLease>(std::move(*lease));
    session->constructions = std::make_unique<ConstructionQueue>(instance);
    session->thread_level = std::min(thread_level, instance.thread_level());
    session->errhandler = std::move(errhandler);
    session->info = Ref<Info>::adopt(new Info);
    session->info->set("thread_level", thread_level_name(session->thread_level));
    session->info->set("mpi_memory_alloc_kinds", memory_kinds);
    instance.add_session(*session);
    return session;
}

int close_session(Session& session) noexcept {
    // At every thread level, any thread may finalize a session while other threads communicate (MPI-5.0, 11.6.2).
    const bool communicated = has_communicated(session);
    if (communicated && session.lease->user().thread != this_thread_id()) {
        session.instance->enable_locks("a session was finalized by another thread than the one that opened it");
    }
    if (const int code = threads::check_inactive(*session.instance, &session); code != MPI_SUCCESS) {
        return code;
    }
    if (const int code = session.attributes.erase_all(AttributeOwner::session, to_handle(&session));
        code != MPI_SUCCESS) {
        return code;
    }
    // The queue is cleared, not deleted, because the session continues to exist if a deletion callback below returns an
    // error.
    session.constructions->clear();
    if (const int code = threads::free_all(*session.instance, session); code != MPI_SUCCESS) {
        return code;
    }
    abandon_windows(*session.instance, &session);
    session.instance->channels().abandon(&session);
    while (Communicator* comm = first_communicator(session)) {
        if (Origins* const origins = Origins::active()) {
            origins->lose(to_handle(comm), comm->name);
        }
        if (const int code = free_communicator(*comm); code != MPI_SUCCESS) {
            return code;
        }
    }
    SendBuffer::detach_from(session.send_buffer);
    if (communicated) {
        // This process may not progress communication for a long time after this, while other processes continue.
        session.instance->bootstrap().flush();
        session.instance->drain(&session);
    }
    abandon_communicators(session);
    Ref<Session>::adopt(&session).reset();
    return MPI_SUCCESS;
}

} // namespace patchbay
