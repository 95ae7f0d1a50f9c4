// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/chan/rdma/deferred.h"
#include "components/chan/rdma/partner.h"
#include "components/chan/rdma/reachable_memory.h"
#include "frameworks/chan/chan.h"
#include "object/convertor.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

namespace patchbay::chan::rdma {

// What all halves of the component share, for as long as there is one.
class Shared {
public:
    class Use {
    public:
        Use() = default;
        Use(Shared& shared, Deferred& deferred) noexcept
            : _shared(&shared),
              _deferred(&deferred) {}
        Use(Use&& other) noexcept
            : _shared(std::exchange(other._shared, nullptr)),
              _deferred(other._deferred) {}
        Use& operator=(Use&&) = delete;
        ~Use() {
            if (_shared != nullptr) {
                _shared->end_use();
            }
        }
        Deferred& deferred() const noexcept { return *_deferred; }

    private:
        Shared* _shared = nullptr;
        Deferred* _deferred = nullptr;
    };

    // Throws std::bad_alloc.
    Use use(Context& context, btl::Transports& transports);

private:
    void end_use() noexcept;

    std::mutex _mutex; // protects what follows
    std::unique_ptr<Deferred> _deferred;
    btl::ConsumerHandle _polls; // the btls are polled, with any pml
    std::size_t _users = 0;
};

// The number of a start of a channel of K slots: slot i of its u-th use. Uses are counted from 1.
class Position {
public:
    explicit Position(std::uint32_t slots) noexcept
        : _slots(slots) {}
    std::uint32_t slot() const noexcept { return _slot; }
    std::uint64_t use() const noexcept { return _use; }
    void advance() noexcept {
        if (++_slot == _slots) {
            _slot = 0;
            ++_use;
        }
    }

private:
    std::uint32_t _slots;
    std::uint32_t _slot = 0;
    std::uint64_t _use = 1;
};

// What both halves of a channel have in common: their control memory, which the partner writes, and the buffer of the
// program with its slots.
class Half : public Channel {
public:
    void disconnect() noexcept override;
    void partner_failed() noexcept override { _partner_failed.store(true, std::memory_order_release); }
    std::string_view cause() const noexcept override;

protected:
    Half(Context& context, const Binding& binding, Shared::Use shared, const Partner& partner) noexcept;
    ~Half() override = default;

    // Allocates and registers. `bytes`: of the control memory.
    Status make_control(NodeSegment* segment, std::uint64_t bytes);
    void fill_offer(Offer& offer) const noexcept;
    // The part of connect() that both have. MPI code.
    int reach(std::span<const std::byte> partner_offer, Offer& offer) noexcept;

    Control& control() const noexcept { return *reinterpret_cast<Control*>(_control.base()); }
    // The stream of the message in that slot of the buffer.
    Convertor message(std::uint32_t slot) const noexcept {
        return {*binding().side.type, _count,
            reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(_buffer) +
                std::uintptr_t(slot) * std::uintptr_t(binding().side.increment_bytes))};
    }
    // A send waits until the receive of its message has been started: each start of the receive gives it a credit.
    bool has_flow_control() const noexcept { return binding().side.synchronous || !binding().side.ready; }
    std::uint64_t bytes() const noexcept { return std::uint64_t(_count) * std::uint64_t(binding().side.type->size); }
    // Local memory that the partner does not use any more is released.
    virtual void release_memory() noexcept = 0;
    // The same where the library goes down and the partner may go on.
    virtual void leave_memory() noexcept = 0;

    const Shared::Use _shared;
    Partner _partner;
    ReachableMemory _control;
    Registered _registered_control;
    void* _buffer; // as bound last
    MPI_Count _count;
    bool _connected = false;
    std::atomic<bool> _partner_failed{false};
};

} // namespace patchbay::chan::rdma
