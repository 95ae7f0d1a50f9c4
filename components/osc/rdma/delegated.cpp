// SPDX-License-Identifier: BSD-3-Clause
// Operations that are left to the process of the target, see README.md.
#include "components/common/window_copy.h"
#include "components/osc/rdma/module.h"
#include "components/osc/rdma/stream.h"
#include "frameworks/osc/combine.h"
#include "object/handle.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace patchbay::osc::rdma {

namespace {

// Buffers of the program to and from the bytes of an entry.
void pack(const void* buffer, MPI_Count count, const Datatype& type, std::byte* payload, std::size_t bytes) noexcept {
    if (type.dense) [[likely]] {
        common::copy_window(payload, static_cast<const std::byte*>(buffer) + type.true_lower_bound, bytes);
    } else {
        Convertor(type, count, buffer).pack(payload, bytes);
    }
}

void unpack(const std::byte* payload, void* buffer, MPI_Count count, const Datatype& type, std::size_t bytes) noexcept {
    if (type.dense) [[likely]] {
        common::copy_window(static_cast<std::byte*>(buffer) + type.true_lower_bound, payload, bytes);
    } else {
        Convertor(type, count, buffer).unpack(payload, bytes);
    }
}

std::uint32_t number_of(const Op& op) noexcept {
    return std::uint32_t(reinterpret_cast<std::uintptr_t>(to_handle(&op)));
}

// The first byte of a buffer of a dense type.
const std::byte* bytes_of(const Origin& origin) noexcept {
    return static_cast<const std::byte*>(origin.buffer) + origin.type->true_lower_bound;
}
std::byte* bytes_of(const Fetched& result) noexcept {
    return static_cast<std::byte*>(result.buffer) + result.type->true_lower_bound;
}

// Pieces of about the same size, none of them larger than `most`: whole lines where that has some.
std::size_t even_piece(std::size_t bytes, std::size_t most) noexcept {
    const std::size_t pieces = (bytes + most - 1) / most;
    const std::size_t lines = ((bytes + pieces - 1) / pieces + 63) / 64 * 64;
    return std::min(lines, most);
}

// From so many bytes on, the two processes copy one half each by the btl in any case. A stream through the entry takes
// less time for fewer bytes where the cores are near each other, because the kernel looks up each page: StreamChoice.
// bench/rma create shows both.
constexpr std::size_t shared_from = std::size_t(192) << 10;
constexpr std::size_t largest_entry = std::size_t(1) << 30; // an entry has 32 bits for the size
// The kernel looks up each page.
constexpr std::size_t page = 4096;

// What an entry can describe: elements one behind the other.
bool is_array(const Datatype& type, const Datatype& element) noexcept {
    return type.dense && element.size == element.extent;
}

} // namespace

// Where control blocks are mapped: the mailboxes of this process, and those of the members whose memory is not mapped.
void RdmaModule::open_mailboxes() {
    if (_window.size < 2 || _members.block(_window.rank == 0 ? 1 : 0) == nullptr) {
        return;
    }
    const std::size_t behind = _layout.bytes();
    if (_mailbox_payload != 0) {
        auto bells = std::make_unique<Doorbell*[]>(std::size_t(_window.size));
        for (int member = 0; member < _window.size; ++member) {
            bells[std::size_t(member)] = member == _window.rank ? nullptr : _members.bell(member);
        }
        const WindowMember& self = _window.members[std::size_t(_window.rank)];
        _mailboxes = std::make_unique<Mailboxes>(_control->base() + behind,
            MailboxLayout(_window.size, _mailbox_payload), _window.rank,
            Mailboxes::Memory{static_cast<std::byte*>(_window.base), self.bytes, _dynamic ? &_own_regions : nullptr},
            std::move(bells), _update_lock, &_members[0], _progress, *_delegating.counters);
    }
    for (int member = 0; _delegating.enabled && member < _window.size; ++member) {
        const bool mapped = _members[member].mapped != nullptr;
        const std::size_t payload = member == _window.rank || mapped ? 0 : _members.mailbox_payload(member);
        if (payload == 0) {
            continue;
        }
        if (_delegations == nullptr) {
            _delegations = std::make_unique<Delegations>(_window.size, _mailboxes.get(), _delegating.limit,
                _delegating.patience, _progress, _failures, *_delegating.counters);
        }
        _delegations->add(member, _window.rank, _members.block(member) + behind, MailboxLayout(_window.size, payload),
            *_members.bell(member));
        if (payload >= sizeof(OriginBuffer)) {
            _members.share_own_space(member);
        }
    }
}

