// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/api/begin_call.h"
#include "mpi/api/report.h"
#include "mpi/instance/settings.h"
#include "object/datatype.h"
#include "object/info.h"
#include "object/op.h"
#include "object/probed_handle.h"
#include "object/request.h"
#include "object/window.h"

namespace patchbay::api {

inline bool checking() noexcept {
    return settings.check_arguments.load(std::memory_order_relaxed);
}

// The request of a handle that is a member of a bundle; nullptr: the handle is anything else. Few calls accept a
// member.
inline Request* bundled_request(MPI_Request handle) noexcept {
    Request* request = to_object<Request>(handle);
    return request != nullptr && is_object<Request, ObjectKind::bundled_request>(request) ? request : nullptr;
}

// MPI_BOTTOM, MPI_IN_PLACE and MPI_BUFFER_AUTOMATIC are the addresses 0, 1 and 2.
inline bool is_special_address(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) <= 2;
}

// Every MPI library allows tags up to this one.
inline constexpr unsigned smallest_tag_limit = 32767;

// The argument checks of one call. A binding constructs an object of this class, chains the checks that it needs with
// &&, and returns code() if one of them fails; that check has reported the error with the function, the argument and
// its value.
//
//     Arguments args("MPI_Send", comm);
//     if (checking() && !(args.communicator() && args.count("count", count) && args.dest("dest", dest))) {
//         return args.code();
//     }
//     ...
//     return args.result(args.comm()->pml->send(...));
//
// The checks are inline comparisons. The functions that format a text are out of line; their arguments are values and
// never this object, so that the compiler can keep it in registers.
class Arguments {
public:
    // A call without an object.
    explicit Arguments(const char* function) noexcept
        : _function(function) {}
    // A call on requests or messages; permitted() is its first check.
    struct Pending {};
    Arguments(const char* function, Pending) noexcept
        : _function(function),
          _code(begin_call(function)) {}
    // A call on a communicator; communicator() checks the handle.
    Arguments(const char* function, MPI_Comm comm) noexcept
        : _function(function),
          _comm(to_object<Communicator>(comm)),
          _handle(comm) {
        if (const int code = begin_call(function, CallObject::Kind::communicator, comm); code != MPI_SUCCESS) {
            refuse_call(code);
        }
    }
    // A call on a session; session() checks the handle.
    Arguments(const char* function, MPI_Session session) noexcept
        : _function(function),
          _handle(reinterpret_cast<MPI_Comm>(session)),
          _kind(ErrorTarget::Kind::session),
          _other(to_object<Session>(session)) {}
    // A call on a window; window() checks the handle.
    Arguments(const char* function, MPI_Win window) noexcept
        : _function(function),
          _handle(reinterpret_cast<MPI_Comm>(window)),
          _kind(ErrorTarget::Kind::window),
          _other(to_object<Window>(window)) {
        if (const int code = begin_call(function, CallObject::Kind::window, window); code != MPI_SUCCESS) {
            refuse_call(code);
        }
    }
    // A call on groups. Errors are reported to the session of `group`.
    Arguments(const char* function, MPI_Group group) noexcept
        : Arguments(function, ErrorTarget(probed_object<Group>(group))) {}
    // A call that constructs an object, or that is on an object without an error handler. Errors are reported to
    // `target`.
    Arguments(const char* function, ErrorTarget target) noexcept
        : _function(function),
          _comm(
              target.kind() == ErrorTarget::Kind::communicator ? static_cast<Communicator*>(target.object()) : nullptr),
          _kind(target.kind()),
          _other(target.object()) {}

    // For a call on requests: errors are reported to this communicator from now on; nullptr: to MPI_COMM_SELF.
    void report_to(Communicator* comm) noexcept { _comm = comm; }

    // Undefined unless the handle is valid.
    Communicator* comm() const noexcept { return _comm; }
    int code() const noexcept { return _code; }
    const char* function() const noexcept { return _function; }
    // Undefined unless the handle is valid.
    Session& session_object() const noexcept { return *static_cast<Session*>(_other); }
    // Undefined unless the handle is valid.
    Window& window_object() const noexcept { return *static_cast<Window*>(_other); }

