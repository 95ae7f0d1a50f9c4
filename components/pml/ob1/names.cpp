// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/module.h"
#include "frameworks/cid/cid.h"

#include <cstring>
#include <optional>
#include <utility>

// Communicators whose index differs from process to process. A message to a peer whose index is not known carries the
// communicator's exCID and our index there, so that one message tells the peer all it needs; one answer tells us the
// peer's index, unless a message of its own to us, crossing ours, has told it already. From then on the ordinary match
// header travels alone.
namespace patchbay::pml::ob1 {

// nullptr: there is no such communicator here, not yet or not any more.
CommState* Ob1::find_named(const cid::ExtendedId& id) noexcept {
    // Until its sender has had our answer, message after message names the same one.
    if (_last_named != nullptr && *_last_named->name == id) {
        return _last_named;
    }
    Communicator* comm = _names.directory.find(id);
    if (comm == nullptr || comm->pml_data == nullptr) {
        return nullptr;
    }
    return _last_named = &state_of(*comm);
}

// Sets the index by which `rank` knows the communicator, when it is known.
bool Ob1::find_index(CommState& state, int rank, RankState& target) noexcept {
    std::optional<std::uint16_t> index = state.comm.index;
    if (state.comm.name_service != nullptr) {
        index = state.comm.name_service->peer_index(rank);
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
    state.comm.name_service->learned(rank, index);
    if (target.nameless != nullptr && find_index(state, rank, target)) {
        target.peer = std::exchange(target.nameless, nullptr);
    }
}

// A message named by exCID has come: we know its sender's index now, and tell ours unless it has been told.
void Ob1::meet(CommState& state, Peer& from, const MatchHeader& match) noexcept {
    learn(state, match.source, match.index);
    RankState& sender = state.rank(match.source);
    if (!sender.has_our_index) {
        sender.has_our_index = true;
        const AnswerHeader answer{PacketType::answer, 0, state.comm.index, state.comm.rank, *state.name};
        send_control(from, &answer, sizeof answer);
    }
}

void Ob1::on_answer(const AnswerHeader& answer) noexcept {
    CommState* state = find_named(answer.id);
    if (state == nullptr || !state->prepare() ||
        std::uint32_t(answer.source) >= std::uint32_t(state->comm.remote_size)) {
        return; // the communicator has been freed meanwhile
    }
    _names.counters.answers.add();
    learn(*state, answer.source, answer.index);
}

// A message named by exCID: from here on it is like any other.
void Ob1::on_nameless(Peer& from, const void* header, const std::byte* payload, std::size_t payload_size) noexcept {
    RtsHeader plain{}; // the largest of them
    std::size_t size = sizeof(MatchHeader);
    const PacketType type = static_cast<const MatchHeader*>(header)->type;
    if (type != PacketType::match) {
        size = type == PacketType::rts ? sizeof(RtsHeader) : sizeof(SyncHeader);
    }
    std::memcpy(&plain, header, size);
    cid::ExtendedId id;
    std::memcpy(&id, static_cast<const std::byte*>(header) + size, sizeof id);
    CommState* state = find_named(id);
    if (state == nullptr) {
        _early_by_name[id].push_back(*store(from, &plain, payload, payload_size));
        return;
    }
    if (!is_rank_of(*state, plain.match)) {
        return;
    }
    meet(*state, from, plain.match);
    plain.match.index = state->comm.index;
    plain.match.flags = 0;
    if (type == PacketType::match) {
        on_match(from, plain.match, payload, payload_size);
    } else if (type == PacketType::rts) {
        on_rts(from, plain);
    } else {
        on_sync(from, reinterpret_cast<const SyncHeader&>(plain), payload, payload_size);
    }
}

} // namespace patchbay::pml::ob1
