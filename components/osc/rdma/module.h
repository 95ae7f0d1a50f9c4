// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/rdma/barrier.h"
#include "components/osc/rdma/delegations.h"
#include "components/osc/rdma/errors.h"
#include "components/osc/rdma/exposure.h"
#include "components/osc/rdma/fair_lock.h"
#include "components/osc/rdma/mailboxes.h"
#include "components/osc/rdma/members.h"
#include "components/osc/rdma/regions.h"
#include "components/osc/rdma/transfer.h"
#include "components/osc/rdma/update_lock.h"
#include "frameworks/osc/memory.h"
#include "frameworks/osc/osc.h"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace patchbay::osc::rdma {

class RdmaModule final : public Module {
public:
    // What parameters say about delegated operations.
    struct Delegating {
        bool enabled;      // of this process as an origin
        std::size_t limit; // the most bytes of an operation
        std::chrono::nanoseconds patience;
        DelegationCounters* counters;
    };
    // Local. Throws std::bad_alloc. `control` has room for the words of ControlLayout(window.size), and behind it for
    // MailboxLayout(window.size, mailbox_payload).
    RdmaModule(Window& window, Jobs::Use job, std::unique_ptr<Memory> control, std::size_t mailbox_payload,
        const Delegating& delegating, NodeSegment* segment);
    ~RdmaModule() override;
    // The parts of Members that create() calls.
    Status prepare() { return _members.prepare(); }
    Status connect(); // throws std::bad_alloc

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
    std::uint64_t accumulate_granularity() const noexcept override { return _members.granularity(); }
    int finish() noexcept override { return flush_all(); }
    // A member that waits for a lock in this control block learns from the intents there that a holder has failed.
    void abandon() noexcept override {
        _control->keep_block();
        _own_regions.keep_tables();
    }

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
    int transfer_directly(Direction direction, void* buffer, MPI_Count count, const Datatype& type,
        const Target& target, Request** request) noexcept;
    int transfer_far(Direction direction, Convertor& here, const Target& target, TransferRequest* request) noexcept;
    bool locate_dense(const Target& target, Reach& reach) noexcept;
    int locate(const Target& target, Reach& reach, bool* scattered) noexcept;
    int locate_range(int rank, std::uint64_t place, std::uint64_t bytes, Reach& reach) noexcept;
    int check_blocks(int rank, const Convertor& there) noexcept;
    Convertor places_of(const Target& target) const noexcept;
    int access(int rank, const Reach* reach, Direction direction, Convertor& here, Convertor& there, std::size_t bytes,
        TransferRequest* request) noexcept;
    int access_blocks(int rank, Direction direction, Convertor& here, Convertor& there, std::size_t bytes,
        TransferRequest* request) noexcept;
    void copy_blocks(
        const Reach& reach, Direction direction, Convertor& here, Convertor& there, std::size_t bytes) noexcept;
    int new_request(TransferRequest** request) noexcept;
    int complete_request(Request** request) noexcept;

    int update_directly(const Origin& origin, const Fetched* result, const Target& target, const Op& op,
        const Datatype& element, const Reach* reach) noexcept;
    int update_rest(const Origin& origin, const Fetched* result, const Target& target, const Op& op,
        const Datatype& element, const Reach& reach, std::size_t done) noexcept;
    // The window memory of a member that is mapped.
    std::byte* mapped_at(int rank, std::uint64_t place) noexcept {
        return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(_members[rank].mapped) + place);
    }
    int update(const Origin& origin, const Fetched* result, const Target& target, const Op& op) noexcept;
    int update_mapped(
        std::byte* memory, const Origin& origin, const Fetched* result, const Target& target, const Op& op) noexcept;
    int update_chunks(int rank, const Reach* reach, Convertor& there, const Update& what) noexcept;
    template <class Step>
    int with_update_lock(int rank, const Step& step) noexcept;
    bool is_alone_with(int rank) noexcept;

    // Delegated operations (delegated.cpp). The result of a function: whether the operation is complete, or the target
    // has failed; not_done: the caller carries it out.
    using Delegated = Delegations::Outcome;
    void open_mailboxes();
    // *done is set where a part of the bytes has been done: the caller carries out the rest.
    // `region`: of a dynamic window, that of the target.
    Delegated delegate_transfer(Direction direction, void* buffer, MPI_Count count, const Datatype& type,
        const Target& target, const Reach& region, std::size_t* done) noexcept;
    // A put or get of one block on both sides.
    struct ArrayTransfer {
        Direction direction;
        std::byte* buffer;
        int rank;
        std::uint64_t place;
        std::size_t bytes;
    };
    Delegated share_transfer(
        Delegations::Entry& entry, const ArrayTransfer& transfer, const Reach& reach, std::size_t* done) noexcept;
    Delegated stream(
        Delegations::Entry& entry, const ArrayTransfer& transfer, std::size_t piece, std::size_t* done) noexcept;
    Delegated transfer_pieces(Delegations::Entry& entry, const ArrayTransfer& transfer, std::size_t* done) noexcept;
    Delegated delegate_update(const Origin& origin, const Fetched* result, const Target& target, const Op& op,
        const Datatype& element, std::size_t* done) noexcept;
    // An accumulate whose buffers are dense, and the target's, too.
    struct ArrayUpdate {
        const Origin& origin;
        const Fetched* result; // null: not wanted
        int rank;
        std::uint64_t place;
        std::size_t bytes;
    };
    Delegated update_pieces(
        Delegations::Entry& entry, const ArrayUpdate& update, std::size_t most, std::size_t* done) noexcept;
    Delegated delegate_fetch(
        const void* origin, void* result, const Datatype& type, int rank, std::uint64_t place, const Op& op) noexcept;
    Delegated delegate_swap(const void* origin, const void* compare, void* result, const Datatype& type, int rank,
        std::uint64_t place) noexcept;
    Delegated run_update(Delegations::Entry& entry, int rank) noexcept;
    int complete_delegated(Delegated outcome, int rank) noexcept {
        return outcome == Delegated::done ? MPI_SUCCESS : report_failed_member(rank);
    }
    template <class Change, class Delegate>
    int update_element(void* result, const Datatype& type, int rank, std::uint64_t place, const Change& change,
        const Delegate& delegate) noexcept;

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
    UpdateLock _update_lock;
    Exposure _exposure;
    OwnRegions _own_regions;
    PeerRegions _peer_regions;
    std::vector<int> _origins; // of the exposure epoch
    std::vector<int> _targets; // of the access epoch that start() began
    const std::size_t _mailbox_payload;
    const Delegating _delegating;
    std::unique_ptr<Mailboxes> _mailboxes;     // null: all others have the window memory of this process mapped
    std::unique_ptr<Delegations> _delegations; // null: no other member has mailboxes that this process uses
};

} // namespace patchbay::osc::rdma
