// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/chan/rdma/half.h"

namespace patchbay::chan::rdma {

// The half that receives. The partner puts each message into the program's buffer, or, where the datatype has gaps,
// into staging memory from which it is unpacked when it has arrived; a short one is beside the word of its slot.
class ReceiveHalf final : public Half, private Deferred::Entry {
public:
    // Throws std::bad_alloc. The result is owned by retire().
    static Result<Channel*> make(Context& context, const Binding& binding, Shared::Use shared, const Partner& partner,
        NodeSegment* segment, std::uint64_t inline_limit, Offer& offer);

    int start() noexcept override;
    int connect(std::span<const std::byte> partner_offer) noexcept override;
    int rebind(void* buffer, MPI_Count count) noexcept override;
    void disconnect() noexcept override;
    bool have_all_ended() noexcept override;

private:
    ReceiveHalf(Context& context, const Binding& binding, Shared::Use shared, const Partner& partner,
        std::uint64_t inline_limit) noexcept;
    ~ReceiveHalf() override = default;

    void check() noexcept override;
    int retire() noexcept override;
    bool retry() noexcept override;
    void release_memory() noexcept override;
    void leave_memory() noexcept override { _staging.leave_to_partner(); }

    Status make_landing(NodeSegment* segment);
    // The landing in the buffer as it is bound now.
    Result<Registered> register_buffer(Landing& landing) const noexcept;
    bool is_in_place() const noexcept { return binding().side.type->dense; }
    void give_credit() noexcept;
    btl::StartCode send_credit() noexcept;
    std::uint64_t word_of(const Position& message) const noexcept {
        return reinterpret_cast<const Word*>(slot_memory(message.slot()))->load(std::memory_order_acquire);
    }
    std::byte* slot_memory(std::uint32_t slot) const noexcept { return _control.base() + _slots.place_of(slot); }
    void deliver(std::uint64_t word) noexcept;
    void unpack(const std::byte* from, std::uint64_t size) noexcept;
    void end_oldest() noexcept {
        _oldest.advance();
        complete_oldest();
    }

    const Slots _slots;
    ReachableMemory _staging;
    Registered _registered_landing;
    Landing _landing;
    Position _oldest; // the oldest start that is outstanding
    std::uint64_t _rebound = 0;
    std::atomic<std::uint64_t> _due_credit{0}; // of a synchronous send: starts that the sender does not know of
};

} // namespace patchbay::chan::rdma
