// SPDX-License-Identifier: BSD-3-Clause
#include "components/chan/rdma/half.h"

#include "core/base/out_of_memory.h"
#include "object/error_cause.h"

#include <string>

namespace patchbay::chan::rdma {

Shared::Use Shared::use(Context& context, btl::Transports& transports) {
    const std::lock_guard hold(_mutex);
    if (_users == 0) {
        auto deferred = std::make_unique<Deferred>(context.progress());
        // Refused only where another component is the consumer: then the btls are polled as well.
        if (auto polls = transports.add_consumer(btl::ConsumerId::chan, {})) {
            _polls = std::move(*polls);
        }
        _deferred = std::move(deferred);
    }
    ++_users;
    return {*this, *_deferred};
}

void Shared::end_use() noexcept {
    std::unique_ptr<Deferred> ended; // destroyed without the lock, because that waits for a poll, which may call use()
    const std::lock_guard hold(_mutex);
    if (--_users == 0) {
        _polls.reset();
        ended = std::move(_deferred);
    }
}

Half::Half(Context& context, const Binding& binding, Shared::Use shared, const Partner& partner) noexcept
    : Channel(context.progress(), binding),
      _shared(std::move(shared)),
      _partner(partner),
      _buffer(binding.side.buffer),
      _count(binding.side.count) {
    checks_itself = true;
}

Status Half::make_control(NodeSegment* segment, std::uint64_t bytes) {
    auto memory = ReachableMemory::allocate(segment, bytes);
    if (!memory) {
        return memory.error();
    }
    auto registered = Registered::create(_partner.module(), memory->base(), bytes);
    if (!registered) {
        return registered.error();
    }
    _control = std::move(*memory);
    _registered_control = std::move(*registered);
    return {};
}

void Half::fill_offer(Offer& offer) const noexcept {
    std::strncpy(offer.module, _partner.module_name(), sizeof offer.module - 1);
    offer.control = _registered_control.key();
}

int Half::reach(std::span<const std::byte> partner_offer, Offer& offer) noexcept {
    if (partner_offer.size() != sizeof offer) {
        return note_cause(MPI_ERR_INTERN, "chan/rdma: the other side of the channel has sent no offer");
    }
    std::memcpy(&offer, partner_offer.data(), sizeof offer);
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&]() -> int {
        if (std::strncmp(offer.module, _partner.module_name(), sizeof offer.module - 1) != 0) {
            return note_cause(MPI_ERR_OTHER,
                "chan/rdma: the two sides of the channel use btl/" + std::string(offer.module) + " and btl/" +
                    _partner.module_name());
        }
        const std::string refused = _partner.use_control(offer.control);
        return refused.empty() ? MPI_SUCCESS : note_cause(MPI_ERR_OTHER, "chan/rdma: " + refused);
    });
}

std::string_view Half::cause() const noexcept {
    if (error != MPI_ERR_OTHER) {
        return Channel::cause();
    }
    return binding().side.sends ? "the transport could not write to the memory of the other side of the channel"
                                : "the transport of the other side of the channel could not write to the buffer";
}

void Half::disconnect() noexcept {
    if (_connected && !is_unbinding()) {
        _control.leave_to_partner();
        leave_memory();
    }
    _registered_control.reset();
    release_memory();
    _control.reset();
}

} // namespace patchbay::chan::rdma
