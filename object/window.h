// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/attribute.h"
#include "object/communicator.h"
#include "object/errhandler.h"
#include "object/info.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

namespace osc {
class Epochs;
class Memory;
class Module;
}
class Instance;

// What a member of a window exposes, as all members know it.
struct WindowMember {
    std::uint64_t address = 0; // of its base, in its own address space; 0 where the window is dynamic
    std::uint64_t bytes = 0;
    std::uint64_t shared = 0; // the place of its base in the memory of the node (SharedAddress); 0: it is not there
    std::uint32_t displacement_unit = 1;
    std::int32_t flavor = 0; // MPI_WIN_FLAVOR_*; the same in all members of a window that has been constructed
};

// A window (MPI-5.0, chapter 12): the memory that each member of a communicator exposes, the epochs of this process,
// and the module that carries the operations out. It depends on no protocol. mpi/windows/windows.h constructs and
// destroys windows; an object that keeps a pointer to a window beyond a call holds a reference.
class Window final : public Object {
public:
    Window();
    ~Window();
    static void destroy(Window*) noexcept;

    // These are read on the hot path. They are set before another thread can use the window.
    osc::Module* module = nullptr; // owned by the window; mpi/windows destroys it
    osc::Epochs* epochs = nullptr; // owned by the window; mpi/windows destroys it
    int rank = 0;
    int size = 0;
    int flavor = 0;                    // MPI_WIN_FLAVOR_*
    std::vector<WindowMember> members; // by rank
    // A duplicate of the communicator of the constructor, for the messages and collectives of the window. The pointer
    // holds a reference.
    Communicator* comm = nullptr;

    Session* session = nullptr; // nullptr: world model
    Instance* instance = nullptr;
    void* base = nullptr;          // of this process; MPI_BOTTOM where the window is dynamic
    osc::Memory* memory = nullptr; // owned by the window; null: the memory is the program's
    bool freed = false;            // whether the program has freed it; pending requests may hold references
    Ref<Info> hints;
    AttributeMap attributes;
    mutable std::mutex mutex; // protects name, errhandler, hints and regions
    Ref<Errhandler> errhandler;
    std::string name;
    std::string component; // that serves the window
    // The memory that the program has attached to a dynamic window: the bytes by the base.
    std::multimap<std::uintptr_t, std::uint64_t> regions;

    // What MPI_WIN_SIZE, MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR and MPI_WIN_MODEL point to.
    struct AttributeValues {
        MPI_Aint bytes = 0;
        int displacement_unit = 1;
        int flavor = 0;
        int model = 0;
    } attribute_values;

    // A text for messages to the user: the name, or the number of processes where there is no name.
    std::string describe() const;
};

} // namespace patchbay
