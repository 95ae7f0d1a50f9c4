// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/session_list.h"

#include "object/session.h"

namespace patchbay {

void add_to_session(Communicator& comm) noexcept {
    Session* session = comm.session;
    if (session == nullptr) {
        return;
    }
    std::lock_guard lock(session->mutex);
    comm.next_of_session = session->communicators;
    comm.previous_of_session = nullptr;
    if (session->communicators != nullptr) {
        session->communicators->previous_of_session = &comm;
    }
    session->communicators = &comm;
    session->has_had_communicators = true;
    comm.in_session = true;
}

void remove_from_session(Communicator& comm) noexcept {
    Session* session = comm.session;
    if (!comm.in_session) {
        return;
    }
    std::lock_guard lock(session->mutex);
    (comm.previous_of_session != nullptr ? comm.previous_of_session->next_of_session : session->communicators) =
        comm.next_of_session;
    if (comm.next_of_session != nullptr) {
        comm.next_of_session->previous_of_session = comm.previous_of_session;
    }
    comm.in_session = false;
}

} // namespace patchbay
