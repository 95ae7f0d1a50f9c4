// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/api/report.h"

#include "core/base/format_into.h"
#include "core/base/strings.h"
#include "core/log.h"
#include "core/param/sources.h"
#include "core/runtime/node_reports.h"
#include "frameworks/pml/pml.h"
#include "mpi/api/abort.h"
#include "mpi/instance/instance.h"
#include "mpi/instance/settings.h"
#include "mpi/library/library.h"
#include "object/error_cause.h"
#include "object/probed_handle.h"

#include <array>
#include <mutex>
#include <string>
#include <type_traits>

namespace patchbay::api {

namespace {

// MPI_COMM_WORLD and MPI_COMM_SELF among the predefined communicators; null before MPI_Init and after MPI_Finalize.
Communicator* predefined_comm(MPI_Comm comm) noexcept {
    return to_object<Communicator>(comm);
}

// The last error of this thread. All errors of a class have the same code, so that the text of an error is stored here.
struct LastError {
    int code = MPI_SUCCESS;
    std::size_t length = 0;
    std::array<char, MPI_MAX_ERROR_STRING> text;
};

thread_local LastError last_error;

void set_last_error(int code, const char* function, std::string_view detail) noexcept {
    last_error.code = code;
    const char* separator = detail.empty() ? "" : ": ";
    last_error.length = format_into(last_error.text, "{}{}{}", function, separator, detail).size();
}

template <class T>
Ref<Errhandler> errhandler_of(T& object) {
    std::lock_guard lock(object.mutex);
    return object.errhandler;
}

// The communicator for an error without an object: MPI_COMM_SELF (MPI-5.0, 9.3). Until MPI-4.0 it was MPI_COMM_WORLD,
// and many programs set an error handler there only: as long as MPI_COMM_SELF has the initial error handler, that of
// MPI_COMM_WORLD is used.
Communicator* default_target() {
    Communicator* self = predefined_comm(MPI_COMM_SELF);
    Communicator* world = predefined_comm(MPI_COMM_WORLD);
    if (self == nullptr || world == nullptr) {
        return self;
    }
    const Ref<Errhandler> handler = errhandler_of(*self);
    return handler.get() == to_object<Errhandler>(MPI_ERRORS_ARE_FATAL) ? world : self;
}

std::string name_of(Communicator& comm) {
    std::lock_guard lock(comm.mutex);
    return comm.name.empty() ? std::string("a communicator without name") : comm.name;
}

// What an error handler ends.
enum class Ends : std::uint8_t { job, process };

[[noreturn]] void end_with_message(Instance* instance, int code, std::string_view where, Ends what = Ends::job) {
    std::string meaning;
    error_string_of(code, &meaning);
    const std::string text = fmt::format("{} [{}] {}, so {} ends", last_error_detail(code), meaning, where,
        what == Ends::job ? "the job" : "this process");
    // Without a library the cause is most often the same for all processes, such as a parameter with a wrong value.
    if (instance != nullptr || is_first_report_on_node(text)) {
        log_error(text);
    }
    int error_class = MPI_ERR_UNKNOWN;
    error_class_of(code, &error_class);
    if (what == Ends::process) {
        end_process(error_class);
    }
    end_job(instance, error_class);
}

// Calls `errhandler` for the object behind `handle`; null stands for MPI_ERRORS_ARE_FATAL. `name` returns a name of the
// object for a message to the user. MPI_ERRORS_ABORT of a session ends only this process (MPI-5.0, 9.3).
template <class Handle, class Name>
int call(const Errhandler* errhandler, Handle handle, Instance* instance, const char* function, int code, Name name) {
    constexpr bool is_session = std::is_same_v<Handle, MPI_Session>;
    const auto behaviour = errhandler != nullptr ? errhandler->behaviour : Errhandler::Behaviour::fatal;
    switch (behaviour) {
    case Errhandler::Behaviour::give_back:
        break;
    case Errhandler::Behaviour::user: {
        int passed = code;
        using Function = void(Handle*, int*, ...);
        reinterpret_cast<Function*>(errhandler->function)(&handle, &passed, function);
        break;
    }
    case Errhandler::Behaviour::fatal:
    case Errhandler::Behaviour::abort:
        const bool aborts = behaviour == Errhandler::Behaviour::abort;
        end_with_message(instance, code,
            fmt::format("{} has the error handler {}", name(), aborts ? "MPI_ERRORS_ABORT" : "MPI_ERRORS_ARE_FATAL"),
            aborts && is_session ? Ends::process : Ends::job);
    }
    return code;
}

int report_on(Communicator& comm, const char* function, int code) {
    const Ref<Errhandler> errhandler = errhandler_of(comm);
    return call(errhandler.get(), to_handle(&comm), comm.instance, function, code, [&comm] { return name_of(comm); });
}

int report_on(Session& session, const char* function, int code) {
    const Ref<Errhandler> errhandler = errhandler_of(session);
    return call(errhandler.get(), to_handle(&session), session.instance, function, code, [] { return "the session"; });
}

int report_on(Window& window, const char* function, int code) {
    const Ref<Errhandler> errhandler = errhandler_of(window);
    return call(
        errhandler.get(), to_handle(&window), window.instance, function, code, [&window] { return window.describe(); });
}

// An error of a request of a window is the window's, whose communicator the program does not know.
int report_on_comm_or_window(Communicator& comm, const char* function, int code) {
    return comm.window != nullptr ? report_on(*comm.window, function, code) : report_on(comm, function, code);
}

// Whether a session, given by its pointer or id, is open; false for the world model.
template <class Which>
bool is_open(const Which& session) {
    Instance* instance = library().instance();
    return session != Which() && instance != nullptr && instance->is_open(session);
}

// Why no operation on the communicator can succeed, if its pml knows that this is so.
std::string_view failure_of(const Communicator& comm, int code) noexcept {
    return comm.pml_data != nullptr ? comm.pml->failure_text(comm, code) : std::string_view();
}

// The initial error handler while the library is not initialized and so has no parameters: where the user has set it,
// that is read here. What is ill-typed is reported by an initialization.
Errhandler::Behaviour behaviour_without_instance() {
    auto params = read_param_sources(ParamSources::of_process());
    if (!params || !params->contains("mpi_initial_errhandler")) {
        return Errhandler::Behaviour::fatal;
    }
    const std::string_view choice = trim(params->find("mpi_initial_errhandler")->second.value);
    return choice == "return" ? Errhandler::Behaviour::give_back
        : choice == "abort"   ? Errhandler::Behaviour::abort
                              : Errhandler::Behaviour::fatal;
}

// Reports an error where there is neither an object nor MPI_COMM_SELF: the initial error handler is called (MPI-5.0,
// 9.3).
int report_on_nothing(const char* function, int code) {
    Instance* instance = library().instance();
    const Errhandler initial(instance != nullptr ? settings.initial_errhandler.load() : behaviour_without_instance());
    return call(&initial, MPI_COMM_SELF, instance, function, code, [instance] {
        return instance == nullptr
            ? "MPI is not initialized, or has been finalized, and parameter mpi_initial_errhandler decides: it"
            : "the call has no object, and without MPI_Init parameter mpi_initial_errhandler decides: it";
    });
}

} // namespace

int report(ErrorTarget target, const char* function, int code, std::string_view detail) noexcept {
    if (detail.empty()) {
        detail = noted_cause(code);
    }
    if (detail.empty() && target.kind() == ErrorTarget::Kind::communicator) {
        detail = failure_of(*static_cast<Communicator*>(target.object()), code);
    }
    set_last_error(code, function, detail);
    if (code != MPI_ERR_IN_STATUS) { // the program needs the cause of the codes in the statuses
        forget_cause();
    }
    switch (target.kind()) {
    case ErrorTarget::Kind::communicator:
        return report_on_comm_or_window(*static_cast<Communicator*>(target.object()), function, code);
    case ErrorTarget::Kind::window:
        return report_on(*static_cast<Window*>(target.object()), function, code);
    case ErrorTarget::Kind::session:
        return report_on(*static_cast<Session*>(target.object()), function, code);
    case ErrorTarget::Kind::group:
        if (const SessionId& id = static_cast<Group*>(target.object())->session; is_open(id)) {
            return report_on(*id.session, function, code);
        }
        break;
    case ErrorTarget::Kind::derived:
        if (Session* session = static_cast<Session*>(target.object()); is_open(session)) {
            return report_on(*session, function, code);
        }
        break;
    case ErrorTarget::Kind::new_communicator:
        return call(static_cast<Errhandler*>(target.object()), MPI_COMM_NULL, library().instance(), function, code,
            [] { return "the communicator to be constructed"; });
    case ErrorTarget::Kind::new_session:
        return call(static_cast<Errhandler*>(target.object()), MPI_SESSION_NULL, library().instance(), function, code,
            [] { return "the session to be opened"; });
    case ErrorTarget::Kind::file:
        return code; // the default for files: MPI_ERRORS_RETURN (MPI-5.0, 14.7)
    default:
        break;
    }
    if (Communicator* comm = default_target(); comm != nullptr) {
        return report_on(*comm, function, code);
    }
    return report_on_nothing(function, code);
}

std::string_view last_error_detail(int code) noexcept {
    return last_error.code == code ? std::string_view(last_error.text.data(), last_error.length) : noted_cause(code);
}

int unimplemented(const char* function) noexcept {
    return report({}, function, MPI_ERR_UNSUPPORTED_OPERATION, "this build does not implement the function");
}

int unimplemented(const char* function, MPI_Comm comm) noexcept {
    return report(probed_object<Communicator>(comm), function, MPI_ERR_UNSUPPORTED_OPERATION,
        "this build does not implement the function");
}

int unimplemented(const char* function, MPI_Win win) noexcept {
    return report(probed_object<Window>(win), function, MPI_ERR_UNSUPPORTED_OPERATION,
        "this build does not implement the function");
}

// The error handler of files returns: a program that looks at no code would lose its data without a word.
int unimplemented(const char* function, MPI_File) noexcept {
    static constinit LogOnce missing;
    std::array<char, 160> text;
    missing.warn(format_into(text, "{}: this build does not implement I/O: no file is read or written", function));
    return report(
        ErrorTarget::file(), function, MPI_ERR_UNSUPPORTED_OPERATION, "this build does not implement the function");
}

int unimplemented(const char* function, MPI_Session session) noexcept {
    return report(probed_object<Session>(session), function, MPI_ERR_UNSUPPORTED_OPERATION,
        "this build does not implement the function");
}

} // namespace patchbay::api
