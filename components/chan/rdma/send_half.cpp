// SPDX-License-Identifier: BSD-3-Clause
#include "components/chan/rdma/send_half.h"

#include "components/common/short_copy.h"
#include "core/base/out_of_memory.h"
#include "object/error_cause.h"

#include <cstddef>
#include <new>

namespace patchbay::chan::rdma {

namespace {
// What fits beside its word takes no line of its own, so that it is never put.
constexpr std::uint64_t always_inline = 64 - sizeof(Word);

void pack_into(std::byte* to, Convertor from) noexcept {
    if (const std::byte* const contiguous = from.contiguous()) {
        common::copy_any(to, contiguous, from.total());
    } else {
        from.pack(to, from.total());
    }
}
} // namespace

SendHalf::SendHalf(Context& context, const Binding& binding, Shared::Use shared, const Partner& partner)
    : Half(context, binding, std::move(shared), partner),
      _lock(context.progress().threads()),
      _slot(binding.side.slackness),
      _lost(std::make_unique<int[]>(binding.side.slackness)) {
    _end.half = this;
    _end.done = &operation_ended;
}

Result<Channel*> SendHalf::make(Context& context, const Binding& binding, Shared::Use shared, const Partner& partner,
    NodeSegment* segment, Offer& offer) {
    auto* const half = new SendHalf(context, binding, std::move(shared), partner);
    if (Status made = half->make_control(segment, sizeof(Control)); !made) {
        half->retire();
        return made.error();
    }
    half->fill_offer(offer);
    return half;
}

int SendHalf::connect(std::span<const std::byte> partner_offer) noexcept {
    Offer offer;
    if (const int code = reach(partner_offer, offer); code != MPI_SUCCESS) {
        return code;
    }
    _slots = Slots(binding().side.slackness, binding().bytes, offer.inline_limit);
    const bool all_inline = _partner.mapped_control() != nullptr && binding().bytes <= _slots.room();
    const int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&]() -> int {
        const std::string refused = _partner.use_landing(offer.landing);
        return refused.empty() || binding().bytes == 0 || all_inline
            ? MPI_SUCCESS
            : note_cause(MPI_ERR_OTHER, "chan/rdma: " + refused);
    });
    if (code != MPI_SUCCESS || !packs()) {
        return code == MPI_SUCCESS ? note_cause(MPI_ERR_NO_MEM, "chan/rdma: no memory to pack a message") : code;
    }
    _connected = true;
    return MPI_SUCCESS;
}

// Whether there is memory to pack a message into, if it has to be.
bool SendHalf::packs() noexcept {
    if (binding().side.type->dense || _partner.mapped_landing() != nullptr || _packed != nullptr) {
        return true;
    }
    _packed.reset(new (std::nothrow) std::byte[binding().bytes]);
    return _packed != nullptr;
}

int SendHalf::start() noexcept {
    if (_started % starts_per_poll == starts_per_poll - 1) [[unlikely]] {
        progress->poll();
    }
    bool all_sent;
    {
        const std::lock_guard hold(_lock);
        ++_started;
        if (_partner_failed.load(std::memory_order_relaxed)) [[unlikely]] {
            fail(ESRCH);
        }
        all_sent = send_queued();
    }
    if (!all_sent) [[unlikely]] {
        _shared.deferred().add(*this);
    }
    const bool done = !is_active() && _sent.load(std::memory_order_acquire) > _ended;
    if (done) [[likely]] {
        show_oldest();
    }
    add_start(done);
    return MPI_SUCCESS;
}

void SendHalf::check() noexcept {
    if (_sent.load(std::memory_order_acquire) == _ended) {
        if (!_partner_failed.load(std::memory_order_relaxed)) [[likely]] {
            return;
        }
        const std::lock_guard hold(_lock);
        if (_waiting) { // the transport reports the failure
            return;
        }
        fail(ESRCH);
    }
    show_oldest();
    complete_oldest();
}

bool SendHalf::have_all_ended() noexcept {
    const std::lock_guard hold(_lock);
    return _sent.load(std::memory_order_relaxed) == _started || _partner_failed.load(std::memory_order_relaxed);
}

// In a poll.
bool SendHalf::retry() noexcept {
    const std::lock_guard hold(_lock);
    const std::uint64_t before = _sent.load(std::memory_order_relaxed);
    const bool all_sent = send_queued();
    if (_sent.load(std::memory_order_relaxed) != before && progress->threaded()) {
        progress->wake();
    }
    return !all_sent;
}

// In a poll of the btl. The start stays in the list of those that are deferred until the next one.
void SendHalf::operation_ended(btl::Completion& end, int error_number) noexcept {
    SendHalf& half = *static_cast<End&>(end).half;
    const std::lock_guard hold(half._lock);
    half._waiting = false;
    if (error_number != 0) {
        half.lose(error_number);
    } else {
        half._step = half._next;
    }
    half.send_queued();
    if (half.progress->threaded()) {
        half.progress->wake();
    }
}

