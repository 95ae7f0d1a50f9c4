// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/osc/osc.h"
#include "mpi/check/buffer_check.h"
#include "mpi/check/checks.h"
#include "mpi/check/target_check.h"

#include <list>
#include <memory>
#include <mutex>

namespace patchbay::check {

// The module that the bindings call for a window in the checking mode. It looks at each operation when it begins, and
// passes it on; the calls that complete operations end what is remembered of them. An operation with a request is
// compared when it begins only: the program may complete it by its request.
class CheckedWindow final : public osc::Module {
public:
    CheckedWindow(
        const Checks& checks, BufferCheck& buffers, const Window& window, std::unique_ptr<osc::Module> wrapped) noexcept
        : _checks(checks),
          _buffers(buffers),
          _window(window),
          _wrapped(std::move(wrapped)),
          _targets(window) {
        name_communicator();
    }
    ~CheckedWindow() override { end_origin(every_rank); }

    int put(const osc::Origin& origin, const osc::Target& target, Request** request) noexcept override;
    int get(const osc::Fetched& result, const osc::Target& target, Request** request) noexcept override;
    int accumulate(
        const osc::Origin& origin, const osc::Target& target, const Op& op, Request** request) noexcept override;
    int get_accumulate(const osc::Origin& origin, const osc::Fetched& result, const osc::Target& target, const Op& op,
        Request** request) noexcept override;
    int fetch_and_op(const void* origin, void* result, const Datatype& type, int rank, std::uint64_t place,
        const Op& op) noexcept override;
    int compare_and_swap(const void* origin, const void* compare, void* result, const Datatype& type, int rank,
        std::uint64_t place) noexcept override;

    int fence(int assertion) noexcept override;
    int post(std::span<const int> origins, int assertion) noexcept override {
        return _wrapped->post(origins, assertion);
    }
    int start(std::span<const int> targets, int assertion) noexcept override {
        return _wrapped->start(targets, assertion);
    }
    int complete() noexcept override {
        return ended(every_rank, [&] { return _wrapped->complete(); });
    }
    int wait() noexcept override { return _wrapped->wait(); }
    int test(bool* done) noexcept override { return _wrapped->test(done); }
    int lock(bool exclusive, int rank, int assertion) noexcept override {
        return _wrapped->lock(exclusive, rank, assertion);
    }
    int unlock(int rank) noexcept override {
        return ended(rank, [&] { return _wrapped->unlock(rank); });
    }
    int lock_all(int assertion) noexcept override { return _wrapped->lock_all(assertion); }
    int unlock_all() noexcept override {
        return ended(every_rank, [&] { return _wrapped->unlock_all(); });
    }
    int flush(int rank) noexcept override {
        return ended(rank, [&] { return _wrapped->flush(rank); });
    }
    int flush_all() noexcept override {
        return ended(every_rank, [&] { return _wrapped->flush_all(); });
    }
    int flush_local(int rank) noexcept override {
        return ended_here(rank, [&] { return _wrapped->flush_local(rank); });
    }
    int flush_local_all() noexcept override {
        return ended_here(every_rank, [&] { return _wrapped->flush_local_all(); });
    }
    int sync() noexcept override { return _wrapped->sync(); }
    int attach(void* base, std::uint64_t bytes) noexcept override { return _wrapped->attach(base, bytes); }
    int detach(void* base) noexcept override { return _wrapped->detach(base); }
    void hints_changed() noexcept override { _wrapped->hints_changed(); }
    std::uint64_t accumulate_granularity() const noexcept override { return _wrapped->accumulate_granularity(); }
    int finish() noexcept override { return _wrapped->finish(); }
    void abandon() noexcept override { _wrapped->abandon(); }

private:
    static constexpr int every_rank = -1;

    // A buffer of this process, from the operation to a call that completes it at the origin.
    struct Pending {
        int rank;
        MessageCall call;
        CallSite site;
        Ref<Datatype> type;
        BufferCheck::Use use;
    };
    // One operation, in the words of its call.
    struct Operation {
        const char* function;
        const osc::Target& target;
        bool has_request;
    };

    void name_communicator() noexcept;
    int same_types(const Operation& operation, const char* side, const Datatype& type, MPI_Count count,
        const CallSite& site) noexcept;
    void use_buffer(const Operation& operation, const void* buffer, MPI_Count count, const Datatype& type,
        bool only_read, const CallSite& site) noexcept;
    void access(const Operation& operation, AccessKind kind, bool fetches, const CallSite& site) noexcept;
    void end_origin(int rank) noexcept;

    // A call that completes the operations to a rank: at the origin only, or at the target too. The buffers are
    // compared before it, because another process may write to them as soon as the epoch has ended, if they are in its
    // window.
    template <class Call>
    int ended_here(int rank, Call&& call) noexcept {
        end_origin(rank);
        const int code = call();
        rank == every_rank ? _targets.complete_all_fetches() : _targets.complete_fetches(rank);
        return code;
    }
    template <class Call>
    int ended(int rank, Call&& call) noexcept {
        end_origin(rank);
        const int code = call();
        rank == every_rank ? _targets.complete_all() : _targets.complete(rank);
        return code;
    }

    const Checks& _checks;
    BufferCheck& _buffers;
    const Window& _window;
    const std::unique_ptr<osc::Module> _wrapped;
    TargetCheck _targets;
    std::mutex _mutex; // protects _pending
    std::list<Pending> _pending;
};

} // namespace patchbay::check
