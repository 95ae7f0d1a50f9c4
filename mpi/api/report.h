// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"
#include "object/session.h"
#include "object/window.h"

#include <string_view>

namespace patchbay::api {

// The object whose error handler is called for an error (MPI-5.0, 9.3). If the call has no object, or the handle is not
// valid, that is MPI_COMM_SELF; the functions on files have a default error handler of their own.
class ErrorTarget {
public:
    enum class Kind : std::uint8_t {
        self,
        communicator,
        window,
        file,
        session,
        group,
        derived,
        new_communicator,
        new_session
    };

    ErrorTarget() = default;
    // A null pointer means MPI_COMM_SELF.
    ErrorTarget(Communicator* comm) noexcept
        : _kind(comm != nullptr ? Kind::communicator : Kind::self),
          _object(comm) {}
    // A null pointer means MPI_COMM_SELF.
    ErrorTarget(Session* session) noexcept
        : _kind(session != nullptr ? Kind::session : Kind::self),
          _object(session) {}
    // A null pointer means MPI_COMM_SELF.
    ErrorTarget(Window* window) noexcept
        : _kind(window != nullptr ? Kind::window : Kind::self),
          _object(window) {}
    // The session that the group is derived from. If that session is not open any more, MPI_COMM_SELF.
    ErrorTarget(Group* group) noexcept
        : _kind(group != nullptr ? Kind::group : Kind::self),
          _object(group) {}
    // The same for another object with a session; null means the world model.
    static ErrorTarget derived_from(Session* session) noexcept {
        return session != nullptr ? ErrorTarget(Kind::derived, session) : ErrorTarget();
    }
    ErrorTarget(Kind kind, Object* object) noexcept
        : _kind(kind),
          _object(object) {}
    // An object that is to be constructed: its future error handler is called (MPI-5.0, 7.4.2 and 11.3.1). If there is
    // none, or it is for objects of another kind, the error is reported to `otherwise`.
    static ErrorTarget new_communicator(Errhandler* errhandler, ErrorTarget otherwise) noexcept {
        const bool good = errhandler != nullptr && errhandler->serves(Errhandler::Owner::communicator);
        return good ? ErrorTarget(Kind::new_communicator, errhandler) : otherwise;
    }
    static ErrorTarget new_session(Errhandler* errhandler) noexcept {
        const bool good = errhandler != nullptr && errhandler->serves(Errhandler::Owner::session);
        return good ? ErrorTarget(Kind::new_session, errhandler) : ErrorTarget();
    }
    static ErrorTarget file() noexcept {
        ErrorTarget target;
        target._kind = Kind::file;
        return target;
    }

    Kind kind() const noexcept { return _kind; }
    // Null for Kind::self and for files; for an object that is to be constructed, its error handler.
    Object* object() const noexcept { return _object; }

private:
    Kind _kind = Kind::self;
    Object* _object = nullptr;
};

// Calls the error handler of the target. `function` is the name of the MPI function that was called. `detail` names the
// argument or resource that failed, and its value; if it is empty, the cause that this thread has stored for `code`
// (object/error_cause.h) is used. Nothing is printed unless the error handler is fatal. Returns `code`, which the
// binding returns; does not return if the error handler is fatal.
[[gnu::cold, gnu::noinline]] int report(
    ErrorTarget target, const char* function, int code, std::string_view detail) noexcept;

// Reports a code that is not MPI_SUCCESS, and returns the code.
inline int report_code(const char* function, Communicator* comm, int code) noexcept {
    return code == MPI_SUCCESS ? code : report(ErrorTarget(comm), function, code, {});
}

// The text of this thread's last error if that has this code: "MPI_Send: the argument ...", or the cause that was
// stored for a code in a status. Otherwise empty. MPI_Error_string appends it to the text of a predefined class.
std::string_view last_error_detail(int code) noexcept;

// Called by the stubs of functions that this build does not implement: these report MPI_ERR_UNSUPPORTED_OPERATION to
// the error handler of the object that the function is called on.
int unimplemented(const char* function) noexcept;
int unimplemented(const char* function, MPI_Comm comm) noexcept;
int unimplemented(const char* function, MPI_Win win) noexcept;
int unimplemented(const char* function, MPI_File file) noexcept;
int unimplemented(const char* function, MPI_Session session) noexcept;

} // namespace patchbay::api
