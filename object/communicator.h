// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/attribute.h"
#include "object/buffer_attach_point.h"
#include "object/errhandler.h"
#include "object/group.h"
#include "object/info.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace [[gnu::visibility("default")]] patchbay {

namespace pml {
class Module;
class CommData;
}
namespace coll {
class Table;
}
namespace cid {
class CommunicatorId;
}
class Instance;

// A communicator: who takes part, its local index (CID), and the modules that serve it. It knows no protocol: what a
// module keeps for it hangs on a pointer the module owns. Built and torn down by mpi/communicators/communicators.h.
// Whoever keeps a pointer to one beyond a call (a pending request) holds a reference: MPI_Comm_free only takes the
// handle's.
class Communicator final : public Object {
public:
    Communicator()
        : Object(ObjectKind::communicator) {}
    ~Communicator();
    static void destroy(Communicator*) noexcept;

    // Read on the hot path; set before the communicator is seen by any other thread.
    pml::Module* pml = nullptr;
    pml::CommData* pml_data = nullptr; // owned by the pml
    int rank = MPI_UNDEFINED;          // in the local group
    int size = 0;                      // of the local group
    int remote_size = 0;               // intercommunicators: size of the remote group; otherwise == size
    std::uint16_t index = 0;           // the CID: slot in this process's table of communicators
    bool is_inter = false;

    coll::Table* coll = nullptr;       // owned by the coll framework
    Session* session = nullptr;        // nullptr: world model
    cid::CommunicatorId* id = nullptr; // how the index came to be and what is known of peers' indices; owned by cid
    Instance* instance = nullptr;      // what it belongs to
    Communicator* next_of_session = nullptr; // the session's list (mpi/library/session.h)
    Communicator* previous_of_session = nullptr;
    bool in_session = false; // in that list
    bool freed = false;      // the handle; what is pending keeps it alive

    Ref<Group> group;
    Ref<Group> remote_group; // intercommunicators; otherwise shares `group`
    // Intercommunicators: of the local group, for the library's own messages within it; holds a reference.
    Communicator* local_comm = nullptr;
    Ref<Info> hints;
    AttributeMap attributes;
    mutable std::mutex mutex; // name, error handler, hints
    Ref<Errhandler> errhandler;
    std::string name;
    void* topology = nullptr;      // of a later issue: owned by the topology room
    BufferAttachPoint send_buffer; // MPI_Comm_attach_buffer (mpi/instance/send_buffer.h)
    // How many communicators have been made from this one by calls of all members: tells their messages apart.
    std::atomic<std::uint32_t> constructions{0};

    // For people: the name, or the number of processes and the index of a communicator without one.
    std::string describe() const;
};

} // namespace patchbay