    // Ends a binding: reports a code that is not MPI_SUCCESS, and returns the code.
    int result(int code) const noexcept { return code == MPI_SUCCESS ? code : report(target(), _function, code, {}); }
    // Reports an error for which there is no check below.
    [[gnu::cold]] int fail(int code, std::string_view detail) const noexcept {
        return report(target(), _function, code, detail);
    }

    // Fails if this thread must not make the call, which has been reported; the checks of a communicator or window that
    // was given to the constructor fail then, too.
    bool permitted() const noexcept { return good(_code == MPI_SUCCESS); }
    // For a call whose object is not given to the constructor; before permitted().
    void begin() noexcept {
        if (_code == MPI_SUCCESS) {
            _code = begin_call(_function);
        }
    }

    // Checks the handle that was given to the constructor. MPI_COMM_NULL fails.
    bool communicator() noexcept { return good(_comm != nullptr && is_object(_comm)) || bad_comm(); }
    // MPI_SESSION_NULL fails.
    bool session() noexcept {
        return good(probed_object<Session>(reinterpret_cast<MPI_Session>(_handle)) != nullptr) || bad_session();
    }
    // MPI_WIN_NULL fails, and so does a window that has been freed.
    bool window() noexcept {
        const auto* object = probed_object<Window>(reinterpret_cast<MPI_Win>(_handle));
        return good(object != nullptr && !object->freed) || bad_window();
    }
    bool intracommunicator() noexcept {
        return communicator() && (good(!_comm->is_inter) || note(bad_inter(_comm, _function, false)));
    }
    bool intercommunicator() noexcept {
        return communicator() && (good(_comm->is_inter) || note(bad_inter(_comm, _function, true)));
    }

    // MPI_ERR_COMM if the ranks of the communicator are threads: for what only processes can do.
    bool of_processes() noexcept { return good(_comm->view == nullptr) || note(bad_threads(_comm, _function)); }

    // MPI_ERR_COUNT if the count is negative.
    bool count(const char* name, MPI_Count value) noexcept {
        return good(value >= 0) ||
            note(bad_value(target(), _function, MPI_ERR_COUNT, name, value, "must not be negative"));
    }
    // datatype() requires a committed datatype, type() any datatype.
    bool datatype(const char* name, MPI_Datatype handle) noexcept {
        const Datatype* type = probed_object<Datatype>(handle);
        return good(type != nullptr && type->committed) || note(bad_type(target(), _function, name, handle));
    }
    bool type(const char* name, MPI_Datatype handle) noexcept { return valid<Datatype>(MPI_ERR_TYPE, name, handle); }
    // A buffer for `count` elements: not MPI_IN_PLACE, and not null where the datatype contains no absolute addresses.
    [[gnu::always_inline]] bool buffer(
        const char* name, const void* address, MPI_Count count, MPI_Datatype handle) noexcept {
        return good(!is_special_address(address) || count == 0) ||
            note(check_special_buffer(target(), _function, name, address, handle));
    }
    // MPI_ERR_BUFFER if the send and the receive buffer of a collective share memory; MPI_IN_PLACE is for that.
    bool separate_buffers(bool fine) noexcept { return good(fine) || note(bad_aliases(target(), _function)); }

    // dest() checks a rank to send to, which may be MPI_PROC_NULL. source() checks a rank to receive from, which may
    // also be MPI_ANY_SOURCE.
    bool dest(const char* name, int rank) noexcept {
        return good(in_remote_group(rank) || rank == MPI_PROC_NULL) ||
            note(bad_rank(_comm, _function, name, rank, false));
    }
    bool source(const char* name, int rank) noexcept {
        return good(in_remote_group(rank) || rank == MPI_ANY_SOURCE || rank == MPI_PROC_NULL) ||
            note(bad_rank(_comm, _function, name, rank, true));
    }
    // A rank of the remote group; on an intercommunicator also MPI_ROOT and MPI_PROC_NULL.
    bool root(int rank) noexcept {
        return good(in_remote_group(rank) || (_comm->is_inter && (rank == MPI_ROOT || rank == MPI_PROC_NULL))) ||
            note(bad_root(_comm, _function, rank));
    }
    // A tag to send with, or to receive with, which may also be MPI_ANY_TAG. Only one above
    // smallest_tag_limit is compared with the limit of the pml.
    bool send_tag(const char* name, int value) noexcept {
        return good(static_cast<unsigned>(value) <= smallest_tag_limit) ||
            note(check_large_tag(_comm, _function, name, value));
    }
    bool receive_tag(const char* name, int value) noexcept {
        return good(value == MPI_ANY_TAG) || send_tag(name, value);
    }

