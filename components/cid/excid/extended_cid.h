// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/cid.h"

#include <array>
#include <cstdlib>

namespace patchbay::cid {

// The identifier of a communicator whose index each process has chosen for itself, with the table of the peers' CIDs.
// The table takes no memory before the first CID of a peer has been received.
class ExtendedCid final : public CommunicatorId {
public:
    // `comm` has its index. `active`: the field in which it counts its children.
    ExtendedCid(const Communicator& comm, const ExtendedId& id, int active) noexcept
        : _id(id),
          _derivation(id, active),
          _peers(std::size_t(comm.remote_size)),
          _own_index(comm.index),
          _own_rank(comm.is_inter ? -1 : comm.rank) {}
    ~ExtendedCid() override {
        if (_indices != _few.data()) {
            std::free(_indices);
        }
    }

    std::optional<std::uint16_t> peer_index(int rank) const noexcept override {
        if (rank == _own_rank) {
            return _own_index;
        }
        if (_indices == nullptr || _indices[rank] == unknown) {
            return std::nullopt;
        }
        return std::uint16_t(_indices[rank] - 1);
    }
    // Out of memory is no error: the next extended header makes the peer send its CID again.
    void learned(int rank, std::uint16_t index) noexcept override {
        if (_indices == nullptr) {
            const bool fit = _peers <= _few.size();
            _indices = fit ? _few.data() : static_cast<std::uint32_t*>(std::calloc(_peers, sizeof(std::uint32_t)));
        }
        if (_indices != nullptr) {
            _indices[rank] = index + 1u;
        }
    }
    const ExtendedId* extended_id() const noexcept override { return &_id; }
    Derivation* derivation() noexcept override { return &_derivation; }

private:
    static constexpr std::uint32_t unknown = 0; // others are index + 1

    const ExtendedId _id;
    Derivation _derivation;
    std::size_t _peers;
    std::uint32_t* _indices = nullptr;   // by rank
    std::array<std::uint32_t, 4> _few{}; // they, in a small communicator
    std::uint16_t _own_index;
    int _own_rank;
};

} // namespace patchbay::cid
