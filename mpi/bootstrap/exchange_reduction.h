// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/cid.h"
#include "mpi/bootstrap/exchange.h"

#include <atomic>
#include <vector>

namespace patchbay {

// Reductions over a group whose members may have no communicator in common: messages in the bootstrap exchange go up a
// flat tree to the first member and the result comes down. Few rounds matter more than few messages here: with more
// ranks than cores each round costs a change of processes. What the first member alone says (Operation::first) only
// goes down.
//
// Members of one node first ask the node store how this meeting agrees: that is all for Operation::any, and whoever
// finds that another member agrees by other means (it has chosen another component) refuses.
class ExchangeReduction final : public cid::GroupReduction {
public:
    // All members of `group` make one of the same operation key.
    ExchangeReduction(BootstrapExchange& bootstrap, Ref<Group> group, OperationKey key);
    ~ExchangeReduction() override;

    int start(std::span<std::uint64_t> words, Operation operation) noexcept override;
    bool ready() const noexcept override;
    bool advance(int* code) noexcept override;
    void withdraw() noexcept override;
    bool can_withdraw() const noexcept override { return true; }
    std::string name() const override { return _key.unique_name(); }

private:
    friend class BootstrapExchange;
    static constexpr int fan_out = 16;
    // Of so many meetings about one operation key in which only the first member speaks it waits for all others in one,
    // so that messages to slow members do not pile up without end.
    static constexpr std::uint32_t longest_lead = 64;

    // By the bootstrap exchange, with its lock held. false: the message is not for us.
    bool offer(std::span<const std::byte> message, const BootstrapMessage& view);

    int parent() const noexcept { return (_rank - 1) / fan_out; }
    int first_child() const noexcept { return _rank * fan_out + 1; }
    int children() const noexcept;
    bool hears_all() const noexcept {
        return _operation != Operation::first || _key.sequence % longest_lead == longest_lead - 1;
    }
    // Whoever leaves may not call the library for long, and others wait for what it has to say.
    bool finished() const noexcept {
        return !_asks && !_running && _unsent.load(std::memory_order_acquire) == 0 &&
            (!_has_inserted || _store->below_high_water_mark(_inserted));
    }
    std::uint64_t entry_kind() const noexcept { return std::uint64_t(_operation) << 32 | _words.size(); }
    NodeStore::Outcome get_or_put(NodeStore::Entry& entry) noexcept;
    // These throw where memory is exhausted; attempt() catches that.
    int ask_store();
    int begin_round();
    int enter() noexcept;
    int tell_children(BootstrapHeader::Kind kind) noexcept;
    int speak() noexcept;
    void refuse(int except) noexcept;
    void read_messages();
    bool take(const BootstrapMessage& view);
    template <class Step>
    int attempt(Step&& step) noexcept;
    void combine(const BootstrapMessage& view) noexcept;
    int send_to(int rank, BootstrapHeader::Kind kind) noexcept;
    int pass_result_on() noexcept;

    BootstrapExchange& _bootstrap;
    Ref<Group> _group;
    OperationKey _key;
    const std::string _entry_key; // of entries
    int _rank;
    int _code = MPI_SUCCESS;
    Operation _operation{};
    std::span<std::uint64_t> _words;
    NodeStore* _store = nullptr; // null: not for these members, or this operation key
    std::uint32_t _round = 0;
    int _missing = 0;              // children that have not contributed to this round
    NodeStore::EntryRef _inserted; // by us
    bool _has_inserted = false;
    bool _begun = false; // others have heard of us, or will
    bool _asks = false;  // the store has had no room yet
    bool _entered = false;
    bool _running = false;
    bool _spoken = false;                       // this round, to the parent or as the first member to everybody
    std::atomic<std::uint32_t> _unsent{0};      // messages that wait for room
    std::atomic<std::uint32_t> _arrived{0};     // messages in the inbox
    std::vector<std::vector<std::byte>> _inbox; // under the bootstrap exchange's lock
    std::vector<std::vector<std::byte>> _early; // of the next round
};

} // namespace patchbay
