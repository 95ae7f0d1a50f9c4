// SPDX-License-Identifier: BSD-3-Clause
// Synchronization of one-sided communication (MPI-5.0, 12.5): fence, post/start/complete/wait, locks and flushes.
#include "core/base/out_of_memory.h"
#include "frameworks/osc/asked_lock.h"
#include "frameworks/osc/epochs.h"
#include "frameworks/osc/osc.h"
#include "mpi/api/args.h"
#include "object/error_cause.h"

#include <vector>

namespace patchbay::api {

namespace {

bool check_assertion(Arguments& args, int assertion, int allowed, const char* rule) noexcept {
    return args.require((assertion & ~allowed) == 0, MPI_ERR_ASSERT, "assert", assertion, rule);
}

// A member of the window. MPI_PROC_NULL is accepted too: then nothing happens, as with the operations (12.2.8).
[[gnu::noinline]] bool check_no_target(Arguments& args, int rank) noexcept {
    return args.require(rank == MPI_PROC_NULL, MPI_ERR_RANK, "rank", rank, "must be that of a member of the window");
}
[[gnu::always_inline]] inline bool check_target(Arguments& args, int rank) noexcept {
    return (rank >= 0 && rank < args.window_object().size) || check_no_target(args, rank);
}

int fence(int assertion, MPI_Win win) noexcept {
    Arguments args("MPI_Win_fence", win);
    constexpr int allowed = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
    if (checking() &&
        !(args.window() &&
            check_assertion(args, assertion, allowed,
                "must be 0 or a combination of MPI_MODE_NOSTORE, MPI_MODE_NOPUT, MPI_MODE_NOPRECEDE and "
                "MPI_MODE_NOSUCCEED"))) {
        return args.code();
    }
    Window& window = args.window_object();
    int code = window.epochs->begin_fence(assertion);
    if (code == MPI_SUCCESS) {
        code = window.module->fence(assertion);
        window.epochs->end_fence(assertion);
    }
    return args.result(code);
}

// The ranks of the processes of a group in the window. MPI_ERR_GROUP: one is no member of it.
int translate(const Window& window, const Group& group, std::vector<int>* ranks) {
    ranks->reserve(std::size_t(group.size()));
    const Group& members = *window.comm->group;
    for (int i = 0; i < group.size(); ++i) {
        const int rank = members.rank_of(group.process(i));
        if (rank == MPI_UNDEFINED) {
            return MPI_ERR_GROUP;
        }
        ranks->push_back(rank);
    }
    return MPI_SUCCESS;
}

// Calls begin(window, ranks) for MPI_Win_post and MPI_Win_start.
template <class Begin>
int on_group(Arguments& args, MPI_Group group, const Begin& begin) noexcept {
    Window& window = args.window_object();
    const int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        std::vector<int> ranks;
        const Group* object = to_object<Group>(group);
        if (translate(window, *object, &ranks) != MPI_SUCCESS) {
            return note_cause(MPI_ERR_GROUP, "group contains a process that is not a member of the window");
        }
        return begin(window, std::move(ranks));
    });
    return args.result(code);
}

int post(MPI_Group group, int assertion, MPI_Win win) noexcept {
    Arguments args("MPI_Win_post", win);
    if (checking() &&
        !(args.window() && args.group("group", group) &&
            check_assertion(args, assertion, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT,
                "must be 0 or a combination of MPI_MODE_NOCHECK, MPI_MODE_NOSTORE and MPI_MODE_NOPUT"))) {
        return args.code();
    }
    return on_group(args, group, [assertion](Window& window, std::vector<int> ranks) {
        int code = window.epochs->post();
        if (code == MPI_SUCCESS) {
            code = window.module->post(ranks, assertion);
            if (code != MPI_SUCCESS) {
                window.epochs->wait();
            }
        }
        return code;
    });
}

int start(MPI_Group group, int assertion, MPI_Win win) noexcept {
    Arguments args("MPI_Win_start", win);
    if (checking() &&
        !(args.window() && args.group("group", group) &&
            check_assertion(args, assertion, MPI_MODE_NOCHECK, "must be 0 or MPI_MODE_NOCHECK"))) {
        return args.code();
    }
    return on_group(args, group, [assertion](Window& window, std::vector<int> ranks) {
        int code = window.epochs->start(ranks);
        if (code == MPI_SUCCESS) {
            code = window.module->start(ranks, assertion);
            if (code == MPI_ERR_PROC_ABORTED) {
                window.module->complete(); // without operations: the targets that have not failed wait for the end
            }
            if (code != MPI_SUCCESS) {
                window.epochs->complete();
            }
        }
        return code;
    });
}

// The functions without another argument than the window: the epochs check and change by `check`, then the module acts.
template <class Check, class Act>
int act(const char* function, MPI_Win win, const Check& check, const Act& act) noexcept {
    Arguments args(function, win);
    if (checking() && !args.window()) {
        return args.code();
    }
    Window& window = args.window_object();
    const int code = check(*window.epochs);
    return args.result(code == MPI_SUCCESS ? act(*window.module) : code);
}