    // An op of a reduction, which must be defined for the datatype (which has been checked before), and must not be
    // MPI_REPLACE or MPI_NO_OP.
    bool op(MPI_Op handle, MPI_Datatype type) noexcept {
        const Op* object = probed_object<Op>(handle);
        return good(
                   object != nullptr && !object->is_accumulate_only() && object->accepts(*to_object<Datatype>(type))) ||
            note(bad_op(target(), _function, handle, type));
    }
    bool group(const char* name, MPI_Group handle) noexcept { return valid<Group>(MPI_ERR_GROUP, name, handle); }
    bool info(const char* name, MPI_Info handle) noexcept { return valid<Info>(MPI_ERR_INFO, name, handle); }
    bool info_or_null(const char* name, MPI_Info handle) noexcept {
        return good(handle == MPI_INFO_NULL) || info(name, handle);
    }
    bool errhandler(const char* name, MPI_Errhandler handle) noexcept {
        return valid<Errhandler>(MPI_ERR_ERRHANDLER, name, handle);
    }
    bool request(const char* name, MPI_Request handle) noexcept {
        return valid<Request>(MPI_ERR_REQUEST, name, handle);
    }
    // The same for a call that may also be made on a member of a bundle.
    bool request_or_member(const char* name, MPI_Request handle) noexcept {
        return good(probed_object<Request>(handle) != nullptr) || bundled_request(handle) != nullptr ||
            request(name, handle);
    }
    bool request_or_null(const char* name, MPI_Request handle) noexcept {
        return good(handle == MPI_REQUEST_NULL) || request(name, handle);
    }

    // Objects of different sessions, or of a session and the world model, must not be used in one call (MPI-5.0, 11.3):
    // MPI_ERR_SESSION. MPI_GROUP_EMPTY may be used with all of them.
    bool same_session(const Group& a, const Group& b) noexcept {
        return good(a.session == b.session || a.is_predefined() || b.is_predefined()) ||
            different_sessions(a.session.session, b.session.session);
    }
    bool same_session(const Communicator& comm, const Group& group) noexcept {
        return good(Session::id(comm.session) == group.session || group.is_predefined()) ||
            different_sessions(comm.session, group.session.session);
    }
    bool same_session(const Communicator& a, const Communicator& b) noexcept {
        return good(a.session == b.session) || different_sessions(a.session, b.session);
    }
    // Of two elements of an array. Their communicators may have been destroyed, so that the error is reported to
    // session `a`.
    bool same_session(const char* name, Session* a, Session* b) noexcept {
        return good(a == b) || note(bad_sessions(ErrorTarget::derived_from(a), _function, name, a, b));
    }

    // MPI_ERR_TOPOLOGY unless the communicator has the topology that the call needs; `wanted` is the text for it.
    bool topology(bool fine, const char* wanted) noexcept {
        return good(fine) || note(bad_topology(_comm, _function, wanted));
    }

    // A check that has failed and has a text of its own.
    bool refuse(int code, std::string_view detail) noexcept { return note(fail(code, detail)); }

    // A handle of any class that probed_object() supports.
    template <class T>
    bool valid(int code, const char* name, typename HandleTraits<T>::handle_type handle) noexcept {
        return good(probed_object<T>(handle) != nullptr) ||
            note(bad_handle(
                target(), _function, code, name, HandleTraits<T>::name, reinterpret_cast<std::uintptr_t>(handle)));
    }

