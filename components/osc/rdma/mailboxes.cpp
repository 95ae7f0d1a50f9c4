// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/rdma/mailboxes.h"

#include "components/common/window_copy.h"
#include "frameworks/osc/combine.h"
#include "object/handle.h"

#include <bit>
#include <cstring>

namespace patchbay::osc::rdma {

Mailboxes::Mailboxes(std::byte* mailboxes, const MailboxLayout& layout, int own_rank, const Memory& memory,
    std::unique_ptr<Doorbell*[]> bells, UpdateLock& updates, Progress& progress, DelegationCounters& counters)
    : _mailboxes(mailboxes),
      _hints(MailboxLayout::hints(mailboxes)),
      _layout(layout),
      _own_rank(own_rank),
      _memory(memory),
      _bells(std::move(bells)),
      _updates(updates),
      _progress(progress),
      _counters(counters),
      _poller(progress.add_poller([](void* self) noexcept { return static_cast<Mailboxes*>(self)->serve(); }, this)) {}

Mailboxes::~Mailboxes() {
    _poller.reset();
    _progress.quiesce();
}

// A bit that is set while its entries are looked at leads to a look by the next poll.
int Mailboxes::serve_hints() noexcept {
    std::uint64_t hints = _hints.exchange(0, std::memory_order_acquire);
    int events = 0;
    for (; hints != 0; hints &= hints - 1) {
        for (auto entry = std::size_t(std::countr_zero(hints)); entry < _layout.entries(); entry += 64) {
            events += is_posted(entry) ? serve_entry(entry) : 0;
        }
    }
    return events;
}

int Mailboxes::serve_entry(std::size_t number) noexcept {
    MailboxEntry& entry = _layout.at(_mailboxes, number);
    auto state = EntryState::posted;
    if (!entry.state.compare_exchange_strong(
            state, EntryState::claimed, std::memory_order_acquire, std::memory_order_relaxed)) {
        return 0; // the origin was faster, or another thread
    }
    const bool carried_out = carry_out(entry);
    entry.state.store(carried_out ? EntryState::done : EntryState::declined, std::memory_order_release);
    _bells[std::size_t(MailboxLayout::origin_of(number, _own_rank))]->notify();
    if (carried_out) {
        _counters.add(DelegationCounters::served);
    }
    return 1;
}

bool Mailboxes::carry_out(MailboxEntry& entry) noexcept {
    const std::size_t bytes = entry.bytes;
    if (bytes > _layout.payload() || entry.place > _memory.bytes || bytes > _memory.bytes - entry.place) {
        return false;
    }
    std::byte* const memory = _memory.base + entry.place;
    switch (entry.kind) {
    case EntryKind::put:
        common::copy_window(memory, entry.payload(), bytes);
        return true;
    case EntryKind::get:
        common::copy_window(entry.payload(), memory, bytes);
        return true;
    default:
        return _updates.try_with(_own_rank, entry.alone, [&] { update(entry, memory); });
    }
}

void Mailboxes::update(MailboxEntry& entry, std::byte* memory) noexcept {
    const std::size_t bytes = entry.bytes;
    if (entry.kind == EntryKind::compare_swap) {
        std::byte* const operand = entry.payload();
        const bool equal = std::memcmp(memory, entry.second(bytes), bytes) == 0;
        std::memcpy(entry.second(bytes), memory, bytes);
        if (equal) {
            std::memcpy(memory, operand, bytes);
        }
        return;
    }
    if (entry.kind == EntryKind::get_accumulate) {
        common::copy_any(entry.second(bytes), memory, bytes);
    }
    // The origin has made sure that the op is defined for the type.
    const Op& op = *to_object<Op>(reinterpret_cast<MPI_Op>(std::uintptr_t(entry.op)));
    const auto handle = reinterpret_cast<MPI_Datatype>(std::uintptr_t(basic_type(entry.element).handle));
    const Datatype& element = *to_object<Datatype>(handle);
    const MPI_Count count = MPI_Count(bytes) / element.size;
    combine(op, entry.payload(), count, element, memory, count, element);
}

} // namespace patchbay::osc::rdma
