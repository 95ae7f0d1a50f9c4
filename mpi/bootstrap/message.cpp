// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/bootstrap/message.h"

#include <cstring>

namespace patchbay {

std::vector<std::byte> BootstrapHeader::write(
    const OperationKey& key, BootstrapHeader head, std::span<const std::uint64_t> words) {
    head.sequence = key.sequence;
    head.members = std::uint32_t(key.members.size());
    head.words = std::uint16_t(words.size());
    head.string_tag = std::uint16_t(key.string_tag.size());
    std::vector<std::byte> message(sizeof head + words.size_bytes() + key.string_tag.size() + key.members.size());
    std::byte* at = message.data();
    const auto append = [&at](const void* what, std::size_t size) {
        if (size > 0) { // the data of an empty span may be a null pointer, which memcpy does not accept
            std::memcpy(at, what, size);
            at += size;
        }
    };
    append(&head, sizeof head);
    append(words.data(), words.size_bytes());
    append(key.string_tag.data(), key.string_tag.size());
    append(key.members.data(), key.members.size());
    return message;
}

bool BootstrapMessage::read(std::span<const std::byte> message, BootstrapMessage* view) noexcept {
    if (message.size() < sizeof(BootstrapHeader)) {
        return false;
    }
    std::memcpy(&view->head, message.data(), sizeof view->head);
    const std::size_t words = view->head.words * sizeof(std::uint64_t);
    if (message.size() != sizeof(BootstrapHeader) + words + view->head.string_tag + view->head.members) {
        return false;
    }
    view->words = message.data() + sizeof(BootstrapHeader);
    view->string_tag = {reinterpret_cast<const char*>(view->words + words), view->head.string_tag};
    view->members = {view->string_tag.data() + view->string_tag.size(), view->head.members};
    return true;
}

std::uint64_t BootstrapMessage::word(std::size_t i) const noexcept {
    std::uint64_t value;
    std::memcpy(&value, words + i * sizeof value, sizeof value);
    return value;
}

} // namespace patchbay
