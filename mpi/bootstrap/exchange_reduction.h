// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/cid.h"
#include "mpi/bootstrap/exchange.h"

#include <atomic>
#include <optional>
#include <utility>
#include <vector>

namespace patchbay {

// Reductions over a group whose members may have no communicator in common. Contributions go up a flat tree to the
// first member, in messages of the bootstrap exchange, and the result goes down. The tree is flat because with more
// ranks than cores the number of rounds, each of which takes a context switch, matters more than the number of
// messages. With Operation::first there are no contributions, and the words of the first member go down.
//
// Members of one node first query the node store. Its entry is the result of Operation::any. For the other operations
// it names the operation, so that a member which has chosen another cid component detects the mismatch and refuses.
class ExchangeReduction final : public cid::GroupReduction {
public:
    // All members of `group` construct a reduction with the same operation key.
    ExchangeReduction(BootstrapExchange& bootstrap, Ref<Group> group, OperationKey key)
        : ExchangeReduction(bootstrap, group, std::move(key), group->rank()) {}
    // Of a process that withdraws in the name of the member `rank`, which does not take part.
    ExchangeReduction(BootstrapExchange& bootstrap, Ref<Group> group, OperationKey key, int rank);
    ~ExchangeReduction() override;

    int start(std::span<std::uint64_t> words, Operation operation) noexcept override;
    bool ready() const noexcept override;
    bool advance(int* code) noexcept override;
    void withdraw() noexcept override;
    bool withdraw_from_all() noexcept override;
    bool can_withdraw() const noexcept override { return true; }
    std::string name() const override { return _key.unique_name(); }

private:
    friend class BootstrapExchange;
    static constexpr int fan_out = 16;
    // With Operation::first, contributions are needed in one of this many reductions with the same string tag and
    // members, so that the first member cannot send an unlimited number of messages to slow members.
    static constexpr std::uint32_t synchronization_interval = 64;

    // Called by the bootstrap exchange with its lock held. false: the message is for another reduction.
    bool deliver(std::span<const std::byte> message, const BootstrapMessage& view);

    int parent() const noexcept { return (_rank - 1) / fan_out; }
    int first_child() const noexcept { return _rank * fan_out + 1; }
    int children() const noexcept;
    bool needs_contributions() const noexcept {
        return _operation != Operation::first ||
            _key.sequence % synchronization_interval == synchronization_interval - 1;
    }
    // The reduction is finished only when its messages are sent, because other members wait for them, and this process
    // may not call the library again for a long time.
    bool finished() const noexcept {
        return !_store_is_full && !_running && _pending_sends.load(std::memory_order_acquire) == 0 &&
            (!_has_inserted || _store->below_high_water_mark(_inserted));
    }
    std::uint64_t entry_kind() const noexcept { return std::uint64_t(_operation) << 32 | _words.size(); }
    NodeStore::Outcome get_or_put(NodeStore::Entry& entry) noexcept;
    // The functions without noexcept throw std::bad_alloc, which attempt() catches.
    int query_store();
    int begin_round();
    int join() noexcept;
    int send_to_children(BootstrapHeader::Kind kind) noexcept;
    int send_if_complete() noexcept;
    void refuse(int except) noexcept;
    void read_messages();
    bool handle(const BootstrapMessage& view);
    template <class Step>
    int attempt(Step&& step) noexcept;
    void combine(const BootstrapMessage& view) noexcept;
    int send_to(int rank, BootstrapHeader::Kind kind) noexcept;
    int distribute_result() noexcept;

    BootstrapExchange& _bootstrap;
    Ref<Group> _group;
    OperationKey _key;
    const std::string _entry_key; // key of the entry in the node store
    int _rank;
    int _code = MPI_SUCCESS;
    Operation _operation{};
    std::span<std::uint64_t> _words;
    NodeStore* _store = nullptr; // null: members are on several nodes, or the operation key is too long
    std::uint32_t _round = 0;
    int _missing = 0;              // children that have not contributed to this round
    NodeStore::EntryRef _inserted; // the entry that this process has inserted
    // What withdraw_from_all() has read.
    std::optional<NodeStore::Entry> _found;
    bool _has_inserted = false;
    bool _begun = false;         // start() has been called, or withdraw()
    bool _store_is_full = false; // the query of the store has to be repeated
    bool _joined = false;
    bool _running = false;
    bool _round_sent = false; // whether the contribution of this round, or the first member's result, has been sent
    std::atomic<std::uint32_t> _pending_sends{0};
    std::atomic<std::uint32_t> _arrived{0};     // number of messages in the inbox
    std::vector<std::vector<std::byte>> _inbox; // protected by the bootstrap exchange's lock
    std::vector<std::vector<std::byte>> _early; // messages of the next round
};

} // namespace patchbay
