// SPDX-License-Identifier: BSD-3-Clause
#include "object/communicator.h"

namespace patchbay {

Communicator::Communicator()
    : Object(ObjectKind::communicator) {}

Communicator::~Communicator() = default;

std::uint64_t Communicator::serial() const noexcept {
    static std::atomic<std::uint64_t> last{0};
    std::uint64_t known = _serial.load(std::memory_order_relaxed);
    if (known == 0) {
        const std::uint64_t taken = last.fetch_add(1, std::memory_order_relaxed) + 1;
        // Where another thread has been first, `known` is what that one has stored.
        known = _serial.compare_exchange_strong(known, taken, std::memory_order_relaxed) ? taken : known;
    }
    return known;
}

std::string Communicator::count_members() const {
    return std::to_string(size) + (view == nullptr ? " processes" : " threads");
}

std::string Communicator::describe() const {
    std::lock_guard lock(mutex);
    return name.empty() ? "communicator " + std::to_string(index) + " of " + count_members() : "communicator " + name;
}

} // namespace patchbay
