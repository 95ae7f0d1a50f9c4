// SPDX-License-Identifier: BSD-3-Clause
// Sessions (MPI-5.0, 11.3): initialization and finalization, process sets, and construction of communicators from
// groups (7.4.2). The functions on error handlers, attributes and buffers are in the files of these.
#include "mpi/library/session.h"
#include "core/base/out_of_memory.h"
#include "mpi/api/args.h"
#include "mpi/api/handles.h"
#include "mpi/api/initialized.h"
#include "mpi/instance/thread_levels.h"

#include "core/runtime/runtime.h"
#include "frameworks/pset/sets.h"
#include "mpi/communicators/communicators.h"
#include "mpi/communicators/intercommunicators.h"
#include "mpi/library/library.h"
#include "object/error_cause.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace patchbay::api {

namespace {

// The thread level that info key thread_level requests; nullopt: there is no such key, and the library selects the
// level (MPI-5.0, 11.3.1).
bool requested_thread_level(const Arguments& args, const Info* info, std::optional<int>* level, int* code) {
    const auto requested = info != nullptr ? info->get("thread_level") : std::nullopt;
    const auto named = requested ? thread_level_named(*requested) : std::nullopt;
    if (requested && !named) {
        *code = args.fail(MPI_ERR_INFO_VALUE,
            fmt::format("info key thread_level has the value \"{}\", but must name one of MPI_THREAD_*", *requested));
        return false;
    }
    *level = named;
    return true;
}

bool serves(Arguments& args, MPI_Errhandler handle, Errhandler::Owner owner) noexcept {
    if (!args.errhandler("errhandler", handle)) {
        return false;
    }
    return args.require(to_object<Errhandler>(handle)->serves(owner), MPI_ERR_ERRHANDLER, "errhandler",
        reinterpret_cast<std::intptr_t>(handle), "was made for another kind of object");
}

// Checks the error handler of a new communicator. If it is for other objects, the error is reported to the group's
// session.
ErrorTarget target_of_new_communicator(MPI_Errhandler errhandler, MPI_Group group) noexcept {
    return ErrorTarget::new_communicator(probed_object<Errhandler>(errhandler), probed_object<Group>(group));
}

int session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
    Arguments args("MPI_Session_init", ErrorTarget::new_session(probed_object<Errhandler>(errhandler)));
    if (checking() &&
        !(serves(args, errhandler, Errhandler::Owner::session) && args.info_or_null("info", info) &&
            args.pointer("session", session))) {
        return args.code();
    }
    *session = MPI_SESSION_NULL;
    std::optional<int> level;
    int code = MPI_SUCCESS;
    if (!requested_thread_level(args, to_object<Info>(info), &level, &code)) {
        return code;
    }
    auto opened = unless_out_of_memory(
        [&] { return open_session(library(), level, Ref<Errhandler>::share(to_object<Errhandler>(errhandler))); });
    if (!opened) {
        return fail_start(args, opened.error());
    }
    print_explanation((*opened)->instance->core());
    (*opened)->instance->runtime().report_ready();
    *session = handle_of_new(args, opened->detach());
    return MPI_SUCCESS;
}

int session_finalize(MPI_Session* handle) {
    begin_last_call();
    Arguments args("MPI_Session_finalize", handle != nullptr ? *handle : MPI_SESSION_NULL);
    if (checking() && !(args.pointer("session", handle) && args.session())) {
        return args.code();
    }
    note_freed(*handle); // before the report of what is left, which may be a part of the close
    const int code = close_session(args.session_object());
    if (code == MPI_SUCCESS) {
        *handle = MPI_SESSION_NULL;
    } else {
        handle_of_new(args, &args.session_object()); // it is not freed
    }
    return args.result(code);
}

int get_info(MPI_Session session, MPI_Info* info_used) {
    Arguments args("MPI_Session_get_info", session);
    if (checking() && !(args.session() && args.pointer("info_used", info_used))) {
        return args.code();
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        *info_used = handle_of_new(args, args.session_object().info->duplicate().detach());
        return MPI_SUCCESS;
    }));
}

int get_num_psets(MPI_Session session, MPI_Info info, int* number) {
    Arguments args("MPI_Session_get_num_psets", session);
    if (checking() && !(args.session() && args.info_or_null("info", info) && args.pointer("npset_names", number))) {
        return args.code();
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        auto count = args.session_object().instance->psets().count();
        if (!count) {
            return note_cause(MPI_ERR_OTHER, count.error().text);
        }
        *number = int(*count);
        return MPI_SUCCESS;
    }));
}

