// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/bootstrap/exchange_reduction.h"

#include "core/base/out_of_memory.h"
#include "frameworks/cid/reduce_words.h"
#include "frameworks/cid/refusal_word.h"
#include "object/error_cause.h"

#include <algorithm>

namespace patchbay {

namespace {

// The kind of an entry by which a failed member makes the constructor fail in the others. The kinds of all other
// entries are those of entry_kind().
constexpr std::uint64_t refused = ~std::uint64_t(0);

// Whether the entry is the result, so that a member that finds it waits for no message.
bool is_final(const NodeStore::Entry& entry) noexcept {
    return entry.kind == refused || entry.kind >> 32 == std::uint64_t(cid::GroupReduction::Operation::any);
}

// Whether no member gets its words from the reduction before all have taken part in it, or withdrawn.
bool needs_all(const NodeStore::Entry& entry) noexcept {
    return entry.kind == refused ||
        (!is_final(entry) && entry.kind >> 32 != std::uint64_t(cid::GroupReduction::Operation::first));
}

constexpr char component_mismatch[] =
    "the members of a new communicator have chosen different components of framework cid: parameter cid and info key "
    "patchbay_cid must be the same in all of them";

} // namespace

ExchangeReduction::ExchangeReduction(BootstrapExchange& bootstrap, Ref<Group> group, OperationKey key, int rank)
    : _bootstrap(bootstrap),
      _group(std::move(group)),
      _key(std::move(key)),
      _entry_key(bootstrap.store_key(_key)),
      _rank(rank) {
    if (_group->size() > 1 && _entry_key.size() <= NodeStore::longest_key) {
        _code = _bootstrap.find_store(*_group, &_store);
    }
}

ExchangeReduction::~ExchangeReduction() {
    if (_joined) {
        _bootstrap.remove(*this);
    }
}

int ExchangeReduction::join() noexcept {
    if (!_joined) {
        _joined = true;
        _code = unless_out_of_memory(MPI_ERR_NO_MEM, [this] { return _bootstrap.join(*this); });
    }
    return _code;
}

int ExchangeReduction::children() const noexcept {
    return std::clamp(_group->size() - first_child(), 0, fan_out);
}

bool ExchangeReduction::deliver(std::span<const std::byte> message, const BootstrapMessage& view) {
    if (!view.has_key(_key)) {
        return false;
    }
    _inbox.emplace_back(message.begin(), message.end());
    _arrived.fetch_add(1, std::memory_order_release);
    return true;
}

// Runs a step of the reduction. If memory is exhausted, the reduction fails in all members.
template <class Step>
int ExchangeReduction::attempt(Step&& step) noexcept {
    const bool done = unless_out_of_memory(false, [&] {
        step();
        return true;
    });
    if (!done) {
        _store_is_full = false;
        refuse(_rank);
        _code = MPI_ERR_NO_MEM;
    }
    return _code;
}

int ExchangeReduction::start(std::span<std::uint64_t> words, Operation operation) noexcept {
    if (_code != MPI_SUCCESS) {
        return _code;
    }
    _words = words;
    _operation = operation;
    if (_group->size() == 1) {
        return MPI_SUCCESS;
    }
    _begun = true;
    return attempt([this] { _code = _round == 0 && _store != nullptr ? query_store() : begin_round(); });
}

NodeStore::Outcome ExchangeReduction::get_or_put(NodeStore::Entry& entry) noexcept {
    if (_found) { // an entry is read once
        entry = *_found;
        return NodeStore::Outcome::found;
    }
    const auto answer = _store->get_or_put(_entry_key, std::uint32_t(_group->size()), entry, &_inserted);
    _has_inserted = answer == NodeStore::Outcome::inserted;
    return answer;
}

int ExchangeReduction::query_store() {
    NodeStore::Entry entry{entry_kind(), _words[0]};
    _store_is_full = get_or_put(entry) == NodeStore::Outcome::full;
    if (_store_is_full) {
        return MPI_SUCCESS;
    }
    if (entry.kind != entry_kind()) {
        if (is_final(entry)) {
            _code = MPI_ERR_OTHER;
        } else {
            refuse(_rank);
        }
        return note_cause(_code, entry.kind == refused ? cid::another_has_failed : component_mismatch);
    }
    if (_operation == Operation::any) {
        _words[0] = entry.word;
        ++_round;
        return MPI_SUCCESS;
    }
    return begin_round();
}

int ExchangeReduction::begin_round() {
    if (join() != MPI_SUCCESS) {
        return _code;
    }
    if (_operation == Operation::any) {
        _operation = Operation::first;
        _words[0] = _rank == 0 ? _words[0] : 0;
    }
    _missing = needs_contributions() ? children() : 0;
    _round_sent = _rank > 0 && !needs_contributions();
    _running = true;
    if (_round == 0 && _operation != Operation::first) {
        _code = send_to_children(BootstrapHeader::Kind::question);
    }
    auto early = std::move(_early);
    _early.clear();
    for (const auto& message : early) {
        BootstrapMessage view;
        if (BootstrapMessage::read(message, &view) && !handle(view)) {
            _early.push_back(message);
        }
    }
    return _code == MPI_SUCCESS ? send_if_complete() : _code;
}

// When all contributions have arrived, sends the contribution to the parent, or as the first member the result.
int ExchangeReduction::send_if_complete() noexcept {
    if (_running && _missing == 0 && !_round_sent) {
        _round_sent = true;
        _code = _rank > 0 ? send_to(parent(), BootstrapHeader::Kind::contribution) : distribute_result();
    }
    return _code;
}

bool ExchangeReduction::ready() const noexcept {
    if (_code != MPI_SUCCESS) {
        return true;
    }
    if (_store_is_full) {
        return _store->has_room(_entry_key);
    }
    return _running ? _arrived.load(std::memory_order_acquire) != 0 : finished();
}

bool ExchangeReduction::advance(int* code) noexcept {
    if (_code == MPI_SUCCESS && _store_is_full) {
        attempt([this] { _code = query_store(); });
    }
    if (_code == MPI_SUCCESS && _running) {
        attempt([this] { read_messages(); });
    }
    *code = _code == MPI_SUCCESS ? send_if_complete() : _code;
    return finished() || *code != MPI_SUCCESS;
}

void ExchangeReduction::read_messages() {
    std::vector<std::vector<std::byte>> messages;
    {
        std::lock_guard lock(_bootstrap._mutex);
        messages.swap(_inbox);
        _arrived.store(0, std::memory_order_relaxed);
    }
    for (auto& message : messages) {
        BootstrapMessage view;
        if (BootstrapMessage::read(message, &view) && !handle(view)) {
            _early.push_back(std::move(message));
        }
    }
}

// false: the message is of a later round.
bool ExchangeReduction::handle(const BootstrapMessage& view) {
    if (view.head.kind == BootstrapHeader::Kind::refusal) {
        refuse(view.head.sender);
        note_cause(_code, cid::another_has_failed);
        return true;
    }
    if (view.head.round != _round || !_running) {
        return false;
    }
    if (view.head.words != _words.size() || view.head.operation != _operation) {
        refuse(_rank);
        note_cause(_code, component_mismatch);
        return true;
    }
    if (view.head.kind == BootstrapHeader::Kind::question) {
        return true;
    }
    if (view.head.kind == BootstrapHeader::Kind::contribution) {
        combine(view);
        --_missing;
        return true;
    }
    for (std::size_t i = 0; i < _words.size(); ++i) {
        _words[i] = view.word(i);
    }
    _code = distribute_result();
    return true;
}

// The other members wait for this process, now or later, unless it sends them that it fails.
void ExchangeReduction::withdraw() noexcept {
    if (_begun || _group->size() == 1) {
        return;
    }
    _begun = true;
    NodeStore::Entry entry{refused, 0};
    if (_store != nullptr && get_or_put(entry) != NodeStore::Outcome::full && is_final(entry)) {
        return;
    }
    _code = MPI_SUCCESS;
    refuse(_rank);
}

// Members that share no memory may have got their words from the first one.
bool ExchangeReduction::withdraw_from_all() noexcept {
    if (_store == nullptr || _begun || _code != MPI_SUCCESS) {
        return false;
    }
    NodeStore::Entry entry{refused, 0};
    if (get_or_put(entry) == NodeStore::Outcome::full) {
        return false;
    }
    _found = entry;
    if (!needs_all(entry)) {
        return false;
    }
    withdraw();
    return true;
}

// The reduction fails. All neighbours in the tree but `except` get a refusal.
void ExchangeReduction::refuse(int except) noexcept {
    if (_code != MPI_SUCCESS || join() != MPI_SUCCESS) {
        return;
    }
    _code = MPI_ERR_OTHER;
    if (_rank > 0 && parent() != except) {
        send_to(parent(), BootstrapHeader::Kind::refusal);
    }
    for (int i = 0; i < children(); ++i) {
        if (first_child() + i != except) {
            send_to(first_child() + i, BootstrapHeader::Kind::refusal);
        }
    }
}

void ExchangeReduction::combine(const BootstrapMessage& view) noexcept {
    for (std::size_t i = 0; i < _words.size(); ++i) {
        reduce_word(_words[i], view.word(i), _operation);
    }
}

// The words are the result: they go to all children, and the round is finished.
int ExchangeReduction::distribute_result() noexcept {
    const int code = send_to_children(BootstrapHeader::Kind::result);
    ++_round;
    _running = false;
    return code;
}

int ExchangeReduction::send_to_children(BootstrapHeader::Kind kind) noexcept {
    int code = MPI_SUCCESS;
    for (int i = 0; i < children() && code == MPI_SUCCESS; ++i) {
        code = send_to(first_child() + i, kind);
    }
    return code;
}

int ExchangeReduction::send_to(int rank, BootstrapHeader::Kind kind) noexcept {
    BootstrapHeader head{};
    head.sender = _rank;
    head.round = _round;
    head.kind = kind;
    head.operation = _operation;
    return unless_out_of_memory(MPI_ERR_NO_MEM,
        [&] { return _bootstrap.send(*this, _group->process(rank), BootstrapHeader::write(_key, head, _words)); });
}

} // namespace patchbay
