// SPDX-License-Identifier: BSD-3-Clause
// Error handlers, classes, codes and strings (MPI-5.0, 9.3 to 9.5). The functions that create and free error handlers,
// and those on codes, are local and thread-safe, and may be called before MPI_Init and after MPI_Finalize.
#include "mpi/api/args.h"
#include "mpi/api/handles.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace patchbay::api {

namespace {

using Owner = Errhandler::Owner;

int create(const char* function, Owner owner, void* callback, MPI_Errhandler* errhandler) noexcept {
    Arguments args(function);
    if (checking() && !(args.pointer("the function", callback) && args.pointer("errhandler", errhandler))) {
        return args.code();
    }
    auto* made = new (std::nothrow) Errhandler(owner, callback);
    if (made == nullptr) {
        return args.result(MPI_ERR_NO_MEM);
    }
    *errhandler = handle_of_new(args, made);
    return MPI_SUCCESS;
}

int free(MPI_Errhandler* errhandler) noexcept {
    Arguments args("MPI_Errhandler_free");
    if (checking() && !(args.pointer("errhandler", errhandler) && args.errhandler("errhandler", *errhandler))) {
        return args.code();
    }
    Errhandler* object = to_object<Errhandler>(*errhandler);
    // MPI_Comm_get_errhandler may have returned a predefined error handler, which the program frees like another one.
    if (!object->is_predefined()) {
        note_freed(*errhandler);
        Ref<Errhandler>::adopt(object).reset();
    }
    *errhandler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

// Traits of the kinds of objects that have error handlers.
struct OfCommunicator {
    using Handle = MPI_Comm;
    static constexpr Owner owner = Owner::communicator;
    static constexpr char wrong[] = "errhandler was created for another kind of object, not for communicators";
    static bool check(Arguments& args) noexcept { return args.communicator(); }
    static Communicator& object(const Arguments& args) noexcept { return *args.comm(); }
};
struct OfSession {
    using Handle = MPI_Session;
    static constexpr Owner owner = Owner::session;
    static constexpr char wrong[] = "errhandler was created for another kind of object, not for sessions";
    static bool check(Arguments& args) noexcept { return args.session(); }
    static Session& object(const Arguments& args) noexcept { return args.session_object(); }
};
struct OfWindow {
    using Handle = MPI_Win;
    static constexpr Owner owner = Owner::window;
    static constexpr char wrong[] = "errhandler was created for another kind of object, not for windows";
    static bool check(Arguments& args) noexcept { return args.window(); }
    static Window& object(const Arguments& args) noexcept { return args.window_object(); }
};

template <class Of>
int set_on(const char* function, typename Of::Handle handle, MPI_Errhandler errhandler) noexcept {
    Arguments args(function, handle);
    if (checking() && !(Of::check(args) && args.errhandler("errhandler", errhandler))) {
        return args.code();
    }
    Errhandler* object = to_object<Errhandler>(errhandler);
    if (checking() && !object->serves(Of::owner)) {
        return args.fail(MPI_ERR_ERRHANDLER, Of::wrong);
    }
    auto shared = Ref<Errhandler>::share(object);
    const std::lock_guard lock(Of::object(args).mutex);
    std::swap(Of::object(args).errhandler, shared);
    return MPI_SUCCESS;
}

template <class Of>
int get_of(const char* function, typename Of::Handle handle, MPI_Errhandler* errhandler) noexcept {
    Arguments args(function, handle);
    if (checking() && !(Of::check(args) && args.pointer("errhandler", errhandler))) {
        return args.code();
    }
    Ref<Errhandler> current;
    {
        const std::lock_guard lock(Of::object(args).mutex);
        current = Of::object(args).errhandler;
    }
    *errhandler = current ? handle_of_new(args, current.get()) : MPI_ERRORS_ARE_FATAL;
    if (current && !current->is_predefined()) {
        current.detach(); // the program owns the reference now
    }
    return MPI_SUCCESS;
}

template <class Of>
int call_of(const char* function, typename Of::Handle handle, int code) noexcept {
    Arguments args(function, handle);
    if (checking() && !Of::check(args)) {
        return args.code();
    }
    args.fail(code, "called by the program");
    return MPI_SUCCESS; // the call has succeeded, also where the error handler reported an error (MPI-5.0, 9.5)
}

std::string no_such_code(int code) {
    return fmt::format("errorcode is {}, which is neither an error code of MPI nor one that the program added", code);
}

int error_class(int code, int* result) noexcept {
    Arguments args("MPI_Error_class");
    if (checking() && !args.pointer("errorclass", result)) {
        return args.code();
    }
    const int found = error_class_of(code, result);
    return found == MPI_SUCCESS ? found : args.fail(MPI_ERR_ARG, no_such_code(code));
}

// Returns the text of a code. To the text of a predefined code, the detail of this thread's last error with that code
// is appended. The text of a code that the program has added is returned as it is.
int error_string(int code, char* string, int* length) noexcept {
    Arguments args("MPI_Error_string");
    if (checking() && !(args.pointer("string", string) && args.pointer("resultlen", length))) {
        return args.code();
    }
    try {
        std::string text;
        if (error_string_of(code, &text) != MPI_SUCCESS) {
            return args.fail(MPI_ERR_ARG, no_such_code(code));
        }
        const bool predefined = code > MPI_SUCCESS && code <= MPI_ERR_LASTCODE;
        if (const std::string_view detail = last_error_detail(code); predefined && !detail.empty()) {
            text += ": ";
            text += detail;
        }
        const std::size_t size = text.copy(string, MPI_MAX_ERROR_STRING - 1);
        string[size] = '\0';
        *length = int(size);
        return MPI_SUCCESS;
    } catch (const std::bad_alloc&) {
        return args.result(MPI_ERR_NO_MEM);
    }
}

// `what` is the argument with the value, which is wrong because it `why`.
int added(const char* function, int code, const char* what, int value, const char* why) noexcept {
    return code == MPI_SUCCESS ? code
                               : Arguments(function).fail(code, fmt::format("{} is {}, which {}", what, value, why));
}

int add_string(int code, const char* string) noexcept {
    Arguments args("MPI_Add_error_string");
    if (checking() &&
        !(args.pointer("string", string) &&
            args.require(strnlen(string, MPI_MAX_ERROR_STRING) < MPI_MAX_ERROR_STRING, MPI_ERR_ARG,
                "the length of string", MPI_MAX_ERROR_STRING, "must be less than MPI_MAX_ERROR_STRING"))) {
        return args.code();
    }
    try {
        return added("MPI_Add_error_string", add_error_string(code, string), "errorcode", code,
            "was not added by MPI_Add_error_class or MPI_Add_error_code");
    } catch (const std::bad_alloc&) {
        return args.result(MPI_ERR_NO_MEM);
    }
}

// Adding a class or a code fails only if memory is exhausted or the class of the code does not exist.
template <class Add>
int add(const char* function, int error_class, const char* name, int* result, Add call) noexcept {
    Arguments args(function);
    if (checking() && !args.pointer(name, result)) {
        return args.code();
    }
    try {
        return added(function, call(), "errorclass", error_class, "is no error class");
    } catch (const std::bad_alloc&) {
        return args.result(MPI_ERR_NO_MEM);
    }
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler) {
    return api::create(
        "MPI_Comm_create_errhandler", Errhandler::Owner::communicator, reinterpret_cast<void*>(function), errhandler);
}
int PMPI_Win_create_errhandler(MPI_Win_errhandler_function* function, MPI_Errhandler* errhandler) {
    return api::create(
        "MPI_Win_create_errhandler", Errhandler::Owner::window, reinterpret_cast<void*>(function), errhandler);
}
int PMPI_File_create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* errhandler) {
    return api::create(
        "MPI_File_create_errhandler", Errhandler::Owner::file, reinterpret_cast<void*>(function), errhandler);
}
int PMPI_Session_create_errhandler(MPI_Session_errhandler_function* function, MPI_Errhandler* errhandler) {
    return api::create(
        "MPI_Session_create_errhandler", Errhandler::Owner::session, reinterpret_cast<void*>(function), errhandler);
}
int PMPI_Errhandler_free(MPI_Errhandler* errhandler) {
    return api::free(errhandler);
}

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
    return api::set_on<api::OfCommunicator>("MPI_Comm_set_errhandler", comm, errhandler);
}
int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
    return api::get_of<api::OfCommunicator>("MPI_Comm_get_errhandler", comm, errhandler);
}
int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode) {
    return api::call_of<api::OfCommunicator>("MPI_Comm_call_errhandler", comm, errorcode);
}

