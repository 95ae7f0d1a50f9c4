// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/memory/shared_heap.h"
#include "frameworks/btl/one_sided.h"

#include <cstddef>
#include <utility>

namespace patchbay {
class NodeSegment;
}

namespace patchbay::chan::rdma {

// Zeros that the component allocates and the partner writes: in the memory of the node, where a btl may have it mapped,
// or, where there is no room or no such memory, in this process only.
class ReachableMemory {
public:
    ReachableMemory() = default;
    // Aligned to a cache line. `segment` may be null. Errc::out_of_memory.
    static Result<ReachableMemory> allocate(NodeSegment* segment, std::size_t bytes);
    ReachableMemory(ReachableMemory&& other) noexcept { *this = std::move(other); }
    ReachableMemory& operator=(ReachableMemory&& other) noexcept;
    ~ReachableMemory() { reset(); }

    std::byte* base() const noexcept { return _base; }
    void reset() noexcept;
    // The partner may write there still: memory of the node stays allocated until this process ends.
    void leave_to_partner() noexcept {
        if (_block != 0) {
            _block = 0;
            _base = nullptr;
        }
    }

private:
    NodeSegment* _segment = nullptr;
    SharedAddress _block = 0; // 0: private memory, or none
    std::byte* _base = nullptr;
};

// A range of this process that the partner reaches by a key.
class Registered {
public:
    Registered() = default;
    static Result<Registered> create(btl::OneSided& module, void* base, std::uint64_t bytes) noexcept;
    Registered(Registered&& other) noexcept { *this = std::move(other); }
    Registered& operator=(Registered&& other) noexcept;
    ~Registered() { reset(); }

    const btl::RemoteKey& key() const noexcept { return _key; }
    void reset() noexcept {
        if (btl::OneSided* const module = std::exchange(_module, nullptr)) {
            module->deregister_memory(_key);
        }
    }

private:
    btl::OneSided* _module = nullptr;
    btl::RemoteKey _key;
};

} // namespace patchbay::chan::rdma