RdmaModule::Delegated RdmaModule::delegate_transfer(Direction direction, void* buffer, MPI_Count count,
    const Datatype& type, const Target& target, const Reach& region, std::size_t* done) noexcept {
    const std::size_t bytes = std::size_t(target.count) * std::size_t(target.type->size);
    if (!target.type->dense) {
        return Delegated::not_done;
    }
    Delegations::Entry entry = _delegations->use(target.rank, bytes);
    if (!entry || (entry.payload() < bytes && !type.dense)) {
        return Delegated::not_done;
    }
    const std::uint64_t place = target.place + std::uint64_t(target.type->true_lower_bound);
    if (bytes >= StreamChoice::from && bytes <= largest_entry && type.dense &&
        _members[target.rank].own_space.load(std::memory_order_relaxed) != nullptr &&
        (bytes >= shared_from || entry.stream_choice().takes_halves(bytes))) [[unlikely]] {
        Peer& peer = _members[target.rank];
        return share_transfer(entry,
            {direction, static_cast<std::byte*>(buffer) + type.true_lower_bound, target.rank, place, bytes},
            _dynamic ? region : Reach{&peer, target.rank, peer.key, 0, nullptr}, done);
    }
    if (entry.payload() < bytes) [[unlikely]] {
        return transfer_pieces(entry,
            {direction, static_cast<std::byte*>(buffer) + type.true_lower_bound, target.rank, place, bytes}, done);
    }
    entry->kind = direction == Direction::put ? EntryKind::put : EntryKind::get;
    entry->bytes = std::uint32_t(bytes);
    entry->place = place;
    if (direction == Direction::put) {
        pack(buffer, count, type, entry->payload(), bytes);
    }
    const Delegated outcome = _delegations->run(entry);
    if (direction == Direction::get && outcome == Delegated::done) {
        unpack(entry->payload(), buffer, count, type, bytes);
    }
    return outcome;
}

// The target copies the second half while this process copies the first one: *done has the first half where the target
// has not begun.
RdmaModule::Delegated RdmaModule::share_transfer(
    Delegations::Entry& entry, const ArrayTransfer& transfer, const Reach& reach, std::size_t* done) noexcept {
    Peer& peer = _members[transfer.rank];
    const std::size_t first = transfer.bytes / 2 / page * page;
    entry->kind = transfer.direction == Direction::put ? EntryKind::put_from_origin : EntryKind::get_to_origin;
    entry->bytes = std::uint32_t(transfer.bytes - first);
    entry->place = transfer.place + first;
    const OriginBuffer buffer{
        *peer.own_space.load(std::memory_order_relaxed), reinterpret_cast<std::uintptr_t>(transfer.buffer + first)};
    std::memcpy(entry->payload(), &buffer, sizeof buffer);
    _delegations->post(entry);
    const int error =
        Transfer(_progress, reach, transfer.direction, nullptr).run_block(transfer.buffer, transfer.place, first, true);
    const Delegated outcome = _delegations->collect(entry);
    if (entry->state.load(std::memory_order_relaxed) == EntryState::declined) { // its btl does not reach this process
        peer.own_space.store(nullptr, std::memory_order_relaxed);
    }
    if (error != 0) {
        return outcome == Delegated::failed ? outcome : Delegated::not_done; // the caller reports what prevents it
    }
    *done = outcome == Delegated::done ? transfer.bytes : first;
    return outcome;
}

RdmaModule::Delegated RdmaModule::stream(
    Delegations::Entry& entry, const ArrayTransfer& transfer, std::size_t piece, std::size_t* done) noexcept {
    using Clock = std::chrono::steady_clock;
    StreamChoice& choice = entry.stream_choice();
    const bool is_timed = choice.is_timed(transfer.bytes);
    const Clock::time_point begin = is_timed ? Clock::now() : Clock::time_point{};
    const Delegated outcome = _delegations->stream(entry, transfer.buffer, transfer.bytes, piece, done);
    if (is_timed && outcome == Delegated::done) {
        choice.note(Clock::now() - begin, transfer.bytes);
    }
    return outcome;
}

// What does not fit into the entry: by a stream, or one piece after the other where the entry is too small for that.
RdmaModule::Delegated RdmaModule::transfer_pieces(
    Delegations::Entry& entry, const ArrayTransfer& transfer, std::size_t* done) noexcept {
    const bool is_put = transfer.direction == Direction::put;
    if (const std::size_t most = Stream::most_of_piece(entry.payload()); most > 0 && transfer.bytes <= largest_entry) {
        entry->kind = is_put ? EntryKind::stream_put : EntryKind::stream_get;
        entry->place = transfer.place;
        return stream(entry, transfer, even_piece(transfer.bytes, most), done);
    }
    entry->kind = is_put ? EntryKind::put : EntryKind::get;
    auto outcome = Delegated::done;
    const std::size_t most = even_piece(transfer.bytes, entry.payload());
    for (std::size_t at = 0; at < transfer.bytes && outcome == Delegated::done;) {
        const std::size_t piece = std::min(transfer.bytes - at, most);
        entry->bytes = std::uint32_t(piece);
        entry->place = transfer.place + at;
        if (is_put) {
            common::copy_window(entry->payload(), transfer.buffer + at, piece);
        }
        outcome = _delegations->run(entry);
        if (outcome == Delegated::done) {
            if (!is_put) {
                common::copy_window(transfer.buffer + at, entry->payload(), piece);
            }
            at += piece;
        }
        *done = at;
    }
    return outcome;
}

