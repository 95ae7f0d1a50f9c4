// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/api/report.h"

#include "core/log.h"
#include "mpi/api/abort.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string>

namespace patchbay::api {

namespace {

// MPI_COMM_WORLD and MPI_COMM_SELF among the predefined communicators; null before MPI_Init and after MPI_Finalize.
Communicator* predefined_comm(MPI_Comm comm) noexcept {
    return to_object<Communicator>(comm);
}

// The last error that went through report() on this thread: error codes are small integers that are shared by all
// errors of a class, so the text that belongs to one of them is kept beside it.
struct LastError {
    int code = MPI_SUCCESS;
    std::size_t length = 0;
    std::array<char, MPI_MAX_ERROR_STRING> text;
};

thread_local LastError last_error;

void remember(int code, const char* function, std::string_view detail) noexcept {
    last_error.code = code;
    const char* separator = detail.empty() ? "" : ": ";
    const auto written =
        fmt::format_to_n(last_error.text.data(), last_error.text.size(), "{}{}{}", function, separator, detail);
    last_error.length = std::min(written.size, last_error.text.size());
}

Ref<Errhandler> errhandler_of(Communicator& comm) {
    std::lock_guard lock(comm.mutex);
    return comm.errhandler;
}

// Who hears of an error that belongs to no object: MPI_COMM_SELF (MPI-5.0, 9.3). Until MPI-4.0 it was MPI_COMM_WORLD,
// and many programs set an error handler there and nowhere else: while MPI_COMM_SELF has the handler that it began with,
// the world's counts.
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

[[noreturn]] void end_with_message(Instance* instance, int code, std::string_view where) {
    std::string meaning;
    error_string_of(code, &meaning);
    log_error(fmt::format("{} [{}] {}, so the job ends", last_error_detail(code), meaning, where));
    int error_class = MPI_ERR_UNKNOWN;
    error_class_of(code, &error_class);
    end_job(instance, error_class);
}

int report_on_communicator(Communicator& comm, const char* function, int code) {
    const Ref<Errhandler> errhandler = errhandler_of(comm);
    const auto behaviour = errhandler ? errhandler->behaviour : Errhandler::Behaviour::fatal;
    switch (behaviour) {
    case Errhandler::Behaviour::give_back:
        break;
    case Errhandler::Behaviour::user: {
        MPI_Comm handle = to_handle(&comm);
        int passed = code;
        reinterpret_cast<MPI_Comm_errhandler_function*>(errhandler->function)(&handle, &passed, function);
        break;
    }
    case Errhandler::Behaviour::fatal:
    case Errhandler::Behaviour::abort:
        const char* handler = behaviour == Errhandler::Behaviour::abort ? "MPI_ERRORS_ABORT" : "MPI_ERRORS_ARE_FATAL";
        end_with_message(comm.instance, code, fmt::format("{} has the error handler {}", name_of(comm), handler));
    }
    return code;
}

} // namespace

int report(ErrorTarget target, const char* function, int code, std::string_view detail) noexcept {
    remember(code, function, detail);
    switch (target.kind()) {
    case ErrorTarget::Kind::communicator:
        return report_on_communicator(*static_cast<Communicator*>(target.object()), function, code);
    case ErrorTarget::Kind::file:
        return code; // the default for files: MPI_ERRORS_RETURN (MPI-5.0, 14.7)
    default:
        break;
    }
    if (Communicator* comm = default_target(); comm != nullptr) {
        return report_on_communicator(*comm, function, code);
    }
    end_with_message(nullptr, code, "MPI is not initialized, or has been finalized");
}

std::string_view last_error_detail(int code) noexcept {
    return last_error.code == code ? std::string_view(last_error.text.data(), last_error.length) : std::string_view();
}

int unimplemented(const char* function) noexcept {
    return report({}, function, MPI_ERR_UNSUPPORTED_OPERATION, "this build does not implement the function");
}

int unimplemented(const char* function, MPI_Comm comm) noexcept {
    return report(checked_object<Communicator>(comm), function, MPI_ERR_UNSUPPORTED_OPERATION,
                  "this build does not implement the function");
}

int unimplemented(const char* function, MPI_Win) noexcept { return unimplemented(function); }

int unimplemented(const char* function, MPI_File) noexcept {
    return report(ErrorTarget::file(), function, MPI_ERR_UNSUPPORTED_OPERATION,
                  "this build does not implement the function");
}

int unimplemented(const char* function, MPI_Session) noexcept { return unimplemented(function); }

int unimplemented_tool(const char*) noexcept { return MPI_T_ERR_NOT_SUPPORTED; }

} // namespace patchbay::api
