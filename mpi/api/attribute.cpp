// SPDX-License-Identifier: BSD-3-Clause
// Attributes of communicators, windows (MPI-5.0, 7.7) and, as an extension, sessions; those of datatypes are in
// datatype_query.cpp. Local; keys may be created and freed before MPI_Init and after MPI_Finalize. Where a key has an
// attribute, it is valid: the functions that get one look for the key in the table of keys only where there is none.
#include "core/base/out_of_memory.h"
#include "include/mpix.h"
#include "mpi/api/args.h"
#include "mpi/instance/instance.h"

namespace patchbay::api {

namespace {

int create_keyval(const char* function, AttributeOwner owner, void* copy_fn, void* delete_fn, int* keyval,
    void* extra_state) noexcept {
    Arguments args(function);
    if (checking() && !args.pointer("the keyval", keyval)) {
        return args.code();
    }
    return args.result(unless_out_of_memory(
        MPI_ERR_NO_MEM, [&] { return keyval_create(owner, copy_fn, delete_fn, extra_state, keyval); }));
}

int free_keyval(const char* function, AttributeOwner owner, int* keyval) noexcept {
    Arguments args(function);
    if (checking() &&
        !(args.pointer("the keyval", keyval) &&
            args.require(keyval_is_valid(owner, *keyval), MPI_ERR_KEYVAL, "the keyval", *keyval,
                "is not an attribute key that the program made for this kind of object"))) {
        return args.code();
    }
    return args.result(keyval_free(owner, keyval));
}

bool own_key(Arguments& args, int keyval) noexcept {
    return args.require(keyval_is_valid(AttributeOwner::communicator, keyval), MPI_ERR_KEYVAL, "comm_keyval", keyval,
        PredefinedAttributes::is_one(keyval) ? "is predefined and cannot be changed"
                                             : "is not an attribute key for communicators");
}

int set(const char* function, MPI_Comm comm, int keyval, void* value) noexcept {
    Arguments args(function, comm);
    if (checking() && !(args.communicator() && own_key(args, keyval))) {
        return args.code();
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM,
        [&] { return args.comm()->attributes.set(AttributeOwner::communicator, comm, keyval, value); }));
}

int get(const char* function, MPI_Comm comm, int keyval, void* value, int* flag) noexcept {
    Arguments args(function, comm);
    if (checking() && !(args.communicator() && args.pointer("attribute_val", value) && args.pointer("flag", flag))) {
        return args.code();
    }
    bool found = false;
    int code = MPI_SUCCESS;
    auto** out = static_cast<void**>(value);
    if (PredefinedAttributes::is_one(keyval)) {
        code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
            found = args.comm()->instance->attributes().get(*args.comm(), keyval, out);
            return MPI_SUCCESS;
        });
    } else {
        found = args.comm()->attributes.get(keyval, out);
        if (!found && checking() && !own_key(args, keyval)) {
            return args.code();
        }
    }
    *flag = found ? 1 : 0;
    return args.result(code);
}

int erase(const char* function, MPI_Comm comm, int keyval) noexcept {
    Arguments args(function, comm);
    if (checking() && !(args.communicator() && own_key(args, keyval))) {
        return args.code();
    }
    return args.result(args.comm()->attributes.erase(AttributeOwner::communicator, comm, keyval));
}

// Attributes of windows. They are never copied, because a window cannot be duplicated.
bool is_predefined_of_windows(int keyval) noexcept {
    return keyval >= MPI_WIN_BASE && keyval <= MPI_WIN_MODEL;
}

bool own_window_key(Arguments& args, int keyval) noexcept {
    return args.require(keyval_is_valid(AttributeOwner::window, keyval), MPI_ERR_KEYVAL, "win_keyval", keyval,
        is_predefined_of_windows(keyval) ? "is predefined and cannot be changed"
                                         : "is not an attribute key for windows");
}

int set_of_window(MPI_Win win, int keyval, void* value) noexcept {
    Arguments args("MPI_Win_set_attr", win);
    if (checking() && !(args.window() && own_window_key(args, keyval))) {
        return args.code();
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM,
        [&] { return args.window_object().attributes.set(AttributeOwner::window, win, keyval, value); }));
}

// The base is the address itself; the others are addresses of the values.
void* predefined_of_window(Window& window, int keyval) noexcept {
    switch (keyval) {
    case MPI_WIN_BASE:
        return window.base;
    case MPI_WIN_SIZE:
        return &window.attribute_values.bytes;
    case MPI_WIN_DISP_UNIT:
        return &window.attribute_values.displacement_unit;
    case MPI_WIN_CREATE_FLAVOR:
        return &window.attribute_values.flavor;
    default: // MPI_WIN_MODEL
        return &window.attribute_values.model;
    }
}

int get_of_window(MPI_Win win, int keyval, void* value, int* flag) noexcept {
    Arguments args("MPI_Win_get_attr", win);
    if (checking() && !(args.window() && args.pointer("attribute_val", value) && args.pointer("flag", flag))) {
        return args.code();
    }
    auto** out = static_cast<void**>(value);
    bool found = is_predefined_of_windows(keyval);
    if (found) {
        *out = predefined_of_window(args.window_object(), keyval);
    } else {
        found = args.window_object().attributes.get(keyval, out);
        if (!found && checking() && !own_window_key(args, keyval)) {
            return args.code();
        }
    }
    *flag = found ? 1 : 0;
    return MPI_SUCCESS;
}

