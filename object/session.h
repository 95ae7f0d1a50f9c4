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

// A session (MPI-5.0, 11.3): a user of the library, with its own error handler, thread level, attributes and buffer for
// buffered sends. Objects that are derived from a session have a pointer to it. mpi/library/session.h opens and closes
// sessions. The world model has an internal session; the `session` of its objects is null.
class Session final : public Object {
public:
    Session();
    ~Session();
    static void destroy(Session*) noexcept;

    // The id of a session, for objects that may outlive it. The id of nullptr stands for the world model.
    static SessionId id(Session* session) noexcept {
        return session != nullptr ? SessionId{session, session->number} : SessionId();
    }

    const std::uint64_t number;   // from 1; no two sessions of a process have the same number
    Instance* instance = nullptr; // exists at least as long as the session
    int thread_level = MPI_THREAD_SINGLE;
    Ref<Info> info; // the values in effect, for MPI_Session_get_info
    AttributeMap attributes;
    BufferAttachPoint send_buffer; // mpi/instance/send_buffer.h
    mutable std::mutex mutex;      // protects the members up to has_had_communicators
    Ref<Errhandler> errhandler;
    Communicator* communicators = nullptr; // list of the communicators of the session, by `next_of_session`
    bool has_had_communicators = false;

    // The nonblocking constructors of the session (mpi/communicators/construction_queue.h), with a poller of their own.
    std::unique_ptr<ConstructionQueue> constructions;

    std::unique_ptr<InstanceLease> lease; // declared last, so that it is released before the other members
};

} // namespace patchbay
