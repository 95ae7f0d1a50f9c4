// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/lobby.h"

#include "core/core.h"
#include "core/progress/waiter.h"
#include "core/runtime/runtime.h"
#include "mpi/instance/communicators.h"
#include "mpi/instance/construction_tags.h"
#include "mpi/instance/error_code.h"
#include "mpi/instance/instance.h"
#include "mpi/instance/keepsakes.h"
#include "mpi/instance/lobby_agreement.h"
#include "mpi/instance/new_communicator.h"

#include <algorithm>
#include <cstring>

namespace patchbay {

namespace {

const Datatype& byte_type() noexcept {
    return *to_object<Datatype>(MPI_BYTE);
}

// In a job of this size.
constexpr std::size_t longest_letter(std::size_t size) noexcept {
    return sizeof(LetterHead) + cid::Agreement::most_words * sizeof(std::uint64_t) + MPI_MAX_STRINGTAG_LEN +
        longest_kind + longest_members(size);
}

} // namespace

Lobby::~Lobby() {
    close();
}

int Lobby::open() noexcept {
    const auto size = int(_instance.runtime().size());
    _longest = longest_letter(std::size_t(size));
    return make_lobby(_instance, Group::range({0, 0}, size, _instance.self()), &_comm);
}

int Lobby::find_board(const Group& group, NoticeBoard** board) noexcept {
    const Runtime& runtime = _instance.runtime();
    DecisionLog& decisions = _instance.core().decisions;
    *board = nullptr;
    for (int rank = 0; rank < group.size(); ++rank) {
        const ProcessId member = group.process(rank);
        if (member.job != _instance.self().job || !runtime.is_local(member.rank)) {
            decisions.record("cid", "meetings", "letters", Outcome::chosen, 0, "members are on several nodes");
            return MPI_SUCCESS;
        }
    }
    std::lock_guard lock(_mutex);
    if (_board == nullptr) {
        auto opened = NoticeBoard::open(*_instance.core().node);
        if (!opened) { // the others may have it, and would wait for us
            return report_cause(opened.error());
        }
        _board = std::move(*opened);
        decisions.record("cid", "meetings", "notice board", Outcome::chosen, 0, "members share the node's memory");
    }
    *board = _board.get();
    return MPI_SUCCESS;
}

int Lobby::enter(LobbyAgreement& visitor) noexcept {
    bool listening = false;
    {
        std::lock_guard lock(_mutex);
        _visitors.push_back(&visitor);
        for (auto& letter : _instance.keepsakes().collect()) {
            _waiting.push_back(std::move(letter));
        }
        std::erase_if(_waiting, [&](const std::vector<std::byte>& letter) {
            LetterView view;
            return LetterView::read(letter, &view) && visitor.offer(letter, view);
        });
        if (!_poller) {
            _poller = _instance.progress().add_poller(&Lobby::poll, this);
        }
        listening = _looking || _listening != nullptr; // whoever looks may change _listening without the lock
        _looking = _looking || !listening;
    }
    if (listening) {
        return MPI_SUCCESS;
    }
    const int code = listen();
    std::lock_guard lock(_mutex);
    _looking = false;
    return code;
}

void Lobby::leave(LobbyAgreement& visitor) noexcept {
    std::lock_guard lock(_mutex);
    _visitors.remove(&visitor);
    for (Outgoing& outgoing : _outgoing) {
        outgoing.sender = outgoing.sender == &visitor ? nullptr : outgoing.sender;
    }
    if (_visitors.empty() && _outgoing.empty()) {
        _poller.reset();
    }
}

int Lobby::send(LobbyAgreement& sender, std::uint32_t job_rank, std::vector<std::byte> letter) noexcept {
    Outgoing outgoing{nullptr, std::move(letter), &sender};
    const int code = _comm->pml->isend(outgoing.bytes.data(), MPI_Count(outgoing.bytes.size()), byte_type(),
        int(job_rank), lobby_tag, pml::SendMode::standard, *_comm, &outgoing.request);
    if (code != MPI_SUCCESS) {
        return code;
    }
    if (outgoing.request->is_complete()) {
        const int sent = outgoing.request->error;
        outgoing.request->recycle();
        return sent;
    }
    std::lock_guard lock(_mutex);
    sender._unsent.fetch_add(1, std::memory_order_relaxed);
    _outgoing.push_back(std::move(outgoing));
    return MPI_SUCCESS;
}

int Lobby::poll(void* context) noexcept {
    return static_cast<Lobby*>(context)->look();
}

// One thread looks at a time; sending a message may poll again.
int Lobby::look() noexcept {
    {
        std::lock_guard lock(_mutex);
        if (_looking) {
            return 0;
        }
        _looking = true;
    }
    int events = 0;
    while (_listening != nullptr && _listening->is_complete()) {
        std::size_t size = status_bytes(_listening->status);
        _listening->recycle();
        _listening = nullptr;
        take_in({_buffer.get(), _buffer.get() + size});
        ++events;
        if (listen() != MPI_SUCCESS) {
            break;
        }
    }
    std::lock_guard lock(_mutex);
    events += reap(); // whoever waits for it may sleep in another thread
    _looking = false;
    if (_visitors.empty() && _outgoing.empty()) {
        _poller.reset();
    }
    return events;
}

int Lobby::listen() noexcept {
    if (_buffer == nullptr) {
        _buffer = std::make_unique_for_overwrite<std::byte[]>(_longest);
    }
    return _comm->pml->irecv(
        _buffer.get(), MPI_Count(_longest), byte_type(), MPI_ANY_SOURCE, lobby_tag, *_comm, &_listening);
}

void Lobby::take_in(std::vector<std::byte> letter) {
    LetterView view;
    if (!LetterView::read(letter, &view)) {
        return;
    }
    std::lock_guard lock(_mutex);
    for (LobbyAgreement* visitor : _visitors) {
        if (visitor->offer(letter, view)) {
            return;
        }
    }
    _waiting.push_back(std::move(letter));
}

int Lobby::reap() noexcept {
    return int(std::erase_if(_outgoing, [](Outgoing& outgoing) {
        if (!outgoing.request->is_complete()) {
            return false;
        }
        outgoing.request->recycle();
        if (outgoing.sender != nullptr) {
            outgoing.sender->_unsent.fetch_sub(1, std::memory_order_release);
        }
        return true;
    }));
}

void Lobby::flush() noexcept {
    wait_until(_instance.progress(), [this] {
        std::lock_guard lock(_mutex);
        return std::ranges::none_of(_outgoing, [](const Outgoing& letter) { return letter.sender == nullptr; });
    });
}

void Lobby::close() noexcept {
    if (_comm == nullptr) {
        return;
    }
    _poller.reset();
    if (_listening != nullptr) {
        _listening->cancel();
        // A long letter may have begun to come; its sender waits for an answer, and so goes on sending.
        wait_until(_instance.progress(), [this] { return _listening->is_complete(); });
        if (!status_cancelled(_listening->status)) {
            _waiting.emplace_back(_buffer.get(), _buffer.get() + status_bytes(_listening->status));
        }
        _listening->recycle();
        _listening = nullptr;
    }
    for (;;) {
        bool found = false;
        Message* message = nullptr;
        MPI_Status status;
        if (_comm->pml->improbe(MPI_ANY_SOURCE, lobby_tag, *_comm, &found, &message, &status) != MPI_SUCCESS ||
            !found) {
            break;
        }
        std::vector<std::byte> letter(status_bytes(status));
        if (_comm->pml->mrecv(letter.data(), MPI_Count(letter.size()), byte_type(), message, nullptr) == MPI_SUCCESS) {
            _waiting.push_back(std::move(letter));
        }
    }
    _instance.keepsakes().leave(std::move(_waiting));
    _waiting.clear();
    reap();
    _comm = nullptr; // goes with the other communicators
}

} // namespace patchbay
