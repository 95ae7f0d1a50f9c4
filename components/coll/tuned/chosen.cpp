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
    const auto* comm = static_cast<const Communicator*>(object);
    const auto found = _last.find(comm);
    return found == _last.end() || found->second.serial != comm->serial() ? std::uint64_t(0)
                                                                          : found->second.numbers[element];
}

void ChosenAlgorithms::count(std::size_t, bool on) noexcept {
    const std::lock_guard lock(_mutex);
    _last.clear();
    _kept.store(on, std::memory_order_relaxed);
}

StartNote ChosenAlgorithms::start_note(const Communicator& comm, Function function, Algorithm algorithm) noexcept {
    const auto note = [](void* self, const Communicator& of, std::uint32_t what) noexcept {
        static_cast<ChosenAlgorithms*>(self)->keep(of, Function(what >> 16), Algorithm(what & 0xffff));
    };
    return {&_kept, note, this, &comm, std::uint32_t(function) << 16 | std::uint32_t(algorithm)};
}

void ChosenAlgorithms::keep(const Communicator& comm, Function function, Algorithm algorithm) noexcept {
    const std::lock_guard lock(_mutex);
    try {
        Kept& kept = _last.try_emplace(&comm, Kept{comm.serial(), {}}).first->second;
        if (kept.serial != comm.serial()) {
            kept = {comm.serial(), {}};
        }
        // The states begin with one for "no call".
        kept.numbers[std::size_t(function)] = std::uint8_t(1 + std::size_t(algorithm));
    } catch (const std::bad_alloc&) {
        // The variable then shows an earlier call, or none.
    }
}

} // namespace patchbay::coll::tuned
