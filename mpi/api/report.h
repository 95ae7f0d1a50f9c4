// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"
#include "object/session.h"

#include <string_view>

namespace patchbay::api {

// Whose error handler decides about an error (MPI-5.0, 9.3). An error of a call that has no object of its own, or whose
// handle is not valid, belongs to MPI_COMM_SELF; files without an object have a default of their own.
class ErrorTarget {
public:
    enum class Kind : std::uint8_t {
        self,
        communicator,
        window,
        file,
        session,
        group,
        origin,
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
    // The session that it is derived from, while that is open; groups may outlive it. Otherwise MPI_COMM_SELF.
    ErrorTarget(Group* group) noexcept
        : _kind(group != nullptr ? Kind::group : Kind::self),
          _object(group) {}
    // The same of an object that knows its session, null for the world model.
    static ErrorTarget derived_from(Session* session) noexcept {
        return session != nullptr ? ErrorTarget(Kind::origin, session) : ErrorTarget();
    }
    ErrorTarget(Kind kind, Object* object) noexcept
        : _kind(kind),
          _object(object) {}
    // An object that is still to be made: the error handler that it will have decides (MPI-5.0, 7.4.2 and 11.3.1). When
    // that is none, or one for objects of another kind, whose function would get a handle that is no such object,
    // `otherwise` hears.
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
    // Null for Kind::self and for files; the error handler of an object to come.
    Object* object() const noexcept { return _object; }

private:
    Kind _kind = Kind::self;
    Object* _object = nullptr;
};

// Hands an error to the target's error handler. `function` is the name of the MPI function that was called, `detail`
// says which argument or resource failed and with what value; where it is empty, what this thread has noted for `code`
// (object/error_cause.h) takes its place. Nothing is printed unless the handler is fatal.
// Returns `code`, which the binding returns; does not return when the handler is fatal.
[[gnu::cold, gnu::noinline]] int report(
    ErrorTarget target, const char* function, int code, std::string_view detail) noexcept;

// What report() was last told on this thread, if it was about `code`: "MPI_Send: the argument ...", or the cause that
// was noted for a code in a status. MPI_Error_string puts it behind the text of a predefined class. Empty otherwise.
std::string_view last_error_detail(int code) noexcept;

// What a function that this build does not implement does: MPI_ERR_UNSUPPORTED_OPERATION goes to the error handler of
// the object the function works on. Called by generated code only.
int unimplemented(const char* function) noexcept;
int unimplemented(const char* function, MPI_Comm comm) noexcept;
int unimplemented(const char* function, MPI_Win win) noexcept;
int unimplemented(const char* function, MPI_File file) noexcept;
int unimplemented(const char* function, MPI_Session session) noexcept;
// The tool interface has no error handlers: it only returns codes.
int unimplemented_tool(const char* function) noexcept;

} // namespace patchbay::api
