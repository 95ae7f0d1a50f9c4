// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/process_state.h"

#include <iterator>
#include <utility>

namespace patchbay {

namespace {
// Behind those that an earlier instance has left.
template <class Message>
void append(std::vector<Message>& kept, std::vector<Message>& messages) {
    kept.insert(kept.end(), std::make_move_iterator(messages.begin()), std::make_move_iterator(messages.end()));
}
} // namespace

ProcessState::ProcessState() noexcept = default;
ProcessState::~ProcessState() = default;

std::uint32_t ProcessState::next_sequence(std::string_view text, std::string_view members, std::uint32_t least) {
    const std::lock_guard lock(_mutex);
    const auto found = _group_ids.find(members);
    const std::uint32_t group_id =
        found != _group_ids.end() ? found->second : _group_ids.emplace(members, _group_ids.size()).first->second;
    return _sequences.next(group_id, text, least);
}

void ProcessState::keep_bootstrap_messages(std::vector<std::vector<std::byte>> messages) {
    const std::lock_guard lock(_mutex);
    append(_bootstrap_messages, messages);
}

std::vector<std::vector<std::byte>> ProcessState::take_bootstrap_messages() {
    const std::lock_guard lock(_mutex);
    return std::exchange(_bootstrap_messages, {});
}

void ProcessState::keep_early_messages(std::vector<pml::EarlyMessage> messages) {
    const std::lock_guard lock(_mutex);
    append(_messages, messages);
}

std::vector<pml::EarlyMessage> ProcessState::take_early_messages() {
    const std::lock_guard lock(_mutex);
    return std::exchange(_messages, {});
}

} // namespace patchbay
