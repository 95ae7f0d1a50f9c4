// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/common/process_end.h"
#include "components/osc/sm/control.h"
#include "components/osc/sm/waits.h"
#include "core/memory/node_segment.h"
#include "frameworks/osc/osc.h"

#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

namespace patchbay::osc::sm {

class AttachedMemory;

enum class BarrierKind : std::uint8_t { automatic, dissemination, central };

// The module of one window: every operation is carried out by the calling process, by loads and stores. Nothing is
// under way when a call returns, so that a thread changes only what the epochs of the window give it alone, and no
// function takes a lock of this process.
class Sm : public Module {
public:
    // Communicates over window.comm. Every member takes part, also one that has an error. `segment`: the memory that
    // the members share; null: they are threads of this process.
    static Result<std::unique_ptr<Module>> create(
        Progress& progress, NodeSegment* segment, Window& window, BarrierKind barrier, bool share_cores) noexcept;
    ~Sm() override;

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
    int flush_local(int) noexcept override { return MPI_SUCCESS; }
    int flush_local_all() noexcept override { return MPI_SUCCESS; }
    int sync() noexcept override;
    std::uint64_t accumulate_granularity() const noexcept override { return _granularity; }

    int attach(void* base, std::uint64_t bytes) noexcept override;
    int detach(void* base) noexcept override;

    void abandon() noexcept override { _block = 0; }

protected:
    Sm(Progress& progress, NodeSegment* segment, Window& window) noexcept
        : _waits(progress),
          _progress(progress),
          _segment(segment),
          _window(window),
          _size(std::uint32_t(window.size)),
          _rank(std::uint32_t(window.rank)) {}
    // Of a dynamic window only: what this member has attached, and what another one has.
    virtual AttachedMemory* attached() noexcept { return nullptr; }
    const AttachedMemory& attached_by(int rank) const noexcept { return *_peers[std::size_t(rank)].attached; }

private:
    enum class Held : std::uint8_t { nothing, shared, exclusive, unchecked };
    struct Peer {
        std::byte* base = nullptr; // where this process has the member's memory mapped; null in a dynamic window
        Control* control = nullptr;
        Doorbell* bell = nullptr;
        AttachedMemory* attached = nullptr;  // in a dynamic window
        Control::Word* own_ticket = nullptr; // whether this process has a ticket of its lock (Control::tickets)
        std::int32_t pid = 0;                // 0: this process cannot see whether it has ended
        std::uint32_t starts = 0;            // of start() with it: so many of its calls of post() are used
        std::uint32_t exposures = 0;         // of post() with it: so many calls of complete() are expected of it
        Turn turn;                           // of this process, with its lock
        Held held = Held::nothing;           // its lock, by this process
    };
    // What a member tells all others.
    struct Announcement {
        SharedAddress control;
        // Of a thread, for those of its process:
        Control* control_of_thread;
        Doorbell* bell;
        AttachedMemory* attached;
        // Of a process:
        std::uint32_t slot;
        std::int32_t pid;
        BarrierKind barrier;
        std::uint8_t share_cores;
        std::uint8_t granularity; // mpi_accumulate_granularity, if that is at most the size of an element
        std::uint8_t padding[5];
    };

    Status make(Announcement& own, std::vector<Announcement>& all);
    void make_for_thread(Announcement& own);
    static Status exchange(Window& window, const Announcement& own, std::vector<Announcement>& all) noexcept;
    Status map(const std::vector<Announcement>& all) noexcept;
    Status map_peer(int rank, const Announcement& announcement) noexcept;
    void map_thread(int rank, const Announcement& announcement) noexcept;

    std::uint32_t size() const noexcept { return _size; }
    std::uint32_t rank() const noexcept { return _rank; }
    Peer& peer(int rank) noexcept { return _peers[std::size_t(rank)]; }
    // In a dynamic window the place is the address, and there is no base to which it could be added.
    std::byte* at(int rank, std::uint64_t place) noexcept {
        return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(peer(rank).base) + place);
    }
    std::byte* at(const Target& target) noexcept { return at(target.rank, target.place); }
    Control& own() noexcept { return *_own; }
    auto ringer() noexcept {
        return [this](std::uint32_t member) { _peers[member].bell->notify(); };
    }
    bool has_ended(int rank) noexcept { return process_has_ended(peer(rank).pid); }
    bool any_has_ended() const noexcept;

    int done(int code, Request** request) noexcept {
        return request == nullptr || code != MPI_SUCCESS ? code : give_request(request);
    }
    [[gnu::noinline]] int put_any(const Origin& origin, const Target& target, Request** request) noexcept;
    [[gnu::noinline]] int get_any(const Fetched& result, const Target& target, Request** request) noexcept;
    int give_request(Request** request) noexcept;

    // Accumulates of single elements by processor atomics, see README.md. update_singly() returns false where the
    // elements are not of that kind; otherwise *code is the result.
    [[gnu::noinline]] bool update_singly(
        const Origin& origin, const Fetched* result, const Target& target, const Op& op, int* code) noexcept;

    // The lock of a member's memory for accumulates.
    int lock_elements(int rank) noexcept;
    int wait_for_elements(Control& control) noexcept;
    void unlock_elements(int rank) noexcept;

    TicketQueue queue_of(Peer& target) noexcept {
        return {target.control->waiters(size()), size(), rank(), _waits.shares_cores() ? on_shared_cores : on_own_cores,
            _waits.first_looks()};
    }
    int take_lock(bool exclusive, int rank) noexcept;
    template <class Done>
    int wait_for_lock(int rank, const Done& done) noexcept;
    void leave_lock(int rank) noexcept;

    int central_barrier() noexcept;
    int dissemination_barrier() noexcept;
    bool has_posted(int target) noexcept;
    bool has_completed(int origin) noexcept;
    bool all_complete() noexcept;
    bool origin_has_ended() noexcept;
    int end_exposure(int code) noexcept;

    const Waits _waits;
    Progress& _progress;
    NodeSegment* const _segment; // null: the members are threads of this process
    Window& _window;
    const std::uint32_t _size;
    const std::uint32_t _rank;
    struct Free {
        void operator()(void* memory) const noexcept { std::free(memory); }
    };
    SharedAddress _block = 0; // of `_own`, in the segment
    std::unique_ptr<void, Free> _private_block;
    Control* _own = nullptr;
    std::vector<Peer> _peers;
    bool _central = false;
    // Of mpi_accumulate_granularity, where all members synchronize accumulates for single elements; otherwise 0.
    std::uint64_t _granularity = 0;
    std::uint64_t _barrier_rounds = 0; // as in Control::arrived
    std::uint64_t _barriers = 0;
    std::vector<int> _targets;  // of start()
    std::vector<int> _origins;  // of post()
    std::size_t _completed = 0; // so many of these have completed
    std::uint32_t _tests = 0;   // that found an epoch incomplete
};

} // namespace patchbay::osc::sm
