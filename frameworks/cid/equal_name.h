// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/cid.h"

namespace patchbay::cid {

// The name of a communicator that has the same index in every process.
class EqualName final : public Name {
public:
    explicit EqualName(std::uint16_t index) noexcept : _index(index) {}
    std::optional<std::uint16_t> peer_index(int) const noexcept override { return _index; }
    void learned(int, std::uint16_t) noexcept override {}

private:
    std::uint16_t _index;
};

} // namespace patchbay::cid
