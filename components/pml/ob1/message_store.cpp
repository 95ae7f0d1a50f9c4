// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/message_store.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace patchbay::pml::ob1 {

MessageStore::~MessageStore() {
    while (_chunks != nullptr) {
        std::free(std::exchange(_chunks, _chunks->next));
    }
}

Unexpected* MessageStore::make(std::size_t payload_size) noexcept {
    const std::size_t bytes = sizeof(Unexpected) + payload_size;
    const auto fitting = std::lower_bound(class_bytes.begin(), class_bytes.end(), bytes);
    const auto size_class = std::uint32_t(fitting - class_bytes.begin());
    if (size_class == no_class) {
        void* memory = std::malloc(bytes);
        if (memory == nullptr) {
            return nullptr;
        }
        auto* message = ::new (memory) Unexpected{};
        message->charge = std::uint32_t(bytes);
        message->size_class = no_class;
        return message;
    }
    if (_free[size_class] == nullptr && !grow(size_class)) {
        return nullptr;
    }
    Unexpected* message = _free[size_class];
    _free[size_class] = message->by_source.next;
    return message;
}

void MessageStore::free(Unexpected* message) noexcept {
    if (message->size_class == no_class) {
        std::free(message);
        return;
    }
    message->by_source.next = _free[message->size_class];
    _free[message->size_class] = message;
}

bool MessageStore::grow(std::uint32_t size_class) noexcept {
    const std::size_t bytes = class_bytes[size_class];
    const std::size_t messages = std::max<std::size_t>(chunk_bytes / bytes, 8);
    constexpr std::size_t head = 32;
    auto* memory = static_cast<std::byte*>(std::malloc(head + messages * bytes));
    if (memory == nullptr) {
        return false;
    }
    _chunks = ::new (memory) Chunk{_chunks};
    for (std::size_t i = messages; i-- > 0;) {
        auto* message = ::new (memory + head + i * bytes) Unexpected{};
        message->charge = std::uint32_t(bytes);
        message->size_class = size_class;
        free(message);
    }
    return true;
}

} // namespace patchbay::pml::ob1
