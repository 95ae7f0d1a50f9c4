// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/cid.h"
#include "mpi/instance/lobby.h"

#include <atomic>
#include <vector>

namespace patchbay {

// Reductions over a group whose members may have no communicator in common: letters in the lobby go up a flat tree to
// the first member and the result comes down. Few rounds matter more than few messages here: with more ranks than cores
// each round costs a change of processes. What the first member alone says (Reduction::first) only goes down.
//
// Members of one node first ask the notice board how this meeting agrees: that is all for Reduction::any, and whoever
// finds that another member agrees by other means (it has chosen another component) refuses.
class LobbyAgreement final : public cid::Agreement {
public:
    // All members of `group` make one of the same topic.
    LobbyAgreement(Lobby& lobby, Ref<Group> group, Topic topic);
    ~LobbyAgreement() override;

    int start(std::span<std::uint64_t> words, Reduction reduction) noexcept override;
    bool ready() const noexcept override;
    bool advance(int* code) noexcept override;
    void withdraw() noexcept override;
    std::string name() const override { return _topic.unique_text(); }

private:
    friend class Lobby;
    static constexpr int fan_out = 16;
    // Of so many meetings about one topic in which only the first member speaks it waits for all others in one, so that
    // letters to slow members do not pile up without end.
    static constexpr std::uint32_t longest_lead = 64;

    // By the lobby, with its lock held. false: the letter is not for us.
    bool offer(std::span<const std::byte> letter, const LetterView& view);

    int parent() const noexcept { return (_rank - 1) / fan_out; }
    int first_child() const noexcept { return _rank * fan_out + 1; }
    int children() const noexcept;
    bool hears_all() const noexcept {
        return _reduction != Reduction::first || _topic.use % longest_lead == longest_lead - 1;
    }
    // Whoever leaves may not call the library for long, and others wait for what it has to say.
    bool finished() const noexcept {
        return !_asks && !_running && _unsent.load(std::memory_order_acquire) == 0 &&
            (!_has_pinned || _board->may_go_on(_pinned));
    }
    std::uint64_t notice_kind() const noexcept { return std::uint64_t(_reduction) << 32 | _words.size(); }
    NoticeBoard::Answer ask(NoticeBoard::Notice& notice) noexcept;
    int ask_board() noexcept;
    int begin_round() noexcept;
    int enter() noexcept;
    int tell_children(LetterHead::Kind kind) noexcept;
    int speak() noexcept;
    void refuse(int except) noexcept;
    void read_letters();
    bool take(const LetterView& view) noexcept;
    void combine(const LetterView& view) noexcept;
    int send_to(int rank, LetterHead::Kind kind) noexcept;
    int pass_result_on() noexcept;

    Lobby& _lobby;
    Ref<Group> _group;
    Topic _topic;
    const std::string _subject; // of notices
    int _rank;
    int _code = MPI_SUCCESS;
    Reduction _reduction{};
    std::span<std::uint64_t> _words;
    NoticeBoard* _board = nullptr; // null: not for these members, or this topic
    std::uint32_t _round = 0;
    int _missing = 0;            // children that have not contributed to this round
    NoticeBoard::Pinned _pinned; // by us
    bool _has_pinned = false;
    bool _begun = false; // others have heard of us, or will
    bool _asks = false;  // the board has had no room yet
    bool _entered = false;
    bool _running = false;
    bool _spoken = false;                       // this round, to the parent or as the first member to everybody
    std::atomic<std::uint32_t> _unsent{0};      // letters that wait for room
    std::atomic<std::uint32_t> _arrived{0};     // letters in the inbox
    std::vector<std::vector<std::byte>> _inbox; // under the lobby's lock
    std::vector<std::vector<std::byte>> _early; // of the next round
};

} // namespace patchbay