// With the exclusive lock of the target the threads of this process take turns, because the target takes no lock then.
RdmaModule::Delegated RdmaModule::run_update(Delegations::Entry& entry, int rank) noexcept {
    entry->alone = is_alone_with(rank);
    auto outcome = Delegated::not_done;
    if (!entry->alone) {
        return _delegations->run(entry);
    }
    _update_lock.with(rank, true, [&] {
        outcome = _delegations->run(entry);
        return int(MPI_SUCCESS);
    });
    return outcome;
}

RdmaModule::Delegated RdmaModule::delegate_update(const Origin& origin, const Fetched* result, const Target& target,
    const Op& op, const Datatype& element, std::size_t* done) noexcept {
    const std::size_t bytes = std::size_t(target.count) * std::size_t(target.type->size);
    if (!is_array(*target.type, element)) {
        return Delegated::not_done;
    }
    Delegations::Entry entry = _delegations->use(target.rank, bytes);
    if (!entry) {
        return Delegated::not_done;
    }
    const bool has_origin = to_handle(&op) != MPI_NO_OP;
    entry->kind = result == nullptr ? EntryKind::accumulate : EntryKind::get_accumulate;
    entry->element = element.basic;
    entry->op = number_of(op);
    const std::uint64_t place = target.place + std::uint64_t(target.type->true_lower_bound);
    const auto fits = [&](std::size_t some) {
        return (result == nullptr ? some : MailboxEntry::padded(some) + some) <= entry.payload();
    };
    if (fits(bytes)) [[likely]] {
        entry->bytes = std::uint32_t(bytes);
        entry->place = place;
        if (has_origin) {
            pack(origin.buffer, origin.count, *origin.type, entry->payload(), bytes);
        }
        const Delegated outcome = run_update(entry, target.rank);
        if (result != nullptr && outcome == Delegated::done) {
            unpack(entry->second(bytes), result->buffer, result->count, *result->type, bytes);
        }
        return outcome;
    }
    if ((has_origin && !origin.type->dense) || (result != nullptr && !result->type->dense)) {
        return Delegated::not_done;
    }
    const std::size_t room = (result == nullptr ? entry.payload() : entry.payload() / 2 / 16 * 16);
    return update_pieces(entry, {origin, result, target.rank, place, bytes},
        room / std::size_t(element.size) * std::size_t(element.size), done);
}

// As transfer_pieces(). Each element is in one piece.
RdmaModule::Delegated RdmaModule::update_pieces(
    Delegations::Entry& entry, const ArrayUpdate& update, std::size_t most, std::size_t* done) noexcept {
    auto outcome = most == 0 ? Delegated::not_done : Delegated::done;
    for (std::size_t at = 0; at < update.bytes && outcome == Delegated::done;) {
        const std::size_t piece = std::min(update.bytes - at, most);
        entry->bytes = std::uint32_t(piece);
        entry->place = update.place + at;
        if (entry->op != number_of(*to_object<Op>(MPI_NO_OP))) {
            common::copy_window(entry->payload(), bytes_of(update.origin) + at, piece);
        }
        outcome = run_update(entry, update.rank);
        if (outcome == Delegated::done) {
            if (update.result != nullptr) {
                common::copy_window(bytes_of(*update.result) + at, entry->second(piece), piece);
            }
            at += piece;
        }
        *done = at;
    }
    return outcome;
}

RdmaModule::Delegated RdmaModule::delegate_fetch(
    const void* origin, void* result, const Datatype& type, int rank, std::uint64_t place, const Op& op) noexcept {
    const Fetched fetched{result, 1, &type};
    if (!op.is_accumulate_only() && !op.accepts(type)) {
        return Delegated::not_done; // the error is reported there
    }
    std::size_t done = 0; // one element is in one piece
    return delegate_update({origin, 1, &type}, &fetched, {rank, place, 1, &type}, op, type, &done);
}

RdmaModule::Delegated RdmaModule::delegate_swap(const void* origin, const void* compare, void* result,
    const Datatype& type, int rank, std::uint64_t place) noexcept {
    const auto bytes = std::size_t(type.size);
    Delegations::Entry entry = _delegations->use(rank, bytes);
    if (!entry || type.size != type.extent || MailboxEntry::padded(bytes) + bytes > entry.payload()) {
        return Delegated::not_done;
    }
    entry->kind = EntryKind::compare_swap;
    entry->bytes = std::uint32_t(bytes);
    entry->place = place;
    std::memcpy(entry->payload(), origin, bytes);
    std::memcpy(entry->second(bytes), compare, bytes);
    const Delegated outcome = run_update(entry, rank);
    if (outcome == Delegated::done) {
        std::memcpy(result, entry->second(bytes), bytes);
    }
    return outcome;
}

} // namespace patchbay::osc::rdma
