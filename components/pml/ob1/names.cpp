// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/module.h"
#include "frameworks/cid/cid.h"

#include <optional>
#include <utility>

// Communicators whose index differs from process to process. A message to a peer whose index is not known carries the
// communicator's exCID and our index there, so that one message tells the peer all it needs; one answer tells us the
// peer's index, unless a message of its own to us, crossing ours, has told it already or says that it is the same as
// ours. From then on the ordinary match header travels alone.
namespace patchbay::pml::ob1 {

CommState* Ob1::look_up(const cid::ExtendedId& id) noexcept {
    Communicator* comm = _names.directory.find(id);
    if (comm == nullptr || comm->pml_data == nullptr) {
        return nullptr;
    }
    return _last_named = &state_of(*comm);
}

// Sets the index by which `rank` knows the communicator, when it is known.
bool Ob1::find_index(CommState& state, int rank, RankState& target) noexcept {
    std::optional<std::uint16_t> index = state.comm.index;
    if (state.comm.id != nullptr) {
        index = state.comm.id->peer_index(rank);
    }
    if (!index) {
        return false;
    }
    target.index = *index;
    target.match_word = MatchWords::make_first(*index, state.comm.rank);
    return true;
}

void Ob1::learn(CommState& state, int rank, std::uint16_t index) noexcept {
    RankState& target = state.rank(rank);
    if (target.peer != nullptr) {
        return;
    }
    state.comm.id->learned(rank, index);
    target.index = index;
    target.match_word = MatchWords::make_first(index, state.comm.rank);
    target.peer = std::exchange(target.stranger, nullptr);
}

// The first message named by exCID has come: we know its sender's index now, and tell ours unless it has been told.
// Where both are the same, our next message there, which may be the reply, tells it by a flag.
void Ob1::get_acquainted(CommState& state, RankState& sender, Peer& from, const MatchHeader& match) noexcept {
    if (sender.has_our_index) {
        learn(state, match.source, match.index);
        return;
    }
    if (_owed.to != nullptr) [[unlikely]] {
        answer_now();
    }
    state.comm.id->learned(match.source, match.index);
    _owed = {&sender, &state, &from};
    sender.index = match.index;
    sender.match_word = MatchWords::make_first(match.index, state.comm.rank, same_index);
    sender.stranger = from.endpoint == nullptr ? nullptr : &from; // the reply need not look for it
    if (match.index != state.comm.index) {
        answer_now();
    }
}

// No message of ours has told it until now, or none can.
void Ob1::answer_now() noexcept {
    const Owed owed = _owed;
    settle(*owed.to);
    const CommState& state = *owed.state;
    const AnswerHeader answer{PacketType::answer, 0, state.comm.index, state.comm.rank, *state.name};
    send_control(*owed.peer, &answer, sizeof answer, state.session);
}

// Who sends message after message would never look for the answer that makes the next ones cheaper, for both sides.
void Ob1::look_for_answer(Peer& peer) noexcept {
    if (peer.btl->poll() > 0 && _progress.threaded()) {
        _progress.wake(); // what came with it may complete what another thread waits for
    }
}

void Ob1::on_answer(const AnswerHeader& answer) noexcept {
    CommState* state = find_named(answer.id, answer.index);
    if (state == nullptr || !state->prepare() ||
        std::uint32_t(answer.source) >= std::uint32_t(state->comm.remote_size)) {
        return; // the communicator has been freed meanwhile
    }
    _names.counters.answers.add_locked();
    learn(*state, answer.source, answer.index);
}

// The exCID that follows the header.
static const cid::ExtendedId& name_behind(const void* header, PacketType type) noexcept {
    if (type == PacketType::match) [[likely]] {
        return static_cast<const Extended<MatchHeader>*>(header)->id;
    }
    return type == PacketType::rts ? static_cast<const Extended<RtsHeader>*>(header)->id
                                   : static_cast<const Extended<SyncHeader>*>(header)->id;
}

// A message named by exCID: once its communicator is found it is like any other.
void Ob1::on_nameless(Peer& from, const void* header, const std::byte* payload, std::size_t payload_size) noexcept {
    const auto& match = *static_cast<const MatchHeader*>(header);
    const cid::ExtendedId& id = name_behind(header, match.type);
    CommState* state = find_named(id, match.index);
    if (state == nullptr) [[unlikely]] {
        _early_by_name[id].push_back(*store(from, header, payload, payload_size));
        return;
    }
    if (!is_rank_of(*state, match)) {
        return;
    }
    meet(*state, from, match);
    on_message(from, state, header, payload, payload_size);
}

} // namespace patchbay::pml::ob1