// true: all starts are complete.
bool SendHalf::send_queued() noexcept {
    while (_sent.load(std::memory_order_relaxed) != _started) {
        if (_waiting) {
            return false;
        }
        bool goes_on = false;
        switch (_step) {
        case Step::payload:
            goes_on = (!has_flow_control() || has_credit()) && send_payload();
            break;
        case Step::order:
            goes_on = take(_partner.flush(&_end), Step::word);
            break;
        case Step::word:
            goes_on = send_word();
            break;
        }
        if (!goes_on) {
            return false;
        }
    }
    return true;
}

bool SendHalf::send_payload() noexcept {
    const std::uint64_t size = bytes();
    _flags = 0;
    _step = Step::word;
    if (size == 0) {
        return true;
    }
    std::byte* const control = _partner.mapped_control();
    if (control != nullptr && size <= always_inline) [[likely]] {
        _flags = Arrival::is_inline;
        pack_into(control + _slots.place_of(_slot.slot()) + sizeof(Word), message(_slot.slot()));
        return true;
    }
    if (!refresh_landing()) {
        return true; // the word says so
    }
    if (control != nullptr && _partner.mapped_landing() == nullptr && size <= _slots.room()) {
        _flags = Arrival::is_inline;
        pack_into(control + _slots.place_of(_slot.slot()) + sizeof(Word), message(_slot.slot()));
        return true;
    }
    if (size > _partner.landing().capacity) {
        _flags = Arrival::is_too_long;
        return true;
    }
    return put(size);
}

bool SendHalf::put(std::uint64_t size) noexcept {
    Convertor from = message(_slot.slot());
    const std::uint64_t place = _partner.landing().place_of(_slot.slot());
    const std::byte* source = from.contiguous();
    if (source == nullptr) {
        if (std::byte* const mapped = _partner.mapped_landing()) {
            from.pack(mapped + place, size);
            return true;
        }
        from.pack(_packed.get(), size);
        source = _packed.get();
    }
    _step = Step::payload;
    return take(_partner.put(source, size, place, &_end), Step::order);
}

bool SendHalf::send_word() noexcept {
    const std::uint64_t word = Arrival::make(_slot.use(), bytes(), _flags);
    const btl::Started started = _partner.set_word(_slots.place_of(_slot.slot()), word, nullptr);
    if (started.code == btl::StartCode::full) {
        return false;
    }
    if (started.code == btl::StartCode::failed) {
        fail(started.error);
        return true;
    }
    // Pending: the transport has the word, and the message does not need this process any more.
    _slot.advance();
    _step = Step::payload;
    _sent.store(_sent.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    return true;
}

// true: go on.
bool SendHalf::take(const btl::Started& started, Step next) noexcept {
    switch (started.code) {
    case btl::StartCode::done:
        _step = next;
        return true;
    case btl::StartCode::pending:
        _waiting = true;
        _next = next;
        return false;
    case btl::StartCode::full:
        return false;
    case btl::StartCode::failed:
        lose(started.error);
        return true;
    }
    return false;
}

// The message of the start whose turn it is cannot be put, because the memory of the receive cannot be written: the
// start fails on both sides, which the word tells the other one. Later starts are as usual.
void SendHalf::lose(int error_number) noexcept {
    if (error_number == ESRCH) {
        fail(error_number);
        return;
    }
    _lost[_slot.slot()] = code_of(error_number);
    _any_lost.store(true, std::memory_order_relaxed);
    _flags = Arrival::is_lost;
    _step = Step::word;
}

// The other side cannot be reached any more.
void SendHalf::fail(int error_number) noexcept {
    if (_failure == MPI_SUCCESS) {
        _failure = code_of(error_number);
        _failed_from = _sent.load(std::memory_order_relaxed);
    }
    _step = Step::payload;
    _sent.store(_started, std::memory_order_release);
}

// The receive may have been bound to another buffer. false: that cannot be reached, and the message is lost.
bool SendHalf::refresh_landing() noexcept {
    const std::uint64_t version = control().landing_version.load(std::memory_order_acquire);
    if (version == _landing_version && _landing_is_usable) [[likely]] {
        return true;
    }
    if (version != _landing_version) {
        _landing_is_usable =
            unless_out_of_memory(false, [&] { return _partner.use_landing(control().landing).empty(); });
        _landing_version = version;
    }
    if ((_landing_is_usable || bytes() <= _slots.room()) && packs()) {
        return true;
    }
    lose(EPERM);
    return false;
}

int SendHalf::rebind(void* buffer, MPI_Count count) noexcept {
    _buffer = buffer;
    _count = count;
    return MPI_SUCCESS;
}

void SendHalf::disconnect() noexcept {
    _shared.deferred().remove(*this);
    {
        const std::lock_guard hold(_lock);
        _unfinished_at_end = _waiting;
    }
    Half::disconnect();
}

void SendHalf::release_memory() noexcept {
    if (!_unfinished_at_end) {
        _packed.reset();
    }
}

// The transport may still end an operation where the library goes down with a start outstanding; then the object stays.
int SendHalf::retire() noexcept {
    if (!_unfinished_at_end) {
        delete this;
    }
    return MPI_SUCCESS;
}

} // namespace patchbay::chan::rdma
