// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/chan/sm/shared.h"
#include "core/memory/shared_heap.h"
#include "frameworks/btl/one_sided.h"

#include <atomic>
#include <span>
#include <sys/uio.h>

namespace patchbay::chan::sm {

// How a sender writes a message to the buffer of a receive that has been posted: by stores where both processes have
// its memory mapped, otherwise by a put of a btl (on the same node: one copy by the kernel).
class DirectWay : private btl::Completion {
public:
    explicit DirectWay(SharedHeap& heap) noexcept
        : Completion{[](btl::Completion& self, int error) noexcept {
              static_cast<DirectWay&>(self)._put.store(error == 0 ? PutState::done : PutState::failed,
                  std::memory_order_release);
          }},
          _heap(heap) {}
    DirectWay(const DirectWay&) = delete;
    DirectWay& operator=(const DirectWay&) = delete;

    // The memory of the partner by a key of its whole address space; without this only mapped memory is written.
    void use_put(btl::OneSided& module, btl::Endpoint& endpoint, const btl::RemoteKey& key) noexcept {
        _module = &module;
        _endpoint = &endpoint;
        _key = key;
    }

    // The receiver is this process, too: its buffers are where it says.
    void set_own_process() noexcept { _own_process = true; }

    // Where this process has the buffer mapped; nullptr: it has not.
    std::byte* mapped(const Posted& posted) noexcept {
        if (_own_process) {
            return reinterpret_cast<std::byte*>(posted.address);
        }
        return posted.shared == 0 ? nullptr : _heap.at(posted.shared);
    }
    bool can_put(const Posted& posted) const noexcept { return _module != nullptr && posted.address != 0; }

    enum class Outcome : std::uint8_t { done, pending, refused };
    // Puts these bytes to the beginning of the buffer. `pending`: call continue_put() until it is not. `refused`: no
    // put will do it any more.
    Outcome put(const Posted& posted, std::span<const iovec> local, std::uint64_t bytes) noexcept {
        const btl::RemotePiece there{posted.address, bytes};
        _put.store(PutState::under_way, std::memory_order_relaxed);
        const btl::Started started =
            _module->put(*_endpoint, local, _key, std::span(&there, 1), btl::Wake::nobody, this);
        switch (started.code) {
        case btl::StartCode::done:
            std::atomic_thread_fence(std::memory_order_release);
            return Outcome::done;
        case btl::StartCode::pending:
            return Outcome::pending;
        case btl::StartCode::full:
        case btl::StartCode::failed:
            break;
        }
        _module = nullptr;
        return Outcome::refused;
    }
    Outcome continue_put() noexcept {
        switch (_put.load(std::memory_order_acquire)) {
        case PutState::under_way:
            return Outcome::pending;
        case PutState::done:
            return Outcome::done;
        case PutState::failed:
            break;
        }
        _module = nullptr;
        return Outcome::refused;
    }

private:
    enum class PutState : std::uint8_t { under_way, done, failed };

    SharedHeap& _heap;
    bool _own_process = false;
    btl::OneSided* _module = nullptr;
    btl::Endpoint* _endpoint = nullptr;
    btl::RemoteKey _key;
    std::atomic<PutState> _put{PutState::done};
};

} // namespace patchbay::chan::sm
