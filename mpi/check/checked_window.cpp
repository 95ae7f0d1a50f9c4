// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/checked_window.h"

#include "frameworks/coll/coll.h"
#include "mpi/check/finding.h"
#include "mpi/check/signature.h"
#include "object/communicator.h"
#include "object/error_cause.h"
#include "object/window.h"

#include <fmt/core.h>

namespace patchbay::check {

namespace {

// The place in the target's memory may be 0, but the address of a buffer that a Convertor lists may not.
constexpr std::uintptr_t not_null = 64;

// The origin has no meaning.
bool reads_only(const Op& op) noexcept {
    return &op == to_object<Op>(MPI_NO_OP);
}

} // namespace

// Both sides of an operation must have the same type signature; which the origin gives both.
int CheckedWindow::same_types(const Operation& operation, const char* side, const Datatype& type, MPI_Count count,
    const CallSite& site) noexcept {
    if (!_checks.types) {
        return MPI_SUCCESS;
    }
    bool same = true;
    unless_exhausted([&] {
        const osc::Target& target = operation.target;
        const Signature own = Signature::of(type, count);
        const Signature other = Signature::of(*target.type, target.count);
        same = own.matches(other);
        if (!same) {
            print_finding("types",
                fmt::format("{} on {} at {}: {} is {}, but the target's side, of rank {}, is {}. Give the same basic "
                            "types in the same order on both sides",
                    operation.function, _window.describe(), site.text(), side, own.text(), target.rank, other.text()));
        }
    });
    return same ? MPI_SUCCESS : note_cause(MPI_ERR_TYPE, printed_cause);
}

void CheckedWindow::use_buffer(const Operation& operation, const void* buffer, MPI_Count count, const Datatype& type,
    bool only_read, const CallSite& site) noexcept {
    if (!_checks.buffers) {
        return;
    }
    const MessageCall call{operation.function, const_cast<void*>(buffer), count, &type, operation.target.rank, 0,
        only_read ? std::optional(pml::SendMode::standard) : std::nullopt, _window.comm, &_window};
    if (operation.has_request) {
        _buffers.look_at(call);
        return;
    }
    unless_exhausted([&] {
        const std::lock_guard lock(_mutex);
        Pending& pending = _pending.emplace_back();
        pending.rank = operation.target.rank;
        pending.call = call;
        pending.site = site;
        pending.type = Ref<Datatype>::share(const_cast<Datatype*>(&type));
        _buffers.begin(pending.use, pending.call, pending.site);
    });
}

void CheckedWindow::access(const Operation& operation, AccessKind kind, bool fetches, const CallSite& site) noexcept {
    if (!_checks.windows || operation.has_request) {
        return;
    }
    unless_exhausted([&] {
        const osc::Target& target = operation.target;
        const std::uint64_t element =
            kind == AccessKind::update ? Signature::of(*target.type, target.count).runs[0].type : 0;
        _targets.add(target.rank,
            {operation.function, kind,
                {reinterpret_cast<const void*>(not_null + std::uintptr_t(target.place)), target.count, target.type},
                fetches, element, site, Ref<Datatype>::share(const_cast<Datatype*>(target.type))});
    });
}

int CheckedWindow::put(const osc::Origin& origin, const osc::Target& target, Request** request) noexcept {
    const Operation operation{request == nullptr ? "MPI_Put" : "MPI_Rput", target, request != nullptr};
    const CallSite site = CallSite::here();
    if (const int code = same_types(operation, "the origin", *origin.type, origin.count, site); code != MPI_SUCCESS) {
        return code;
    }
    access(operation, AccessKind::write, false, site);
    use_buffer(operation, origin.buffer, origin.count, *origin.type, true, site);
    return _wrapped->put(origin, target, request);
}

int CheckedWindow::get(const osc::Fetched& result, const osc::Target& target, Request** request) noexcept {
    const Operation operation{request == nullptr ? "MPI_Get" : "MPI_Rget", target, request != nullptr};
    const CallSite site = CallSite::here();
    if (const int code = same_types(operation, "the origin", *result.type, result.count, site); code != MPI_SUCCESS) {
        return code;
    }
    access(operation, AccessKind::read, true, site);
    use_buffer(operation, result.buffer, result.count, *result.type, false, site);
    return _wrapped->get(result, target, request);
}

int CheckedWindow::accumulate(
    const osc::Origin& origin, const osc::Target& target, const Op& op, Request** request) noexcept {
    const Operation operation{request == nullptr ? "MPI_Accumulate" : "MPI_Raccumulate", target, request != nullptr};
    const CallSite site = CallSite::here();
    if (const int code = same_types(operation, "the origin", *origin.type, origin.count, site); code != MPI_SUCCESS) {
        return code;
    }
    access(operation, AccessKind::update, false, site);
    use_buffer(operation, origin.buffer, origin.count, *origin.type, true, site);
    return _wrapped->accumulate(origin, target, op, request);
}

int CheckedWindow::get_accumulate(const osc::Origin& origin, const osc::Fetched& result, const osc::Target& target,
    const Op& op, Request** request) noexcept {
    const Operation operation{
        request == nullptr ? "MPI_Get_accumulate" : "MPI_Rget_accumulate", target, request != nullptr};
    const CallSite site = CallSite::here();
    const bool only_reads = reads_only(op);
    int code = same_types(operation, "the result", *result.type, result.count, site);
    if (code == MPI_SUCCESS && !only_reads) {
        code = same_types(operation, "the origin", *origin.type, origin.count, site);
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    access(operation, AccessKind::update, true, site);
    if (!only_reads) {
        use_buffer(operation, origin.buffer, origin.count, *origin.type, true, site);
    }
    use_buffer(operation, result.buffer, result.count, *result.type, false, site);
    return _wrapped->get_accumulate(origin, result, target, op, request);
}

int CheckedWindow::fetch_and_op(
    const void* origin, void* result, const Datatype& type, int rank, std::uint64_t place, const Op& op) noexcept {
    const osc::Target target{rank, place, 1, &type};
    const Operation operation{"MPI_Fetch_and_op", target, false};
    const CallSite site = CallSite::here();
    access(operation, AccessKind::update, true, site);
    if (!reads_only(op)) {
        use_buffer(operation, origin, 1, type, true, site);
    }
    use_buffer(operation, result, 1, type, false, site);
    return _wrapped->fetch_and_op(origin, result, type, rank, place, op);
}

int CheckedWindow::compare_and_swap(const void* origin, const void* compare, void* result, const Datatype& type,
    int rank, std::uint64_t place) noexcept {
    const osc::Target target{rank, place, 1, &type};
    const Operation operation{"MPI_Compare_and_swap", target, false};
    const CallSite site = CallSite::here();
    access(operation, AccessKind::update, true, site);
    use_buffer(operation, origin, 1, type, true, site);
    use_buffer(operation, compare, 1, type, true, site);
    use_buffer(operation, result, 1, type, false, site);
    return _wrapped->compare_and_swap(origin, compare, result, type, rank, place);
}

// The findings on collectives of the window name its communicator.
void CheckedWindow::name_communicator() noexcept {
    if (_checks.collectives) {
        unless_exhausted([&] {
            std::string name = "of " + _window.describe();
            const std::lock_guard lock(_window.comm->mutex);
            _window.comm->name = std::move(name);
        });
    }
}

// A member that does not take part in the fence may be in MPI_Win_free, which is a collective on the communicator of
// the window. The barrier compares the calls; the fence itself need not be made of messages.
int CheckedWindow::fence(int assertion) noexcept {
    if (_checks.collectives) {
        name_communicator();
        Communicator& comm = *_window.comm;
        if (const int code = (*comm.coll)[coll::Function::barrier].barrier(comm); code != MPI_SUCCESS) {
            return code;
        }
    }
    return ended(every_rank, [&] { return _wrapped->fence(assertion); });
}

void CheckedWindow::end_origin(int rank) noexcept {
    std::list<Pending> ended;
    {
        const std::lock_guard lock(_mutex);
        for (auto pending = _pending.begin(); pending != _pending.end();) {
            const auto next = std::next(pending);
            if (rank == every_rank || pending->rank == rank) {
                ended.splice(ended.end(), _pending, pending);
            }
            pending = next;
        }
    }
    for (Pending& pending : ended) {
        _buffers.end(pending.use);
    }
}

} // namespace patchbay::check