// The same with a rank.
template <class Check, class Act>
int act_on(const char* function, int rank, MPI_Win win, const Check& check, const Act& act) noexcept {
    Arguments args(function, win);
    if (checking() && !(args.window() && check_target(args, rank))) {
        return args.code();
    }
    if (rank == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    Window& window = args.window_object();
    const int code = check(*window.epochs);
    return args.result(code == MPI_SUCCESS ? act(*window.module) : code);
}

int test(MPI_Win win, int* flag) noexcept {
    Arguments args("MPI_Win_test", win);
    if (checking() && !(args.window() && args.pointer("flag", flag))) {
        return args.code();
    }
    Window& window = args.window_object();
    if (!window.epochs->is_posted()) {
        return args.result(window.epochs->refuse_wait());
    }
    bool done = false;
    int code = window.module->test(&done);
    if (done) {
        const int ended = window.epochs->wait();
        code = code == MPI_SUCCESS ? ended : code;
    }
    *flag = done ? 1 : 0;
    return args.result(code);
}

bool check_lock_assertion(Arguments& args, int assertion) noexcept {
    return check_assertion(args, assertion, MPI_MODE_NOCHECK, "must be 0 or MPI_MODE_NOCHECK");
}

int lock(int type, int rank, int assertion, MPI_Win win) noexcept {
    Arguments args("MPI_Win_lock", win);
    if (checking() &&
        !(args.window() &&
            args.require(type == MPI_LOCK_SHARED || type == MPI_LOCK_EXCLUSIVE, MPI_ERR_LOCKTYPE, "lock_type", type,
                "must be MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE") &&
            check_target(args, rank) && check_lock_assertion(args, assertion))) {
        return args.code();
    }
    if (rank == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    Window& window = args.window_object();
    int code = window.epochs->lock(rank);
    if (code == MPI_SUCCESS) {
        osc::hold_asked_lock(*window.module, rank);
        code = window.module->lock(type == MPI_LOCK_EXCLUSIVE, rank, assertion);
        if (code != MPI_SUCCESS) {
            window.epochs->unlock(rank);
        }
    }
    return args.result(code);
}

int lock_all(int assertion, MPI_Win win) noexcept {
    Arguments args("MPI_Win_lock_all", win);
    if (checking() && !(args.window() && check_lock_assertion(args, assertion))) {
        return args.code();
    }
    Window& window = args.window_object();
    int code = window.epochs->lock_all();
    if (code == MPI_SUCCESS) {
        osc::hold_asked_lock(*window.module, osc::all_ranks);
        code = window.module->lock_all(assertion);
        if (code != MPI_SUCCESS) {
            window.epochs->unlock_all();
        }
    }
    return args.result(code);
}

// MPI_Win_flush and MPI_Win_flush_local: with a valid window and a locked member there is nothing but two comparisons.
template <class Act>
[[gnu::always_inline]] inline int flush(const char* function, int rank, MPI_Win win, const Act& act) noexcept {
    auto* window = to_object<Window>(win);
    if (thread_is_known() && window != nullptr && is_object(window) && !window->freed &&
        static_cast<unsigned>(rank) < static_cast<unsigned>(window->size) && window->epochs->is_locked(rank))
        [[likely]] {
        const int code = act(*window->module, rank);
        return code == MPI_SUCCESS ? code : report(ErrorTarget(window), function, code, {});
    }
    return act_on(
        function, rank, win,
        [rank](const osc::Epochs& epochs) { return epochs.is_locked(rank) ? MPI_SUCCESS : epochs.refuse_flush(rank); },
        [rank, &act](osc::Module& module) { return act(module, rank); });
}

constexpr auto check_flush_all = [](const osc::Epochs& epochs) { return epochs.check_flush_all(); };

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Win_fence(int assert, MPI_Win win) {
    return api::fence(assert, win);
}
int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win) {
    return api::post(group, assert, win);
}
int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win) {
    return api::start(group, assert, win);
}
int PMPI_Win_complete(MPI_Win win) {
    return api::act(
        "MPI_Win_complete", win, [](osc::Epochs& epochs) { return epochs.complete(); },
        [](osc::Module& module) { return module.complete(); });
}
int PMPI_Win_wait(MPI_Win win) {
    return api::act(
        "MPI_Win_wait", win, [](osc::Epochs& epochs) { return epochs.wait(); },
        [](osc::Module& module) { return module.wait(); });
}
int PMPI_Win_test(MPI_Win win, int* flag) {
    return api::test(win, flag);
}

int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win) {
    return api::lock(lock_type, rank, assert, win);
}
int PMPI_Win_unlock(int rank, MPI_Win win) {
    return api::act_on(
        "MPI_Win_unlock", rank, win, [rank](osc::Epochs& epochs) { return epochs.unlock(rank); },
        [rank](osc::Module& module) { return module.unlock(rank); });
}
int PMPI_Win_lock_all(int assert, MPI_Win win) {
    return api::lock_all(assert, win);
}
int PMPI_Win_unlock_all(MPI_Win win) {
    return api::act(
        "MPI_Win_unlock_all", win, [](osc::Epochs& epochs) { return epochs.unlock_all(); },
        [](osc::Module& module) { return module.unlock_all(); });
}
int PMPI_Win_flush(int rank, MPI_Win win) {
    return api::flush("MPI_Win_flush", rank, win, [](osc::Module& module, int target) { return module.flush(target); });
}
int PMPI_Win_flush_local(int rank, MPI_Win win) {
    return api::flush(
        "MPI_Win_flush_local", rank, win, [](osc::Module& module, int target) { return module.flush_local(target); });
}
int PMPI_Win_flush_all(MPI_Win win) {
    return api::act(
        "MPI_Win_flush_all", win, api::check_flush_all, [](osc::Module& module) { return module.flush_all(); });
}
int PMPI_Win_flush_local_all(MPI_Win win) {
    return api::act("MPI_Win_flush_local_all", win, api::check_flush_all,
        [](osc::Module& module) { return module.flush_local_all(); });
}
// The standard wants it in a passive target epoch; programs also call it in others, where it is a memory barrier.
int PMPI_Win_sync(MPI_Win win) {
    return api::act(
        "MPI_Win_sync", win, [](osc::Epochs&) { return MPI_SUCCESS; },
        [](osc::Module& module) { return module.sync(); });
}
