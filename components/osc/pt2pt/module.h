// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/pt2pt/lock_queue.h"
#include "components/osc/pt2pt/memory_map.h"
#include "components/osc/pt2pt/parts.h"
#include "components/osc/pt2pt/progress_thread.h"
#include "core/progress/lock.h"
#include "core/progress/waiter.h"
#include "frameworks/context.h"
#include "frameworks/osc/lock_order.h"
#include "frameworks/pml/pml.h"

#include <algorithm>
#include <chrono>
#include <mutex>

namespace patchbay::osc::pt2pt {

// Equal in all members of a window.
struct Agreed {
    std::size_t inline_bytes = 0; // of data in a control message
    std::uint64_t credits = 0;    // numbered messages that an origin may have under way to one target
};

// An operation as a program calls it, for a target that is another process.
struct Plan {
    Kind kind;
    Target target;
    const Origin* origin = nullptr;
    const Fetched* result = nullptr;
    const void* compare = nullptr; // compare_and_swap: an element that follows that of the origin
    std::uint8_t op = 0;
};

// One-sided communication by messages over the pml of the window's communicator. README.md describes it. Every function
// whose comment does not say otherwise is called with the lock held.
class Pt2pt final : public Module {
public:
    Pt2pt(Context& context, Window& window, const Agreed& agreed, std::shared_ptr<ProgressThread> thread);
    ~Pt2pt() override;
    // Begins to receive `count` control messages at a time. Without the lock. Returns an MPI code.
    int begin(int count);

    // Without the lock (frameworks/osc/osc.h):
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
    bool lacks_lock(int rank) noexcept override;
    void hold_lock(int rank) noexcept override;
    int unlock(int rank) noexcept override;
    int lock_all(int assertion) noexcept override;
    int unlock_all() noexcept override;
    int flush(int rank) noexcept override;
    int flush_all() noexcept override;
    int flush_local(int rank) noexcept override;
    int flush_local_all() noexcept override;
    int sync() noexcept override;
    int attach(void* base, std::uint64_t bytes) noexcept override;
    int detach(void* base) noexcept override;
    int finish() noexcept override;

private:
    using Guard = std::lock_guard<ProgressLock>;
    using UniqueLock = std::unique_lock<ProgressLock>;

    // What a wait waits for, as it was when the wait began.
    struct Awaited {
        Peer* peer;
        std::uint64_t sent = 0;       // numbered messages
        std::uint64_t operations = 0; // that have buffers of the program
    };

    // How long a wait looks at nothing but its messages. Then it also learns of failed processes, which takes a
    // receive for each.
    static constexpr std::chrono::milliseconds patience{100};
    static constexpr std::size_t known_types = 16; // of one origin, at one target

    // peers.cpp
    Peer& peer_of(int rank); // throws std::bad_alloc
    Peer* find_peer(int rank) noexcept;
    void watch(Peer& peer) noexcept;
    void watch_lock_users() noexcept;
    void watch_ended(Watch& watch) noexcept; // without the lock
    void fail(Peer& peer) noexcept;
    int take_error(Peer& peer) noexcept;
    static int report_refused_lock() noexcept;
    // Waits until done(awaited) for each of them, unless its peer has failed. Returns the error of one that has failed.
    // Without the lock, which is held in done(). `first_failure`: one that has failed ends the wait, also where others
    // are pending, because these may wait for it, too.
    enum class Until { all_settled, first_failure };
    template <class Done>
    int wait_for_peers(std::span<const Awaited> all, const Done& done, Until until = Until::all_settled) noexcept;
    // Calls done() with the lock held, and must_be_watched() after some time, if that is not enough. Without the lock.
    template <class Done, class Watched>
    void wait_locked(const Done& done, const Watched& watch_them) noexcept;

