// SPDX-License-Identifier: BSD-3-Clause
// Persistent one-sided operations, which are an extension: each start issues the operation on the window, and the
// request completes with it.
#include "core/progress/continuation.h"
#include "include/mpix.h"
#include "mpi/api/handles.h"
#include "mpi/api/rma_args.h"
#include "mpi/instance/instance.h"
#include "object/error_cause.h"

#include <new>
#include <utility>

namespace patchbay::api {

namespace {

enum class Operation : std::uint8_t { put, get, accumulate };

struct Persistent {
    Operation operation;
    LocalSide origin;
    TargetSide target;
    MPI_Op op;
};

// The request holds references to what the operation needs, and to the window itself, which exists as an object after
// MPI_Win_free so that a later start gives an error.
class PersistentRma final : public Request {
public:
    PersistentRma(const Persistent& what, Window& window) noexcept
        : _what(what),
          _window(Ref<Window>::share(&window)),
          _held(Ref<Communicator>::share(window.comm)),
          _origin_type(Ref<Datatype>::share(to_object<Datatype>(what.origin.type))),
          _target_type(Ref<Datatype>::share(to_object<Datatype>(what.target.type))),
          _after(window.comm->progress_or(window.instance->progress()), &run) {
        _after.request = this;
        belong_to(*window.comm);
        progress = &window.comm->progress_or(window.instance->progress());
        fill_empty_status(status);
        persistent = true;
    }

    int start() noexcept override;
    int cancel() noexcept override { return MPI_SUCCESS; }
    std::int32_t references_to_comm() const noexcept override { return 1; }
    std::string_view cause() const noexcept override {
        return _issued != nullptr ? _issued->cause() : std::string_view();
    }

private:
    struct After : Continuation {
        using Continuation::Continuation;
        PersistentRma* request = nullptr;
    };

    static void run(ReadyItem& item) noexcept;
    int issue(osc::Module& module, const osc::Target& target) noexcept;
    void drop_issued() noexcept {
        if (Request* issued = std::exchange(_issued, nullptr)) {
            issued->recycle();
        }
    }
    int retire() noexcept override {
        drop_issued();
        delete this;
        return MPI_SUCCESS;
    }

    const Persistent _what;
    const Ref<Window> _window;
    const Ref<Communicator> _held;
    const Ref<Datatype> _origin_type;
    const Ref<Datatype> _target_type;
    After _after;
    Request* _issued = nullptr; // of the last start; it has the cause of an error
};

int PersistentRma::start() noexcept {
    if (_window->freed) {
        return note_cause(MPI_ERR_WIN, "the window of the persistent request has been freed");
    }
    const int rank = _what.target.rank;
    if (rank == MPI_PROC_NULL || is_empty(_what.target)) {
        set_complete();
        return MPI_SUCCESS;
    }
    if (!_window->epochs->may_access(rank)) {
        return _window->epochs->refuse_access(rank);
    }
    drop_issued();
    if (const int code = issue(*_window->module, target_of(*_window, _what.target)); code != MPI_SUCCESS) {
        return code;
    }
    set_active();
    _after.open();
    _issued->attach(_after);
    if (_after.close()) {
        error = _issued->error;
        set_complete();
    }
    return MPI_SUCCESS;
}

int PersistentRma::issue(osc::Module& module, const osc::Target& target) noexcept {
    const LocalSide& origin = _what.origin;
    switch (_what.operation) {
    case Operation::put:
        return module.put({origin.address, origin.count, _origin_type.get()}, target, &_issued);
    case Operation::get:
        return module.get({const_cast<void*>(origin.address), origin.count, _origin_type.get()}, target, &_issued);
    default:
        return module.accumulate(
            {origin.address, origin.count, _origin_type.get()}, target, *to_object<Op>(_what.op), &_issued);
    }
}

void PersistentRma::run(ReadyItem& item) noexcept {
    PersistentRma& self = *static_cast<After&>(item).request;
    self.error = self._issued->error;
    Progress& waits = *self.progress; // the request may not exist afterwards
    waits.with_thread_level([&self](bool) { self.complete(); });
    if (waits.threaded()) {
        waits.wake();
    }
}

int init(const char* function, const Persistent& what, MPI_Win win, MPI_Info info, MPI_Request* handle) noexcept {
    Arguments args(function, win);
    const auto op_fits = [&] {
        return what.operation != Operation::accumulate ||
            (check_accumulate_op(args, what.op, what.target.type, false) &&
                (is_empty(what.target) ||
                    check_same_elements(args, what.origin.type_name, what.origin.type, what.target.type)));
    };
    if (checking() &&
        !(args.window() && check_rma_target(args, what.target) && check_local(args, what.origin) &&
            check_same_bytes(args, what.origin, what.target) && op_fits() &&
            (what.target.rank == MPI_PROC_NULL || check_range(args, what.target)) && args.info_or_null("info", info) &&
            args.pointer("request", handle))) {
        return args.code();
    }
    Window& window = args.window_object();
    auto* request = new (std::nothrow) PersistentRma(what, window);
    if (request == nullptr) {
        *handle = MPI_REQUEST_NULL;
        return args.result(MPI_ERR_NO_MEM);
    }
    request->enter_list();
    if (Origins* const origins = Origins::active()) [[unlikely]] {
        origins->add(to_handle<Request>(request), ObjectKind::request, args.function(), window.describe());
    }
    *handle = to_handle<Request>(request);
    return MPI_SUCCESS;
}

constexpr LocalSide origin_side(const void* address, int count, MPI_Datatype type) noexcept {
    return {"origin", "origin_count", "origin_type", address, count, type};
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPIX_Put_init(const void* origin, int origin_count, MPI_Datatype origin_type, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Info info,
    MPI_Request* request) {
    return api::init("MPIX_Put_init",
        {api::Operation::put, api::origin_side(origin, origin_count, origin_type),
            {target_rank, target_disp, target_count, target_type, "target_type"}, MPI_OP_NULL},
        win, info, request);
}
int PMPIX_Get_init(void* origin, int origin_count, MPI_Datatype origin_type, int target_rank, MPI_Aint target_disp,
    int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Info info, MPI_Request* request) {
    return api::init("MPIX_Get_init",
        {api::Operation::get, api::origin_side(origin, origin_count, origin_type),
            {target_rank, target_disp, target_count, target_type, "target_type"}, MPI_OP_NULL},
        win, info, request);
}
int PMPIX_Accumulate_init(const void* origin, int origin_count, MPI_Datatype origin_type, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win, MPI_Info info,
    MPI_Request* request) {
    return api::init("MPIX_Accumulate_init",
        {api::Operation::accumulate, api::origin_side(origin, origin_count, origin_type),
            {target_rank, target_disp, target_count, target_type, "target_type"}, op},
        win, info, request);
}