// `length` includes the terminator. On entry it is the size of `name`, on return the size that the whole name needs.
int get_nth_pset(MPI_Session session, MPI_Info info, int n, int* length, char* name) {
    Arguments args("MPI_Session_get_nth_pset", session);
    if (checking() &&
        !(args.session() && args.info_or_null("info", info) && args.pointer("pset_len", length) &&
            args.require(n >= 0, MPI_ERR_ARG, "n", n, "must not be negative") &&
            args.require(*length >= 0, MPI_ERR_ARG, "*pset_len", *length, "must not be negative") &&
            args.array("pset_name", name, *length))) {
        return args.code();
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        auto found = args.session_object().instance->psets().name(std::size_t(n));
        if (!found) {
            return note_cause(MPI_ERR_ARG,
                fmt::format("n is {}: {}; MPI_Session_get_num_psets says how many there are", n, found.error().text));
        }
        if (*length > 0) {
            const std::size_t copied = std::min(found->size(), std::size_t(*length) - 1);
            std::memcpy(name, found->data(), copied);
            name[copied] = '\0';
        }
        *length = int(found->size()) + 1;
        return MPI_SUCCESS;
    }));
}

int get_pset_info(MPI_Session session, const char* name, MPI_Info* info) {
    Arguments args("MPI_Session_get_pset_info", session);
    if (checking() && !(args.session() && args.pointer("pset_name", name) && args.pointer("info", info))) {
        return args.code();
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        auto set = args.session_object().instance->psets().find(name);
        if (!set) {
            return note_cause(set.error().code == Errc::not_found ? MPI_ERR_ARG : MPI_ERR_OTHER, set.error().text);
        }
        auto made = Ref<Info>::adopt(new Info);
        made->set("mpi_size", std::to_string((*set)->size()));
        *info = handle_of_new(args, made.detach());
        return MPI_SUCCESS;
    }));
}

// A name without a process set is no error: the result is MPI_GROUP_NULL (MPI-5.0, 11.3.2). The set may be defined
// later.
int group_from_pset(MPI_Session handle, const char* name, MPI_Group* newgroup) {
    Arguments args("MPI_Group_from_session_pset", handle);
    if (checking() && !(args.session() && args.pointer("pset_name", name) && args.pointer("newgroup", newgroup))) {
        return args.code();
    }
    *newgroup = MPI_GROUP_NULL;
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        Session& session = args.session_object();
        auto set = session.instance->psets().find(name);
        if (!set) {
            return set.error().code == Errc::not_found ? MPI_SUCCESS : note_cause(MPI_ERR_OTHER, set.error().text);
        }
        Ref<Group> group = (*set)->group(session.instance->self());
        if (!group->is_predefined()) {
            group->session = Session::id(&session);
        }
        *newgroup = handle_of_new(args, group.detach());
        return MPI_SUCCESS;
    }));
}

// The instance, if the group's session is open or the group is one of the world model; null: *code is the error.
Instance* instance_of(Arguments& args, const Group& group, int* code) {
    Instance* instance = initialized(args, code, MPI_ERR_SESSION);
    if (instance != nullptr && group.session != SessionId() && !instance->is_open(group.session)) {
        *code = args.fail(MPI_ERR_SESSION, "the session of group is closed");
        return nullptr;
    }
    return with_locking_chosen(args, instance, code);
}

bool check_tag(Arguments& args, const char* tag) {
    return args.pointer("stringtag", tag) &&
        args.require(strnlen(tag, MPI_MAX_STRINGTAG_LEN) < MPI_MAX_STRINGTAG_LEN, MPI_ERR_ARG,
            "the length of stringtag", MPI_MAX_STRINGTAG_LEN, "must be less than MPI_MAX_STRINGTAG_LEN");
}

bool check_member(Arguments& args, const char* name, const Group& group) {
    return args.require(group.rank() != MPI_UNDEFINED, MPI_ERR_GROUP, name, group.rank(),
        "must be there: only members of the group may call");
}

// Whether the members are those of a thread communicator. Then all of them find the error.
bool has_threads(const Group& group) noexcept {
    return group.size() != 0 && group.self().thread != 0;
}

bool check_processes(Arguments& args, const char* name, const Group& group) {
    return args.require(!has_threads(group), MPI_ERR_GROUP, name, group.size(),
        "must be 0, because only processes can be reached without a communicator");
}

int comm_from_group(MPI_Group handle, const char* tag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm* newcomm) {
    Arguments args("MPI_Comm_create_from_group", target_of_new_communicator(errhandler, handle));
    if (checking() &&
        !(serves(args, errhandler, Errhandler::Owner::communicator) && args.group("group", handle) &&
            check_tag(args, tag) && args.info_or_null("info", info) && args.pointer("newcomm", newcomm))) {
        return args.code();
    }
    *newcomm = MPI_COMM_NULL;
    Group& group = *to_object<Group>(handle);
    if (group.size() == 0) {
        return MPI_SUCCESS;
    }
    if (checking() &&
        !(check_processes(args, "the number of threads in group", group) &&
            check_member(args, "the calling process's rank in group", group))) {
        return args.code();
    }
    int code = MPI_SUCCESS;
    Instance* instance = instance_of(args, group, &code);
    if (instance == nullptr) {
        return code;
    }
    Communicator* made = nullptr;
    code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        return create_from_group(*instance, group, tag, to_object<Info>(info),
            Ref<Errhandler>::share(to_object<Errhandler>(errhandler)), &made);
    });
    if (code == MPI_SUCCESS && made != nullptr) {
        *newcomm = handle_of_new(args, made);
    }
    return args.result(code);
}

