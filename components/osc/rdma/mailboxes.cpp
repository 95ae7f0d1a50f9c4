// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/rdma/mailboxes.h"

#include "components/common/window_copy.h"
#include "components/osc/rdma/regions.h"
#include "components/osc/rdma/relax.h"
#include "components/osc/rdma/stream.h"
#include "frameworks/osc/combine.h"
#include "object/handle.h"

#include <bit>
#include <cstring>

namespace patchbay::osc::rdma {

namespace {
// How often a target looks for the next piece of a stream: a few times as long as the origin takes to copy one.
constexpr int looks_for_piece = 500;
}

Mailboxes::Mailboxes(std::byte* mailboxes, const MailboxLayout& layout, int own_rank, const Memory& memory,
    std::unique_ptr<Doorbell*[]> bells, UpdateLock& updates, Peer* members, Progress& progress,
    DelegationCounters& counters)
    : _mailboxes(mailboxes),
      _hints(MailboxLayout::hints(mailboxes)),
      _layout(layout),
      _own_rank(own_rank),
      _memory(memory),
      _bells(std::move(bells)),
      _updates(updates),
      _members(members),
      _payload_copies(layout.entries(), PayloadCopy(Stores::automatic)),
      _progress(progress),
      _counters(counters),
      _poller(progress.add_poller([](void* self) noexcept { return static_cast<Mailboxes*>(self)->serve(); }, this)) {}

Mailboxes::~Mailboxes() {
    _poller.reset();
    _progress.quiesce();
}

// A bit that is set while its entries are looked at leads to a look by the next poll.
int Mailboxes::serve_hints(bool patiently) noexcept {
    std::uint64_t hints = _hints.exchange(0, std::memory_order_acquire);
    int events = 0;
    for (; hints != 0; hints &= hints - 1) {
        for (auto entry = std::size_t(std::countr_zero(hints)); entry < _layout.entries(); entry += 64) {
            events += is_posted(entry) ? serve_entry(entry, patiently) : 0;
        }
    }
    return events;
}

int Mailboxes::serve_entry(std::size_t number, bool patiently) noexcept {
    MailboxEntry& entry = _layout.at(_mailboxes, number);
    auto state = EntryState::posted;
    if (!entry.state.compare_exchange_strong(
            state, EntryState::claimed, std::memory_order_acquire, std::memory_order_relaxed)) {
        return 0; // the origin was faster, or another thread
    }
    const bool carried_out = carry_out(entry, number, patiently);
    entry.state.store(carried_out ? EntryState::done : EntryState::declined, std::memory_order_release);
    _bells[std::size_t(MailboxLayout::origin_of(number, _own_rank))]->notify();
    if (carried_out) {
        _counters.add(DelegationCounters::served);
    }
    return 1;
}

// Null: there are no such bytes.
std::byte* Mailboxes::find(std::uint64_t place, std::uint64_t bytes) const noexcept {
    if (_memory.regions != nullptr) {
        return _memory.regions->contains_now(place, bytes)
            ? reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(place))
            : nullptr;
    }
    return place <= _memory.bytes && bytes <= _memory.bytes - place ? _memory.base + place : nullptr;
}

bool Mailboxes::carry_out(MailboxEntry& entry, std::size_t number, bool patiently) noexcept {
    const std::size_t bytes = entry.bytes;
    std::byte* const memory = find(entry.place, bytes);
    if (memory == nullptr) {
        return false;
    }
    if (entry.kind == EntryKind::put_from_origin || entry.kind == EntryKind::get_to_origin) {
        return copy_buffer(entry, memory, MailboxLayout::origin_of(number, _own_rank));
    }
    if (entry.kind == EntryKind::stream_put || entry.kind == EntryKind::stream_get) {
        return copy_stream(entry, memory, _payload_copies[number], patiently);
    }
    if (bytes > _layout.payload()) {
        return false;
    }
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

// Pieces as long as the origin copies its own in time.
bool Mailboxes::copy_stream(
    MailboxEntry& entry, std::byte* memory, PayloadCopy& payload_copy, bool patiently) noexcept {
    Stream stream(entry, _layout.payload());
    if (!stream.is_valid()) {
        return false;
    }
    const bool is_put = entry.kind == EntryKind::stream_put;
    const int most_looks = patiently ? looks_for_piece : 0;
    std::uint32_t own = stream.by_target().load(std::memory_order_relaxed);
    for (int looks = 0; own < stream.pieces();) {
        if (stream.target_may_copy(own, stream.by_origin().load(std::memory_order_acquire))) {
            std::byte* const there = memory + stream.offset(own);
            is_put ? common::copy_window(there, stream.half(own), stream.size(own))
                   : payload_copy.copy(stream.half(own), there, stream.size(own));
            stream.by_target().store(++own, std::memory_order_release);
            looks = 0;
        } else if (++looks > most_looks) {
            break;
        } else {
            relax();
        }
    }
    return true;
}

// false: it has not been copied, or not as a whole. The origin copies it then.
bool Mailboxes::copy_buffer(MailboxEntry& entry, std::byte* memory, int origin) noexcept {
    if (_layout.payload() < sizeof(OriginBuffer)) {
        return false;
    }
    OriginBuffer buffer;
    std::memcpy(&buffer, entry.payload(), sizeof buffer);
    const iovec here{memory, entry.bytes};
    const btl::RemotePiece there{buffer.address, entry.bytes};
    Peer& peer = _members[origin];
    // Of a btl with Offers::immediate, as the origin has made sure.
    const btl::Started started = entry.kind == EntryKind::put_from_origin
        ? peer.one_sided->get(*peer.endpoint, {&here, 1}, buffer.key, {&there, 1}, nullptr)
        : peer.one_sided->put(*peer.endpoint, {&here, 1}, buffer.key, {&there, 1}, btl::Wake::nobody, nullptr);
    return started.is_done();
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