    // MPI_ERR_ARG, or another code, for a null pointer.
    bool pointer(const char* name, const void* value, int code = MPI_ERR_ARG) noexcept {
        return good(value != nullptr) || note(bad_pointer(target(), _function, code, name));
    }
    // An array may be null when it has no elements.
    bool array(const char* name, const void* value, MPI_Count elements) noexcept {
        return good(value != nullptr || elements == 0) || note(bad_pointer(target(), _function, MPI_ERR_ARG, name));
    }
    // Any other requirement; `rule` is its text ("must be 0 or 1").
    bool require(bool fine, int code, const char* name, MPI_Count value, const char* rule) noexcept {
        return good(fine) || note(bad_value(target(), _function, code, name, value, rule));
    }

private:
    static bool good(bool condition) noexcept { return __builtin_expect(condition, true); }
    // Stores the code of a failed check. true: the code is MPI_SUCCESS, because the slow part of the check succeeded.
    bool note(int code) noexcept {
        _code = code;
        return code == MPI_SUCCESS;
    }
    ErrorTarget target() const noexcept {
        return _kind == ErrorTarget::Kind::communicator ? ErrorTarget(_comm)
            : _kind == ErrorTarget::Kind::file          ? ErrorTarget::file()
            : _other != nullptr                         ? ErrorTarget(_kind, _other)
                                                        : ErrorTarget();
    }
    bool in_remote_group(int rank) const noexcept {
        return static_cast<unsigned>(rank) < static_cast<unsigned>(_comm->remote_size);
    }
    // The checks of the handle fail from now on, without a report of their own.
    void refuse_call(int code) noexcept {
        _code = code;
        _comm = nullptr;
        _handle = MPI_COMM_NULL;
    }
    bool bad_comm() noexcept {
        if (_code != MPI_SUCCESS) {
            return false;
        }
        _comm = nullptr;
        const auto value = reinterpret_cast<std::uintptr_t>(_handle);
        return note(bad_handle({}, _function, MPI_ERR_COMM, "comm", "MPI_Comm", value));
    }

    bool different_sessions(const Session* a, const Session* b) noexcept {
        return note(bad_sessions(target(), _function, "the arguments", a, b));
    }
    bool bad_session() noexcept {
        _kind = ErrorTarget::Kind::self;
        const auto value = reinterpret_cast<std::uintptr_t>(_handle);
        return note(bad_handle({}, _function, MPI_ERR_SESSION, "session", "MPI_Session", value));
    }

    [[gnu::cold]] bool bad_window() noexcept {
        if (_code != MPI_SUCCESS) {
            return false;
        }
        _kind = ErrorTarget::Kind::self;
        const auto value = reinterpret_cast<std::uintptr_t>(_handle);
        return note(bad_handle({}, _function, MPI_ERR_WIN, "win", "MPI_Win", value));
    }

    [[gnu::cold]] static int bad_inter(Communicator*, const char* function, bool wanted) noexcept;
    [[gnu::cold]] static int bad_threads(Communicator*, const char* function) noexcept;
    [[gnu::cold]] static int bad_value(
        ErrorTarget, const char* function, int code, const char* name, MPI_Count value, const char* rule) noexcept;
    [[gnu::cold]] static int bad_pointer(ErrorTarget, const char* function, int code, const char* name) noexcept;
    [[gnu::cold]] static int bad_handle(ErrorTarget, const char* function, int code, const char* name,
        const char* handle_type, std::uintptr_t handle) noexcept;
    [[gnu::cold]] static int bad_aliases(ErrorTarget, const char* function) noexcept;
    [[gnu::cold]] static int bad_type(ErrorTarget, const char* function, const char* name, MPI_Datatype) noexcept;
    [[gnu::cold]] static int bad_op(ErrorTarget, const char* function, MPI_Op, MPI_Datatype) noexcept;
    [[gnu::cold]] static int bad_rank(
        Communicator*, const char* function, const char* name, int rank, bool receiving) noexcept;
    [[gnu::cold]] static int bad_topology(Communicator*, const char* function, const char* wanted) noexcept;
    [[gnu::cold]] static int bad_root(Communicator*, const char* function, int rank) noexcept;
    [[gnu::cold]] static int bad_sessions(
        ErrorTarget, const char* function, const char* what, const Session*, const Session*) noexcept;
    static int check_special_buffer(
        ErrorTarget, const char* function, const char* name, const void* address, MPI_Datatype) noexcept;
    static int check_large_tag(Communicator*, const char* function, const char* name, int tag) noexcept;

    const char* _function;
    Communicator* _comm = nullptr;
    MPI_Comm _handle = MPI_COMM_NULL; // of the object that the call is on
    int _code = MPI_SUCCESS;
    ErrorTarget::Kind _kind = ErrorTarget::Kind::communicator;
    Object* _other = nullptr; // the object of the call, if it is no communicator
};

inline const Datatype& type_of(MPI_Datatype handle) noexcept {
    return *to_object<Datatype>(handle);
}

} // namespace patchbay::api
