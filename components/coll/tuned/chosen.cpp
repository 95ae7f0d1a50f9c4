// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/tuned/chosen.h"

#include <new>

namespace patchbay::coll::tuned {

void ChosenAlgorithms::open(ToolRegistry& registry) {
    registry.add(*this);
    _registry = &registry;
}

void ChosenAlgorithms::close() noexcept {
    if (_registry != nullptr) {
        _registry->remove(*this);
        _registry = nullptr;
    }
}

std::optional<std::uint64_t> ChosenAlgorithms::read(std::size_t, const void* object, std::size_t element) noexcept {
    const std::lock_guard lock(_mutex);
    const auto found = _numbers.find(static_cast<const Communicator*>(object));
    return found == _numbers.end() ? std::uint64_t(0) : found->second[element];
}

void ChosenAlgorithms::count(std::size_t, bool on) noexcept {
    const std::lock_guard lock(_mutex);
    _numbers.clear();
    _kept.store(on, std::memory_order_relaxed);
}

void ChosenAlgorithms::keep(const Communicator& comm, Function function, Algorithm algorithm) noexcept {
    const std::lock_guard lock(_mutex);
    try {
        // The states begin with one for "no call".
        _numbers[&comm][std::size_t(function)] = std::uint8_t(1 + std::size_t(algorithm));
    } catch (const std::bad_alloc&) {
        // The variable then shows an earlier call, or none.
    }
}

} // namespace patchbay::coll::tuned
