// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "include/mpi.h"
#include "object/object.h"

#include <cstddef>
#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {

class Communicator;
class Group;
class Datatype;
class Op;
class Request;
class Message;
class Info;
class Errhandler;
class Session;
class Window;

// The handle type of each object, and the range of its predefined handles (MPI-5.0 ABI, 20.3).
template <class T>
struct HandleTraits;

#define PATCHBAY_HANDLE(Class, Handle, Kind, First, Count)                                                             \
    template <>                                                                                                        \
    struct HandleTraits<Class> {                                                                                       \
        using handle_type = Handle;                                                                                    \
        static constexpr ObjectKind kind = ObjectKind::Kind;                                                           \
        static constexpr std::uintptr_t first = First;                                                                 \
        static constexpr std::size_t count = Count;                                                                    \
        static constexpr const char* name = #Handle;                                                                   \
    };
PATCHBAY_HANDLE(Communicator, MPI_Comm, communicator, 0x100, 3)
PATCHBAY_HANDLE(Group, MPI_Group, group, 0x108, 2)
PATCHBAY_HANDLE(Datatype, MPI_Datatype, datatype, 0x200, 0x100)
PATCHBAY_HANDLE(Op, MPI_Op, op, 0x20, 0x20)
PATCHBAY_HANDLE(Request, MPI_Request, request, 0x180, 1)
PATCHBAY_HANDLE(Message, MPI_Message, message, 0x128, 2)
PATCHBAY_HANDLE(Info, MPI_Info, info, 0x130, 2)
PATCHBAY_HANDLE(Errhandler, MPI_Errhandler, errhandler, 0x140, 4)
PATCHBAY_HANDLE(Session, MPI_Session, session, 0x120, 1)
PATCHBAY_HANDLE(Window, MPI_Win, window, 0x110, 1)
#undef PATCHBAY_HANDLE

// The objects behind predefined handles, by (handle - first). A null entry belongs to a null handle or to an object
// that does not exist now (MPI_COMM_WORLD before MPI_Init). Datatypes, ops and error handlers are constant-initialised,
// or their translation unit constructs them before first use; the world model sets the communicators.
template <class T>
struct Predefined {
    static T* table[HandleTraits<T>::count];
};
// Each table is defined in the translation unit of its class; these declarations prevent an implicit instantiation.
template <>
Communicator* Predefined<Communicator>::table[];
template <>
Group* Predefined<Group>::table[];
template <>
Datatype* Predefined<Datatype>::table[];
template <>
Op* Predefined<Op>::table[];
template <>
Request* Predefined<Request>::table[];
template <>
Message* Predefined<Message>::table[];
template <>
Info* Predefined<Info>::table[];
template <>
Errhandler* Predefined<Errhandler>::table[];
template <>
Session* Predefined<Session>::table[];
template <>
Window* Predefined<Window>::table[];

// Converts a handle to an object, with one comparison. The result for null handles and unknown predefined values is
// nullptr.
template <class T>
inline T* to_object(typename HandleTraits<T>::handle_type handle) noexcept {
    const auto value = reinterpret_cast<std::uintptr_t>(handle);
    if (value >= first_dynamic_handle) [[likely]] {
        return reinterpret_cast<T*>(value);
    }
    const std::uintptr_t index = value - HandleTraits<T>::first;
    return index < HandleTraits<T>::count ? Predefined<T>::table[index] : nullptr;
}

// The handle of a thread communicator is the same in all threads of the process, and each of them has a communicator of
// its own behind it (object/thread_views.h). Such a handle is one of these numbers, which are below all addresses and
// above all predefined handles: no other handle costs anything for it.
inline constexpr std::uintptr_t first_thread_handle = 0xc00;
inline constexpr std::size_t thread_handles = 0x400;
inline bool is_thread_handle(std::uintptr_t value) noexcept {
    return value - first_thread_handle < thread_handles;
}
// The calling thread's communicator behind such a handle; nullptr: the thread has none.
Communicator* thread_view(std::uintptr_t value) noexcept;

template <>
inline Communicator* to_object<Communicator>(MPI_Comm handle) noexcept {
    const auto value = reinterpret_cast<std::uintptr_t>(handle);
    if (value >= first_dynamic_handle) [[likely]] {
        return reinterpret_cast<Communicator*>(value);
    }
    const std::uintptr_t index = value - HandleTraits<Communicator>::first;
    if (index < HandleTraits<Communicator>::count) {
        return Predefined<Communicator>::table[index];
    }
    return is_thread_handle(value) ? thread_view(value) : nullptr;
}

template <class T>
inline typename HandleTraits<T>::handle_type to_handle(const T* object) noexcept {
    // The handle is not the address of the base: an object with virtual functions does not begin with its base.
    const std::uintptr_t predefined = object->predefined_handle();
    return reinterpret_cast<typename HandleTraits<T>::handle_type>(
        predefined != 0 ? predefined : reinterpret_cast<std::uintptr_t>(object));
}

} // namespace patchbay