int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler) {
    return api::set_on<api::OfWindow>("MPI_Win_set_errhandler", win, errhandler);
}
int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler* errhandler) {
    return api::get_of<api::OfWindow>("MPI_Win_get_errhandler", win, errhandler);
}
int PMPI_Win_call_errhandler(MPI_Win win, int errorcode) {
    return api::call_of<api::OfWindow>("MPI_Win_call_errhandler", win, errorcode);
}

int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler) {
    return api::set_on<api::OfSession>("MPI_Session_set_errhandler", session, errhandler);
}
int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler* errhandler) {
    return api::get_of<api::OfSession>("MPI_Session_get_errhandler", session, errhandler);
}
int PMPI_Session_call_errhandler(MPI_Session session, int errorcode) {
    return api::call_of<api::OfSession>("MPI_Session_call_errhandler", session, errorcode);
}

int PMPI_Error_class(int errorcode, int* errorclass) {
    return api::error_class(errorcode, errorclass);
}
int PMPI_Error_string(int errorcode, char* string, int* resultlen) {
    return api::error_string(errorcode, string, resultlen);
}

int PMPI_Add_error_class(int* errorclass) {
    return api::add("MPI_Add_error_class", 0, "errorclass", errorclass, [&] { return add_error_class(errorclass); });
}
int PMPI_Add_error_code(int errorclass, int* errorcode) {
    return api::add("MPI_Add_error_code", errorclass, "errorcode", errorcode,
        [&] { return add_error_code(errorclass, errorcode); });
}
int PMPI_Add_error_string(int errorcode, const char* string) {
    return api::add_string(errorcode, string);
}
int PMPI_Remove_error_class(int errorclass) {
    return api::added("MPI_Remove_error_class", remove_error_class(errorclass), "errorclass", errorclass,
        "was not added by MPI_Add_error_class, or still has codes");
}
int PMPI_Remove_error_code(int errorcode) {
    return api::added("MPI_Remove_error_code", remove_error_code(errorcode), "errorcode", errorcode,
        "was not added by MPI_Add_error_code, or still has a text");
}
int PMPI_Remove_error_string(int errorcode) {
    return api::added(
        "MPI_Remove_error_string", remove_error_string(errorcode), "errorcode", errorcode, "has no added text");
}
