// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/api/calling_thread.h"

#include "core/call_site.h"
#include "core/log.h"
#include "core/runtime/node_reports.h"
#include "mpi/api/report.h"
#include "mpi/instance/settings.h"
#include "mpi/instance/thread_levels.h"
#include "mpi/library/library.h"
#include "mpi/library/world.h"
#include "object/probed_handle.h"

#include <fmt/core.h>

#include <new>
#include <optional>
#include <string>

namespace patchbay::api {

namespace {

constexpr char remedy[] = "Request MPI_THREAD_SERIALIZED, where one thread calls at a time, or MPI_THREAD_MULTIPLE";

// A user of the library, as far as the thread level is concerned.
struct Owner {
    int level;
    ThreadId thread; // that called MPI_Init, or opened the session
    bool is_world;

    bool allows(ThreadId caller) const noexcept { return level > MPI_THREAD_FUNNELED || thread == caller; }
};

std::optional<Owner> owner_of(const Session* session) noexcept {
    if (session != nullptr) {
        return Owner{session->thread_level, session->lease->user().thread, false};
    }
    World& world = library().world();
    return world.running() ? std::optional(Owner{world.thread_level(), world.opener(), true}) : std::nullopt;
}

// The object of a call, where the handle is one.
struct Target {
    ErrorTarget report;
    std::string name;
    std::optional<Owner> owner; // nullopt: not known
};

Target target_of(CallObject object) {
    if (object.kind == CallObject::Kind::communicator) {
        if (auto* comm = probed_object<Communicator>(static_cast<MPI_Comm>(object.handle))) {
            return {comm, comm->describe(), owner_of(comm->session)};
        }
    } else if (object.kind == CallObject::Kind::window) {
        if (auto* window = probed_object<Window>(static_cast<MPI_Win>(object.handle))) {
            return {window, window->describe(), owner_of(window->session)};
        }
    }
    return {};
}

// Why this thread must not make the call; nullopt: it may, or that cannot be told. A thread that is a rank of a thread
// communicator may make any call. Requests may be of any user of the library, so that such a call is wrong for certain
// only if no user allows it.
std::optional<std::string> reason_against(Instance& instance, CallObject object, const Target& target) {
    const ThreadId caller = this_thread_id();
    if (object.kind != CallObject::Kind::none) {
        if (!target.owner || target.owner->allows(caller) || instance.threads_are_active()) {
            return std::nullopt;
        }
        const char* level = thread_level_name(target.owner->level);
        return target.owner->is_world
            ? fmt::format(
                  "the call is made by another thread than the one that called MPI_Init, but the thread level is "
                  "{}. {} with MPI_Init_thread",
                  level, remedy)
            : fmt::format(
                  "the call is made by another thread than the one that opened the session, whose thread level is "
                  "{}. {} with info key thread_level of MPI_Session_init",
                  level, remedy);
    }
    const std::optional<Owner> world = owner_of(nullptr);
    const auto allows = [caller](const Session& session) { return owner_of(&session)->allows(caller); };
    if ((world && world->allows(caller)) || instance.any_session(allows) || instance.threads_are_active()) {
        return std::nullopt;
    }
    return fmt::format(
        "the call is made by a thread that has neither called MPI_Init nor opened a session, but no thread "
        "level is above MPI_THREAD_FUNNELED. {} with MPI_Init_thread or info key thread_level of "
        "MPI_Session_init",
        remedy);
}

bool every_call_is_checked() noexcept {
    return (single_thread.load(std::memory_order_relaxed) & threads_are_checked) != 0;
}

void print_once(Instance& instance, const char* function, const std::string& where, const std::string& reason) {
    const CallSite site = CallSite::here();
    if (instance.wrong_calls().is_new(site)) {
        log_error(fmt::format("mpi_check threads: {}{} at {}: {}", function, where, site.text(), reason));
    }
}

// Nothing is wrong with the program as far as this library is concerned, which locks from now on. The processes of a
// job print the same text once.
void warn_once(Instance& instance, const char* function, const std::string& where, const std::string& reason) {
    if (!instance.core().params.at("mpi_thread_warning").as_bool() || !instance.wrong_calls().is_first()) {
        return;
    }
    const std::string text = fmt::format("{}{}: {}. The program goes on, because the library locks from now on; "
                                         "parameter mpi_thread_warning=false suppresses this text",
        function, where, reason);
    if (is_first_report_on_node(text)) {
        log_warn(text);
    }
}

int check(Instance& instance, const char* function, CallObject object) {
    const Target target = target_of(object);
    const std::optional<std::string> reason = reason_against(instance, object, target);
    if (!reason) {
        return MPI_SUCCESS;
    }
    const std::string where = target.name.empty() ? std::string() : " on " + target.name;
    if (!every_call_is_checked()) {
        warn_once(instance, function, where, *reason);
        return MPI_SUCCESS;
    }
    print_once(instance, function, where, *reason);
    if (!settings.check_arguments.load(std::memory_order_relaxed)) {
        return MPI_SUCCESS; // the bindings would not look at the code
    }
    return report(target.report, function, MPI_ERR_OTHER,
        target.name.empty() ? *reason : fmt::format("{}: {}", target.name, *reason));
}

} // namespace

int check_calling_thread(const char* function, CallObject object, bool is_first) noexcept {
    Instance* instance = library().instance();
    if (instance == nullptr || !(is_first || every_call_is_checked())) {
        return MPI_SUCCESS;
    }
    try {
        return check(*instance, function, object);
    } catch (const std::bad_alloc&) {
        return MPI_SUCCESS; // the text is lost
    }
}

} // namespace patchbay::api
