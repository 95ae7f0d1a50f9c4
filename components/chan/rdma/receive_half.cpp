// SPDX-License-Identifier: BSD-3-Clause
#include "components/chan/rdma/receive_half.h"

#include "components/common/short_copy.h"
#include "object/error_cause.h"
#include "object/status.h"

#include <algorithm>
#include <cstddef>

namespace patchbay::chan::rdma {

ReceiveHalf::ReceiveHalf(Context& context, const Binding& binding, Shared::Use shared, const Partner& partner,
    std::uint64_t inline_limit) noexcept
    : Half(context, binding, std::move(shared), partner),
      _slots(binding.side.slackness, binding.bytes, inline_limit),
      _oldest(binding.side.slackness) {}

Result<Channel*> ReceiveHalf::make(Context& context, const Binding& binding, Shared::Use shared, const Partner& partner,
    NodeSegment* segment, std::uint64_t inline_limit, Offer& offer) {
    auto* const half = new ReceiveHalf(context, binding, std::move(shared), partner, inline_limit);
    Status made = half->make_control(segment, half->_slots.bytes());
    if (made) {
        made = half->make_landing(segment);
    }
    if (!made) {
        half->retire();
        return made.error();
    }
    half->fill_offer(offer);
    offer.landing = half->_landing;
    offer.inline_limit = inline_limit;
    return half;
}

Status ReceiveHalf::make_landing(NodeSegment* segment) {
    if (is_in_place()) {
        auto registered = register_buffer(_landing);
        if (!registered) {
            return registered.error();
        }
        _registered_landing = std::move(*registered);
        return {};
    }
    const std::uint64_t each = (binding().bytes + 63) / 64 * 64;
    const std::uint64_t all = each * binding().side.slackness;
    auto memory = ReachableMemory::allocate(segment, std::max<std::uint64_t>(all, 64));
    if (!memory) {
        return memory.error();
    }
    auto registered = Registered::create(_partner.module(), memory->base(), all);
    if (!registered) {
        return registered.error();
    }
    _staging = std::move(*memory);
    _registered_landing = std::move(*registered);
    _landing = {_registered_landing.key(), 0, each, binding().bytes};
    return {};
}

Result<Registered> ReceiveHalf::register_buffer(Landing& landing) const noexcept {
    const MPI_Aint last = binding().side.increment_bytes * MPI_Aint(binding().side.slackness - 1);
    const MPI_Aint below = std::min<MPI_Aint>(last, 0);
    const std::uint64_t span = std::uint64_t(std::max<MPI_Aint>(last, 0) - below) + bytes();
    std::byte* const first = message(0).contiguous();
    auto registered = Registered::create(_partner.module(),
        reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(first) + std::uintptr_t(below)),
        bytes() == 0 ? 0 : span);
    if (registered) {
        landing = {registered->key(), std::uint64_t(-below), std::uint64_t(binding().side.increment_bytes), bytes()};
    }
    return registered;
}

int ReceiveHalf::connect(std::span<const std::byte> partner_offer) noexcept {
    Offer offer;
    const int code = reach(partner_offer, offer);
    _connected = code == MPI_SUCCESS;
    return code;
}

int ReceiveHalf::start() noexcept {
    if (has_flow_control()) {
        give_credit();
    }
    add_start(false);
    return MPI_SUCCESS;
}

void ReceiveHalf::give_credit() noexcept {
    _due_credit.fetch_add(1, std::memory_order_relaxed);
    if (send_credit() == btl::StartCode::full) [[unlikely]] {
        _shared.deferred().add(*this);
    }
}

// All that is due. A poll may do the same at once.
btl::StartCode ReceiveHalf::send_credit() noexcept {
    const std::uint64_t due = _due_credit.exchange(0, std::memory_order_relaxed);
    if (due == 0) {
        return btl::StartCode::done;
    }
    const btl::StartCode code = _partner.add_to_word(offsetof(Control, credit), due).code;
    if (code == btl::StartCode::full) {
        _due_credit.fetch_add(due, std::memory_order_relaxed);
    } else if (code == btl::StartCode::failed) {
        partner_failed();
    }
    return code;
}

bool ReceiveHalf::retry() noexcept {
    return send_credit() == btl::StartCode::full;
}

void ReceiveHalf::check() noexcept {
    // The order matters: what the partner has sent before it failed is delivered.
    const bool failed = _partner_failed.load(std::memory_order_acquire);
    const std::uint64_t word = word_of(_oldest);
    if (Arrival::has_arrived(word, _oldest.use())) [[likely]] {
        deliver(word);
        end_oldest();
    } else if (failed) {
        error = MPI_ERR_PROC_ABORTED;
        set_status_bytes(status, 0);
        end_oldest();
    }
}

bool ReceiveHalf::have_all_ended() noexcept {
    const bool failed = _partner_failed.load(std::memory_order_acquire);
    Position message = _oldest;
    for (std::uint32_t left = outstanding(); left > 1; --left) {
        if (!Arrival::has_arrived(word_of(message), message.use())) {
            return failed;
        }
        message.advance();
    }
    return true;
}

void ReceiveHalf::deliver(std::uint64_t word) noexcept {
    if ((word & Arrival::is_lost) == Arrival::is_lost) [[unlikely]] {
        error = MPI_ERR_OTHER;
        set_status_bytes(status, 0);
        return;
    }
    const std::uint64_t size = word >> Arrival::size_shift;
    const bool fits = (word & Arrival::is_too_long) == 0 && size <= bytes();
    const std::uint64_t received = std::min(size, bytes());
    if ((word & Arrival::is_inline) != 0) {
        unpack(slot_memory(_oldest.slot()) + sizeof(Word), received);
    } else if ((word & Arrival::is_too_long) == 0 && !is_in_place()) {
        unpack(_staging.base() + _landing.place_of(_oldest.slot()), received);
    }
    error = fits ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
    set_status_bytes(status, received);
}

void ReceiveHalf::unpack(const std::byte* from, std::uint64_t size) noexcept {
    Convertor to = message(_oldest.slot());
    if (std::byte* const contiguous = to.contiguous()) {
        common::copy_any(contiguous, from, size);
    } else {
        to.unpack(from, size);
    }
}

// The partner puts into the buffer itself, and so has to know about another one before this side is started again.
int ReceiveHalf::rebind(void* buffer, MPI_Count count) noexcept {
    void* const old_buffer = std::exchange(_buffer, buffer);
    const MPI_Count old_count = std::exchange(_count, count);
    if (!is_in_place()) {
        return MPI_SUCCESS;
    }
    Landing landing;
    auto registered = register_buffer(landing);
    int error_number = 0;
    if (registered) {
        error_number = _partner.write_control(*progress, offsetof(Control, landing), &landing, sizeof landing);
        if (error_number == 0) {
            error_number = _partner.write_word(*progress, offsetof(Control, landing_version), ++_rebound);
        }
    }
    if (!registered || error_number != 0) {
        _buffer = old_buffer;
        _count = old_count;
        return registered ? note_cause(code_of(error_number), "the other side of the channel cannot be reached")
                          : note_cause(MPI_ERR_OTHER, registered.error().text);
    }
    _registered_landing = std::move(*registered);
    _landing = landing;
    return MPI_SUCCESS;
}

void ReceiveHalf::disconnect() noexcept {
    _shared.deferred().remove(*this);
    Half::disconnect();
}

void ReceiveHalf::release_memory() noexcept {
    _registered_landing.reset();
    _staging.reset();
}

int ReceiveHalf::retire() noexcept {
    delete this;
    return MPI_SUCCESS;
}

} // namespace patchbay::chan::rdma
