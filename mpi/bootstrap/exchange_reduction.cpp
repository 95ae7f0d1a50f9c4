// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/bootstrap/exchange_reduction.h"

#include "core/base/out_of_memory.h"
#include "frameworks/cid/reduce_words.h"
#include "object/error_cause.h"

#include <algorithm>

namespace patchbay {

namespace {

// Of entries: whoever finds this one fails as well. Others are of entry_kind().
constexpr std::uint64_t refused = ~std::uint64_t(0);

// Does whoever agrees by such a entry learn all it needs from it, and wait for no message?
bool says_all(const NodeStore::Entry& entry) noexcept {
    return entry.kind == refused || entry.kind >> 32 == std::uint64_t(cid::GroupReduction::Operation::any);
}

constexpr char disagreement[] =
    "the members of a new communicator have chosen different components of framework cid: parameter cid and info key "
    "patchbay_cid must be the same in all of them";
constexpr char refusal[] = "another member of the new communicator has failed; its own error says why";

} // namespace

ExchangeReduction::ExchangeReduction(BootstrapExchange& bootstrap, Ref<Group> group, OperationKey key)
    : _bootstrap(bootstrap),
      _group(std::move(group)),
      _key(std::move(key)),
      _entry_key(_key.bytes()),
      _rank(_group->rank()) {
    if (_group->size() > 1 && _entry_key.size() <= NodeStore::longest_key) {
        _code = _bootstrap.find_store(*_group, &_store);
    }
}

ExchangeReduction::~ExchangeReduction() {
    if (_entered) {
        _bootstrap.leave(*this);
    }
}

int ExchangeReduction::enter() noexcept {
    if (!_entered) {
        _entered = true;
        _code = unless_out_of_memory(MPI_ERR_NO_MEM, [this] { return _bootstrap.enter(*this); });
    }
    return _code;
}

int ExchangeReduction::children() const noexcept {
    return std::clamp(_group->size() - first_child(), 0, fan_out);
}

bool ExchangeReduction::offer(std::span<const std::byte> message, const BootstrapMessage& view) {
    if (!view.has_key(_key)) {
        return false;
    }
    _inbox.emplace_back(message.begin(), message.end());
    _arrived.fetch_add(1, std::memory_order_release);
    return true;
}

// A step of the reduction. Where memory is exhausted nothing comes of this meeting, and the others learn of it.
template <class Step>
int ExchangeReduction::attempt(Step&& step) noexcept {
    const bool done = unless_out_of_memory(false, [&] {
        step();
        return true;
    });
    if (!done) {
        _asks = false;
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
    return attempt([this] { _code = _round == 0 && _store != nullptr ? ask_store() : begin_round(); });
}

NodeStore::Outcome ExchangeReduction::get_or_put(NodeStore::Entry& entry) noexcept {
    const auto answer = _store->get_or_put(_entry_key, std::uint32_t(_group->size()), entry, &_inserted);
    _has_inserted = answer == NodeStore::Outcome::inserted;
    return answer;
}

int ExchangeReduction::ask_store() {
    NodeStore::Entry entry{entry_kind(), _words[0]};
    _asks = get_or_put(entry) == NodeStore::Outcome::full;
    if (_asks) {
        return MPI_SUCCESS;
    }
    if (entry.kind != entry_kind()) {
        if (says_all(entry)) {
            _code = MPI_ERR_OTHER;
        } else {
            refuse(_rank);
        }
        return note_cause(_code, entry.kind == refused ? refusal : disagreement);
    }
    if (_operation == Operation::any) {
        _words[0] = entry.word;
        ++_round;
        return MPI_SUCCESS;
    }
    return begin_round();
}

int ExchangeReduction::begin_round() {
    if (enter() != MPI_SUCCESS) {
        return _code;
    }
    if (_operation == Operation::any) {
        _operation = Operation::first;
        _words[0] = _rank == 0 ? _words[0] : 0;
    }
    _missing = hears_all() ? children() : 0;
    _spoken = _rank > 0 && !hears_all();
    _running = true;
    if (_round == 0 && _operation != Operation::first) {
        _code = tell_children(BootstrapHeader::Kind::question);
    }
    auto early = std::move(_early);
    _early.clear();
    for (const auto& message : early) {
        BootstrapMessage view;
        if (BootstrapMessage::read(message, &view) && !take(view)) {
            _early.push_back(message);
        }
    }
    return _code == MPI_SUCCESS ? speak() : _code;
}

// Once all below have been heard: to the parent, or the result to everybody.
int ExchangeReduction::speak() noexcept {
    if (_running && _missing == 0 && !_spoken) {
        _spoken = true;
        _code = _rank > 0 ? send_to(parent(), BootstrapHeader::Kind::contribution) : pass_result_on();
    }
    return _code;
}

bool ExchangeReduction::ready() const noexcept {
    if (_code != MPI_SUCCESS) {
        return true;
    }
    if (_asks) {
        return _store->has_room(_entry_key);
    }
    return _running ? _arrived.load(std::memory_order_acquire) != 0 : finished();
}

bool ExchangeReduction::advance(int* code) noexcept {
    if (_code == MPI_SUCCESS && _asks) {
        attempt([this] { _code = ask_store(); });
    }
    if (_code == MPI_SUCCESS && _running) {
        attempt([this] { read_messages(); });
    }
    *code = _code == MPI_SUCCESS ? speak() : _code;
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
        if (BootstrapMessage::read(message, &view) && !take(view)) {
            _early.push_back(std::move(message));
        }
    }
}

// false: it is of a later round.
bool ExchangeReduction::take(const BootstrapMessage& view) {
    if (view.head.kind == BootstrapHeader::Kind::refusal) {
        refuse(view.head.sender);
        note_cause(_code, refusal);
        return true;
    }
    if (view.head.round != _round || !_running) {
        return false;
    }
    if (view.head.words != _words.size() || view.head.operation != _operation) {
        refuse(_rank);
        note_cause(_code, disagreement);
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
    _code = pass_result_on();
    return true;
}

// Others may wait for us already, or will.
void ExchangeReduction::withdraw() noexcept {
    if (_begun || _group->size() == 1) {
        return;
    }
    _begun = true;
    NodeStore::Entry entry{refused, 0};
    if (_store != nullptr && get_or_put(entry) != NodeStore::Outcome::full && says_all(entry)) {
        return;
    }
    _code = MPI_SUCCESS;
    refuse(_rank);
}

// Nothing comes of this meeting; all neighbours in the tree but `except` hear of it.
void ExchangeReduction::refuse(int except) noexcept {
    if (_code != MPI_SUCCESS || enter() != MPI_SUCCESS) {
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

// The words are final: everybody below hears of them, and the round is over.
int ExchangeReduction::pass_result_on() noexcept {
    const int code = tell_children(BootstrapHeader::Kind::result);
    ++_round;
    _running = false;
    return code;
}

int ExchangeReduction::tell_children(BootstrapHeader::Kind kind) noexcept {
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
        [&] { return _bootstrap.send(*this, _group->process(rank).rank, BootstrapHeader::write(_key, head, _words)); });
}

} // namespace patchbay
