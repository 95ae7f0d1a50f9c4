// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/lobby_agreement.h"

#include "core/log.h"
#include "mpi/instance/reduce_words.h"

#include <algorithm>

namespace patchbay {

namespace {

// Of notices: whoever finds this one fails as well. Others are of notice_kind().
constexpr std::uint64_t refused = ~std::uint64_t(0);

// Does whoever agrees by such a notice learn all it needs from it, and wait for no letter?
bool says_all(const NoticeBoard::Notice& notice) noexcept {
    return notice.kind == refused || notice.kind >> 32 == std::uint64_t(cid::Agreement::Reduction::any);
}

constexpr char disagreement[] =
    "the members of a new communicator have chosen different components of framework cid: parameter cid and info key "
    "patchbay_cid must be the same in all of them";

} // namespace

LobbyAgreement::LobbyAgreement(Lobby& lobby, Ref<Group> group, Topic topic)
    : _lobby(lobby),
      _group(std::move(group)),
      _topic(std::move(topic)),
      _subject(_topic.bytes()),
      _rank(_group->rank()) {
    if (_group->size() > 1 && _subject.size() <= NoticeBoard::longest_subject) {
        _code = _lobby.find_board(*_group, &_board);
    }
}

LobbyAgreement::~LobbyAgreement() {
    if (_entered) {
        _lobby.leave(*this);
    }
}

int LobbyAgreement::enter() noexcept {
    if (!_entered) {
        _entered = true;
        _code = _lobby.enter(*this);
    }
    return _code;
}

int LobbyAgreement::children() const noexcept {
    return std::clamp(_group->size() - first_child(), 0, fan_out);
}

bool LobbyAgreement::offer(std::span<const std::byte> letter, const LetterView& view) {
    if (!view.is_about(_topic)) {
        return false;
    }
    _inbox.emplace_back(letter.begin(), letter.end());
    _arrived.fetch_add(1, std::memory_order_release);
    return true;
}

int LobbyAgreement::start(std::span<std::uint64_t> words, Reduction reduction) noexcept {
    if (_code != MPI_SUCCESS) {
        return _code;
    }
    _words = words;
    _reduction = reduction;
    if (_group->size() == 1) {
        return MPI_SUCCESS;
    }
    _begun = true;
    return _round == 0 && _board != nullptr ? ask_board() : begin_round();
}

NoticeBoard::Answer LobbyAgreement::ask(NoticeBoard::Notice& notice) noexcept {
    const auto answer = _board->ask(_subject, std::uint32_t(_group->size()), notice, &_pinned);
    _has_pinned = answer == NoticeBoard::Answer::pinned;
    return answer;
}

int LobbyAgreement::ask_board() noexcept {
    NoticeBoard::Notice notice{notice_kind(), _words[0]};
    _asks = ask(notice) == NoticeBoard::Answer::full;
    if (_asks) {
        return MPI_SUCCESS;
    }
    if (notice.kind != notice_kind()) {
        log_error(notice.kind == refused
                ? "a member of a new communicator has failed before it was made; see its own message"
                : disagreement);
        if (says_all(notice)) {
            _code = MPI_ERR_OTHER;
        } else {
            refuse(_rank);
        }
        return _code;
    }
    if (_reduction == Reduction::any) {
        _words[0] = notice.word;
        ++_round;
        return MPI_SUCCESS;
    }
    return begin_round();
}

int LobbyAgreement::begin_round() noexcept {
    if (enter() != MPI_SUCCESS) {
        return _code;
    }
    if (_reduction == Reduction::any) {
        _reduction = Reduction::first;
        _words[0] = _rank == 0 ? _words[0] : 0;
    }
    _missing = hears_all() ? children() : 0;
    _spoken = _rank > 0 && !hears_all();
    _running = true;
    if (_round == 0 && _reduction != Reduction::first) {
        _code = tell_children(LetterHead::Kind::question);
    }
    auto early = std::move(_early);
    _early.clear();
    for (const auto& letter : early) {
        LetterView view;
        if (LetterView::read(letter, &view) && !take(view)) {
            _early.push_back(letter);
        }
    }
    return _code == MPI_SUCCESS ? speak() : _code;
}

// Once all below have been heard: to the parent, or the result to everybody.
int LobbyAgreement::speak() noexcept {
    if (_running && _missing == 0 && !_spoken) {
        _spoken = true;
        _code = _rank > 0 ? send_to(parent(), LetterHead::Kind::contribution) : pass_result_on();
    }
    return _code;
}

bool LobbyAgreement::ready() const noexcept {
    if (_code != MPI_SUCCESS) {
        return true;
    }
    if (_asks) {
        return _board->can_answer(_subject);
    }
    return _running ? _arrived.load(std::memory_order_acquire) != 0 : finished();
}

bool LobbyAgreement::advance(int* code) noexcept {
    if (_code == MPI_SUCCESS && _asks) {
        _code = ask_board();
    }
    if (_code == MPI_SUCCESS && _running) {
        read_letters();
    }
    *code = _code == MPI_SUCCESS ? speak() : _code;
    return finished() || *code != MPI_SUCCESS;
}

void LobbyAgreement::read_letters() {
    std::vector<std::vector<std::byte>> letters;
    {
        std::lock_guard lock(_lobby._mutex);
        letters.swap(_inbox);
        _arrived.store(0, std::memory_order_relaxed);
    }
    for (auto& letter : letters) {
        LetterView view;
        if (LetterView::read(letter, &view) && !take(view)) {
            _early.push_back(std::move(letter));
        }
    }
}

// false: it is of a later round.
bool LobbyAgreement::take(const LetterView& view) noexcept {
    if (view.head.kind == LetterHead::Kind::refusal) {
        refuse(view.head.sender);
        return true;
    }
    if (view.head.round != _round || !_running) {
        return false;
    }
    if (view.head.words != _words.size() || view.head.reduction != _reduction) {
        log_error(disagreement);
        refuse(_rank);
        return true;
    }
    if (view.head.kind == LetterHead::Kind::question) {
        return true;
    }
    if (view.head.kind == LetterHead::Kind::contribution) {
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
void LobbyAgreement::withdraw() noexcept {
    if (_begun || _group->size() == 1) {
        return;
    }
    _begun = true;
    NoticeBoard::Notice notice{refused, 0};
    if (_board != nullptr && ask(notice) != NoticeBoard::Answer::full && says_all(notice)) {
        return;
    }
    _code = MPI_SUCCESS;
    refuse(_rank);
}

// Nothing comes of this meeting; all neighbours in the tree but `except` hear of it.
void LobbyAgreement::refuse(int except) noexcept {
    if (_code != MPI_SUCCESS || enter() != MPI_SUCCESS) {
        return;
    }
    _code = MPI_ERR_OTHER;
    if (_rank > 0 && parent() != except) {
        send_to(parent(), LetterHead::Kind::refusal);
    }
    for (int i = 0; i < children(); ++i) {
        if (first_child() + i != except) {
            send_to(first_child() + i, LetterHead::Kind::refusal);
        }
    }
}

void LobbyAgreement::combine(const LetterView& view) noexcept {
    for (std::size_t i = 0; i < _words.size(); ++i) {
        reduce_word(_words[i], view.word(i), _reduction);
    }
}

// The words are final: everybody below hears of them, and the round is over.
int LobbyAgreement::pass_result_on() noexcept {
    const int code = tell_children(LetterHead::Kind::result);
    ++_round;
    _running = false;
    return code;
}

int LobbyAgreement::tell_children(LetterHead::Kind kind) noexcept {
    int code = MPI_SUCCESS;
    for (int i = 0; i < children() && code == MPI_SUCCESS; ++i) {
        code = send_to(first_child() + i, kind);
    }
    return code;
}

int LobbyAgreement::send_to(int rank, LetterHead::Kind kind) noexcept {
    LetterHead head{};
    head.sender = _rank;
    head.round = _round;
    head.kind = kind;
    head.reduction = _reduction;
    return _lobby.send(*this, _group->process(rank).rank, LetterHead::write(_topic, head, _words));
}

} // namespace patchbay