    // sending.cpp
    OutMessage* make_message(Kind kind, std::size_t payload) noexcept;
    void free_message(OutMessage* message) noexcept;
    // Sends a message that make_message() returned, and frees it in the end. Returns an MPI code.
    int send(Peer& peer, OutMessage* message) noexcept;
    int send_numbered(Peer& peer, OutMessage* message) noexcept;
    int send_numbered(Peer& peer, Kind kind, std::uint8_t flags) noexcept;
    void message_sent(OutMessage& message) noexcept; // without the lock
    // Waits for credits. Gives the lock back meanwhile.
    int reserve(Peer& peer, std::uint64_t credits, UniqueLock& lock) noexcept;
    void acknowledge(Peer& origin) noexcept;

    // receiving.cpp
    struct Slot {
        std::unique_ptr<std::byte[]> memory;
        Request* request = nullptr;
    };
    struct Receiver : Continuation {
        explicit Receiver(Pt2pt& of, Progress& progress) noexcept
            : Continuation(progress, [](ReadyItem& item) noexcept { static_cast<Receiver&>(item).module.receive(); }),
              module(of) {}
        Pt2pt& module;
        std::vector<Slot> slots; // used in turn, in the order in which messages match
        std::size_t next = 0;
        bool ending = false;
        bool ended = true;
    };
    void receive() noexcept; // without the lock
    void handle(const Slot& slot);
    void handle(Peer& peer, const Header& header, const std::byte* data);
    void handle_result(Peer& peer, const Header& header, const std::byte* data) noexcept;
    void end_receiving() noexcept; // without the lock
    [[noreturn]] void out_of_memory() noexcept;

    // target.cpp
    void handle_numbered(Peer& origin, const Header& header, const std::byte* data);
    void append_entry(Peer& origin, const Header& header, const std::byte* data);
    void advance(Peer& origin);
    void advance_all();
    void acknowledge_if_needed(Peer& origin, const Header& header) noexcept;
    void entry_ready(Entry& entry) noexcept; // without the lock
    // These return whether the message is done; otherwise entry_ready() follows.
    bool begin_entry(Peer& origin, const Header& header, const std::byte* data, Entry* entry);
    bool begin_type(Peer& origin, const Header& header, const std::byte* data, Entry* entry);
    bool begin_lock(Entry& entry);
    void release_lock(int rank);
    void fail_in_lock(int rank);
    void end_waits_for_lock(const std::vector<int>& ranks, LockQueue::Answer answer) noexcept;
    void refuse_lock(Peer& origin) noexcept;
    void set_type(Peer& origin, const Header& header, const std::byte* data);

    // access.cpp
    struct Access {
        std::byte* memory = nullptr;
        const Datatype* type = nullptr;
        int code = MPI_SUCCESS;
    };
    Access find_access(const Peer& origin, const Header& header) const noexcept;
    bool begin_put(Peer& origin, const Header& header, const std::byte* data, Entry* entry);
    bool begin_get(Peer& origin, const Header& header, Entry* entry);
    bool begin_accumulate(Peer& origin, const Header& header, const std::byte* data, Entry* entry);
    bool apply(Peer& origin, const Header& header, const std::byte* data, Entry* entry);
    int combine_elements(const Header& header, const Access& access, const std::byte* data);
    bool refuse(Peer& origin, const Header& header, int code, Entry* entry);
    bool receive_data(Entry& entry, void* buffer, MPI_Count count, const Datatype& type) noexcept;
    bool send_result(Entry& entry, const void* buffer, MPI_Count count, const Datatype& type) noexcept;
    bool wait_for_message(Entry& entry) noexcept;
    void report(Peer& origin, const Header& header, int code) noexcept;

    // issue.cpp
    int issue(const Plan& plan, Request** request) noexcept; // without the lock
    int issue(const Plan& plan, Request** request, Peer& peer, UniqueLock& lock);
    int name_target(Peer& peer, const Plan& plan, Header& header);
    int send_type(Peer& peer, const Datatype& type, std::uint16_t number);

    // operations.cpp
    Operation* make_operation(Peer& peer);
    void forget(Operation& operation) noexcept;
    void give_up(Operation* operation) noexcept;
    int expect_result(Operation& operation, const Fetched& result, const Header& header) noexcept;
    int run_operation(Operation& operation, const Origin* data, int tag) noexcept;
    void operation_ready(Operation& operation) noexcept; // without the lock
    void end_operation(Operation& operation) noexcept;

