// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/attribute.h"
#include "object/buffer_attach_point.h"
#include "object/errhandler.h"
#include "object/info.h"
#include "object/session_id.h"

#include <memory>
#include <mutex>

namespace [[gnu::visibility("default")]] patchbay {

class Instance;
class InstanceLease;
class ConstructionQueue;

// A session (MPI-5.0, 11.3): one user of the library, with its own error handling, thread level, attributes and buffer
// for buffered sends. Objects that are derived from it carry a pointer to it. Opened and closed by
// mpi/library/session.h; the world model holds one, too, of which its objects say nothing (their `session` is null).
class Session final : public Object {
public:
    Session();
    ~Session();
    static void destroy(Session*) noexcept;

    // For what may outlive it. Null has one, too: that of the world model.
    static SessionId id(Session* session) noexcept {
        return session != nullptr ? SessionId{session, session->number} : SessionId();
    }

    const std::uint64_t number;   // from 1; no other session of this process has had it
    Instance* instance = nullptr; // there as long as the session is
    int thread_level = MPI_THREAD_SINGLE;
    Ref<Info> info; // what is in effect, for MPI_Session_get_info
    AttributeMap attributes;
    BufferAttachPoint send_buffer; // mpi/instance/send_buffer.h
    mutable std::mutex mutex;      // what follows
    Ref<Errhandler> errhandler;
    Communicator* communicators = nullptr; // those derived from it that live, linked by their `next_of_session`
    bool has_had_communicators = false;

    std::unique_ptr<ConstructionQueue>
        constructions; // mpi/communicators/construction_queue.h; the session's own poller

    std::unique_ptr<InstanceLease> lease; // declared last: given back before the rest goes
};

} // namespace patchbay
