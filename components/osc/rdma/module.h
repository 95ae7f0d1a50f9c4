// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/rdma/barrier.h"
#include "components/osc/rdma/errors.h"
#include "components/osc/rdma/exposure.h"
#include "components/osc/rdma/fair_lock.h"
#include "components/osc/rdma/members.h"
#include "components/osc/rdma/regions.h"
#include "components/osc/rdma/transfer.h"
#include "core/progress/lock.h"
#include "frameworks/osc/memory.h"
#include "frameworks/osc/osc.h"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace patchbay::osc::rdma {

class RdmaModule final : public Module {
public:
    // Local. Throws std::bad_alloc. `control` has room for the words of ControlLayout(window.size).
    RdmaModule(Window& window, Jobs::Use job, std::unique_ptr<Memory> control, NodeSegment* segment);
    ~RdmaModule() override;
    // The parts of Members that create() calls.
    Status prepare() { return _members.prepare(); }
    Status connect() { return _members.connect(); }

    int put(const Origin& origin, const Target& target, Request** request) noexcept override;
    int get(const Fetched& result, const Target& target, Request** request) noexcept override;
    int accumulate(const Origin& origin, const Target& target, const Op& op, Request** request) noexcept override;
    int get_accumulate(const Origin& origin, const Fetched& result, const Target& target, const Op& op,
        Request** request) noexcept override;
    int fetch_and_op(const void* origin, void* result, const Datatype& type, int rank, std::uint64_t place,
        const Op& op) noexcept override;
    int compare_and_swap(const void* origin, const void* compare, void* result, const Datatype& type, int rank,
        std::uint64_t place) noexcept override;

    int fence(int assertion) noexcept override;
    int post(std::span<const int> origins, int assertion) noexcept override;
    int start(std::span<const int> targets, int assertion) noexcept override;
    int complete() noexcept override;
    int wait() noexcept override;
    int test(bool* done) noexcept override;

    int lock(bool exclusive, int rank, int assertion) noexcept override;
    int unlock(int rank) noexcept override;
    int lock_all(int assertion) noexcept override;
    int unlock_all() noexcept override;
    int flush(int rank) noexcept override;
    int flush_all() noexcept override;
    // A btl that is asynchronous ends an operation at the origin when it does at the target, or little earlier.
    int flush_local(int rank) noexcept override { return flush(rank); }
    int flush_local_all() noexcept override { return flush_all(); }
    int sync() noexcept override;

    int attach(void* base, std::uint64_t bytes) noexcept override { return _own_regions.attach(base, bytes); }
    int detach(void* base) noexcept override { return _own_regions.detach(base); }
    int finish() noexcept override { return flush_all(); }

private:
    // What an accumulate does to the elements of the target, one chunk after the other.
    struct Update {
        const Op& op;
        Convertor* origin;       // null with MPI_NO_OP
        Convertor* result;       // null: not wanted
        const Datatype& element; // predefined
    };

    int transfer(Direction direction, void* buffer, MPI_Count count, const Datatype& type, const Target& target,
        Request** request) noexcept;
    int transfer_far(Direction direction, Convertor& here, const Target& target, TransferRequest* request) noexcept;
    int locate(const Target& target, Reach& reach, bool* scattered) noexcept;
    int locate_range(int rank, std::uint64_t place, std::uint64_t bytes, Reach& reach) noexcept;
    int check_blocks(int rank, Convertor there) noexcept;
    Convertor places_of(const Target& target) const noexcept;
    int access(int rank, const Reach* reach, Direction direction, Convertor& here, Convertor& there, std::size_t bytes,
        TransferRequest* request) noexcept;
    int access_blocks(int rank, Direction direction, Convertor& here, Convertor& there, std::size_t bytes,
        TransferRequest* request) noexcept;
    void copy_blocks(
        const Reach& reach, Direction direction, Convertor& here, Convertor& there, std::size_t bytes) noexcept;
    int new_request(TransferRequest** request) noexcept;
    int complete_request(Request** request) noexcept;

    int update(const Origin& origin, const Fetched* result, const Target& target, const Op& op) noexcept;
    int update_mapped(
        std::byte* memory, const Origin& origin, const Fetched* result, const Target& target, const Op& op) noexcept;
    int update_chunks(int rank, const Reach* reach, Convertor& there, const Update& what) noexcept;
    template <class Step>
    int with_update_lock(int rank, const Step& step) noexcept;
    template <class Change>
    int update_element(
        void* result, const Datatype& type, int rank, std::uint64_t place, const Change& change) noexcept;

    // Before an operation: the member has not failed.
    int ready(int rank) noexcept {
        if (_failures.has_failed(rank)) [[unlikely]] {
            return report_failed_member(rank);
        }
        return MPI_SUCCESS;
    }
    int take_lock(int rank, bool exclusive) noexcept;
    int drop_lock(int rank) noexcept;

    Window& _window;
    const Jobs::Use _job;
    Progress& _progress;
    const std::unique_ptr<Memory> _control;
    const ControlLayout _layout;
    const bool _dynamic;
    Failures _failures;
    Members _members;
    Barrier _barrier;
    FairLock _window_lock;
    FairLock _update_lock;
    ProgressLock _updates; // the accumulates of this process, which is one user of _update_lock
    Exposure _exposure;
    OwnRegions _own_regions;
    PeerRegions _peer_regions;
    std::vector<int> _origins; // of the exposure epoch
    std::vector<int> _targets; // of the access epoch that start() began
};

} // namespace patchbay::osc::rdma
