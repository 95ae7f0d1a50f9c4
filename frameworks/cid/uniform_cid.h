// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/cid.h"

namespace patchbay::cid {

// The identifier of a communicator that has the same index in every process.
class UniformCid final : public CommunicatorId {
public:
    explicit UniformCid(std::uint16_t index) noexcept
        : _index(index) {}
    // Of a predefined communicator, which also has an exCID that its children derive theirs from.
    UniformCid(std::uint16_t index, ExtendedId id, int active, std::uint32_t last) noexcept
        : _index(index) {
        _derivation.emplace(id, active, last);
    }
    std::optional<std::uint16_t> peer_index(int) const noexcept override { return _index; }
    void learned(int, std::uint16_t) noexcept override {}
    Derivation* derivation() noexcept override { return _derivation ? &*_derivation : nullptr; }

private:
    std::uint16_t _index;
    std::optional<Derivation> _derivation;
};

} // namespace patchbay::cid