bool check_leader(Arguments& args, const char* name, int leader, const Group& group) {
    return args.require(
        leader >= 0 && leader < group.size(), MPI_ERR_RANK, name, leader, "must be a rank of the group");
}

// Checks the arguments that are significant at the leader only. An empty group has no leader.
bool check_remote_group(Arguments& args, const Group& local, MPI_Group handle, int leader) {
    if (!args.group("remote_group", handle)) {
        return false;
    }
    const Group& remote = *to_object<Group>(handle);
    return check_processes(args, "the number of threads in remote_group", remote) &&
        (remote.size() == 0 ||
            (check_leader(args, "remote_leader", leader, remote) && args.same_session(local, remote)));
}

int intercomm_from_groups(MPI_Group local_handle, int local_leader, MPI_Group remote_handle, int remote_leader,
    const char* tag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm* newcomm) {
    Arguments args("MPI_Intercomm_create_from_groups", target_of_new_communicator(errhandler, local_handle));
    if (checking() && !(args.group("local_group", local_handle) && check_tag(args, tag))) {
        return args.code(); // without both of them this process cannot reach the others
    }
    Group& local = *to_object<Group>(local_handle);
    if (checking() &&
        !(check_processes(args, "the number of threads in local_group", local) &&
            (local.size() == 0 || check_member(args, "the calling process's rank in local_group", local)))) {
        return args.code();
    }
    const bool is_leader = local.rank() == local_leader;
    const bool refuses = checking() &&
        !(serves(args, errhandler, Errhandler::Owner::communicator) && args.info_or_null("info", info) &&
            args.pointer("newintercomm", newcomm) &&
            (local.size() == 0 || check_leader(args, "local_leader", local_leader, local)) &&
            (!is_leader || check_remote_group(args, local, remote_handle, remote_leader)));
    if (newcomm != nullptr) {
        *newcomm = MPI_COMM_NULL;
    }
    if (local.size() == 0) {
        return refuses ? args.code() : MPI_SUCCESS;
    }
    int code = MPI_SUCCESS;
    Instance* instance = instance_of(args, local, &code);
    if (instance == nullptr) {
        return code;
    }
    // A process that has detected an error still takes part, so that the other processes return it too.
    const bool has_leader = local_leader >= 0 && local_leader < local.size();
    const bool fine = !refuses;
    Group* remote = is_leader ? probed_object<Group>(remote_handle) : nullptr;
    if (remote != nullptr && has_threads(*remote)) {
        remote = nullptr; // which cannot be notified either
    }
    Communicator* made = nullptr;
    std::string problem;
    code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        return create_intercommunicator_from_groups(*instance, local, has_leader ? local_leader : -1, remote,
            fine ? MPI_SUCCESS : args.code(), tag, fine ? to_object<Info>(info) : nullptr,
            fine ? Ref<Errhandler>::share(to_object<Errhandler>(errhandler))
                 : Errhandler::predefined(MPI_ERRORS_RETURN),
            &made, &problem);
    });
    if (refuses) {
        return args.code(); // the error handler has been called before
    }
    if (code != MPI_SUCCESS) {
        return args.fail(code, problem);
    }
    if (made != nullptr) {
        *newcomm = handle_of_new(args, made);
    }
    return MPI_SUCCESS;
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
    return api::session_init(info, errhandler, session);
}
int PMPI_Session_finalize(MPI_Session* session) {
    return api::session_finalize(session);
}
int PMPI_Session_get_info(MPI_Session session, MPI_Info* info_used) {
    return api::get_info(session, info_used);
}
int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int* npset_names) {
    return api::get_num_psets(session, info, npset_names);
}
int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int* pset_len, char* pset_name) {
    return api::get_nth_pset(session, info, n, pset_len, pset_name);
}
int PMPI_Session_get_pset_info(MPI_Session session, const char* pset_name, MPI_Info* info) {
    return api::get_pset_info(session, pset_name, info);
}
int PMPI_Group_from_session_pset(MPI_Session session, const char* pset_name, MPI_Group* newgroup) {
    return api::group_from_pset(session, pset_name, newgroup);
}
int PMPI_Comm_create_from_group(
    MPI_Group group, const char* stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm* newcomm) {
    return api::comm_from_group(group, stringtag, info, errhandler, newcomm);
}
int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group,
    int remote_leader, const char* stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm* newintercomm) {
    return api::intercomm_from_groups(
        local_group, local_leader, remote_group, remote_leader, stringtag, info, errhandler, newintercomm);
}