    // self.cpp
    int access_self(const Target& target, std::byte** memory) const noexcept;
    int complete_at_once(int code, Request** request) noexcept;

    // passive.cpp
    int lock_self(bool exclusive) noexcept;                    // without the lock
    int unlock_self() noexcept;                                // without the lock
    int lock_peer(int rank, bool exclusive) noexcept;          // without the lock
    int wait_for_lock(Peer& peer) noexcept;                    // without the lock
    int ask_for_lock(Peer& peer, std::uint8_t flags) noexcept; // of message.h
    void give_back_locks(int end) noexcept;                    // of ranks below `end`; without the lock
    void give_back_lock(Peer& peer) noexcept;
    int ask_for_acknowledgement(Peer& peer, UniqueLock& lock) noexcept;
    int ask_for_unlock(Peer& peer, UniqueLock& lock) noexcept;
    bool must_hold(int rank) const noexcept;
    // Without the lock: completes what has been started to one peer, or to all, and returns the first error.
    enum class Where { at_origin, at_target };
    Awaited now(Peer& peer) const noexcept { return {&peer, peer.sent, peer.next_operation}; }
    int wait_until_complete(std::span<const Awaited> all, Where where) noexcept;
    template <class Ask>
    int complete_peer(int rank, Where where, const Ask& ask) noexcept;
    template <class Ask>
    int complete_all(Where where, const Ask& ask) noexcept;

    Context& _context;
    Window& _window;
    Communicator& _comm;
    pml::Module& _pml;
    Progress& _progress;
    const Agreed _agreed;
    const Datatype& _byte;
    const std::shared_ptr<ProgressThread> _thread;

    ProgressLock _lock;
    std::vector<std::unique_ptr<Peer>> _peers; // by rank; null: there was nothing yet
    Receiver _receiver;
    OutMessage* _free_messages = nullptr;
    std::size_t _free_count = 0;
    std::size_t _sending = 0;            // messages
    std::size_t _under_way = 0;          // continuations of other kinds
    std::vector<Operation*> _operations; // by slot
    std::vector<std::uint32_t> _free_slots;
    LockQueue _locks;
    bool _own_lock_refused = false; // the last one that lock_self() has waited for
    MemoryMap _memory;
    std::vector<Peer*> _to_advance;
    std::vector<int> _exposed_to; // the origins of MPI_Win_post
    std::vector<int> _started;    // the targets of MPI_Win_start
    bool _locked_all = false;
    bool _unchecked_all = false;  // with MPI_MODE_NOCHECK
    int _tests = 0;               // calls of test() without success
    LockOrder _lock_order{*this}; // declared last
};

template <class Done, class Watched>
void Pt2pt::wait_locked(const Done& done, const Watched& watch_them) noexcept {
    const auto ready = [&] {
        const Guard guard(_lock);
        return done();
    };
    if (wait_for(_progress, patience, ready)) {
        return;
    }
    {
        const Guard guard(_lock);
        watch_them();
    }
    wait_until(_progress, ready);
}

template <class Done>
int Pt2pt::wait_for_peers(std::span<const Awaited> all, const Done& done, Until until) noexcept {
    const auto is_pending = [&](const Awaited& one) { return !one.peer->failed && !done(one); };
    const auto has_failed = [&](const Awaited& one) { return one.peer->failed && !done(one); };
    for (;;) {
        wait_locked(
            [&] {
                return std::none_of(all.begin(), all.end(), is_pending) ||
                    (until == Until::first_failure && std::any_of(all.begin(), all.end(), has_failed));
            },
            [&] {
                for (const Awaited& one : all) {
                    if (is_pending(one)) {
                        watch(*one.peer);
                    }
                }
            });
        const Guard guard(_lock);
        for (const Awaited& one : all) {
            if (has_failed(one)) {
                return take_error(*one.peer);
            }
        }
        if (std::none_of(all.begin(), all.end(), is_pending)) {
            return MPI_SUCCESS;
        } // otherwise what a failed peer had sent has arrived meanwhile
    }
}

} // namespace patchbay::osc::pt2pt