int erase_of_window(MPI_Win win, int keyval) noexcept {
    Arguments args("MPI_Win_delete_attr", win);
    if (checking() && !(args.window() && own_window_key(args, keyval))) {
        return args.code();
    }
    return args.result(args.window_object().attributes.erase(AttributeOwner::window, win, keyval));
}

// Attributes of sessions, which are an extension. They are never copied, because a session cannot be duplicated.
bool own_session_key(Arguments& args, int keyval) noexcept {
    return args.require(keyval_is_valid(AttributeOwner::session, keyval), MPI_ERR_KEYVAL, "keyval", keyval,
        "is not an attribute key for sessions");
}

int set_of_session(MPI_Session session, int keyval, void* value) noexcept {
    Arguments args("MPIX_Session_set_attr", session);
    if (checking() && !(args.session() && own_session_key(args, keyval))) {
        return args.code();
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM,
        [&] { return args.session_object().attributes.set(AttributeOwner::session, session, keyval, value); }));
}

int get_of_session(MPI_Session session, int keyval, void* value, int* flag) noexcept {
    Arguments args("MPIX_Session_get_attr", session);
    if (checking() && !(args.session() && args.pointer("attribute_val", value) && args.pointer("flag", flag))) {
        return args.code();
    }
    const bool found = args.session_object().attributes.get(keyval, static_cast<void**>(value));
    if (!found && checking() && !own_session_key(args, keyval)) {
        return args.code();
    }
    *flag = found ? 1 : 0;
    return MPI_SUCCESS;
}

int erase_of_session(MPI_Session session, int keyval) noexcept {
    Arguments args("MPIX_Session_delete_attr", session);
    if (checking() && !(args.session() && own_session_key(args, keyval))) {
        return args.code();
    }
    return args.result(args.session_object().attributes.erase(AttributeOwner::session, session, keyval));
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Comm_create_keyval(
    MPI_Comm_copy_attr_function* copy_fn, MPI_Comm_delete_attr_function* delete_fn, int* keyval, void* extra_state) {
    return api::create_keyval("MPI_Comm_create_keyval", AttributeOwner::communicator, reinterpret_cast<void*>(copy_fn),
        reinterpret_cast<void*>(delete_fn), keyval, extra_state);
}
int PMPI_Comm_free_keyval(int* keyval) {
    return api::free_keyval("MPI_Comm_free_keyval", AttributeOwner::communicator, keyval);
}
int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value) {
    return api::set("MPI_Comm_set_attr", comm, keyval, value);
}
int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag) {
    return api::get("MPI_Comm_get_attr", comm, keyval, value, flag);
}
int PMPI_Comm_delete_attr(MPI_Comm comm, int keyval) {
    return api::erase("MPI_Comm_delete_attr", comm, keyval);
}

// The functions of MPI-1, deprecated since MPI-2.0. Their callbacks have the same signatures.
int PMPI_Keyval_create(MPI_Copy_function* copy_fn, MPI_Delete_function* delete_fn, int* keyval, void* extra_state) {
    return api::create_keyval("MPI_Keyval_create", AttributeOwner::communicator, reinterpret_cast<void*>(copy_fn),
        reinterpret_cast<void*>(delete_fn), keyval, extra_state);
}
int PMPI_Keyval_free(int* keyval) {
    return api::free_keyval("MPI_Keyval_free", AttributeOwner::communicator, keyval);
}
int PMPI_Attr_put(MPI_Comm comm, int keyval, void* value) {
    return api::set("MPI_Attr_put", comm, keyval, value);
}
int PMPI_Attr_get(MPI_Comm comm, int keyval, void* value, int* flag) {
    return api::get("MPI_Attr_get", comm, keyval, value, flag);
}
int PMPI_Attr_delete(MPI_Comm comm, int keyval) {
    return api::erase("MPI_Attr_delete", comm, keyval);
}

int PMPI_Win_create_keyval(
    MPI_Win_copy_attr_function* copy_fn, MPI_Win_delete_attr_function* delete_fn, int* keyval, void* extra_state) {
    return api::create_keyval("MPI_Win_create_keyval", AttributeOwner::window, reinterpret_cast<void*>(copy_fn),
        reinterpret_cast<void*>(delete_fn), keyval, extra_state);
}
int PMPI_Win_free_keyval(int* keyval) {
    return api::free_keyval("MPI_Win_free_keyval", AttributeOwner::window, keyval);
}

int PMPI_Win_set_attr(MPI_Win win, int keyval, void* value) {
    return api::set_of_window(win, keyval, value);
}
int PMPI_Win_get_attr(MPI_Win win, int keyval, void* value, int* flag) {
    return api::get_of_window(win, keyval, value, flag);
}
int PMPI_Win_delete_attr(MPI_Win win, int keyval) {
    return api::erase_of_window(win, keyval);
}

int PMPIX_Session_create_keyval(MPIX_Session_delete_attr_function* delete_fn, int* keyval, void* extra_state) {
    return api::create_keyval("MPIX_Session_create_keyval", AttributeOwner::session, nullptr,
        reinterpret_cast<void*>(delete_fn), keyval, extra_state);
}
int PMPIX_Session_free_keyval(int* keyval) {
    return api::free_keyval("MPIX_Session_free_keyval", AttributeOwner::session, keyval);
}
int PMPIX_Session_set_attr(MPI_Session session, int keyval, void* value) {
    return api::set_of_session(session, keyval, value);
}
int PMPIX_Session_get_attr(MPI_Session session, int keyval, void* value, int* flag) {
    return api::get_of_session(session, keyval, value, flag);
}
int PMPIX_Session_delete_attr(MPI_Session session, int keyval) {
    return api::erase_of_session(session, keyval);
}
