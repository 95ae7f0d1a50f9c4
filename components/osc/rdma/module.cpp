// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/rdma/module.h"

#include "components/common/every_block.h"
#include "components/common/window_copy.h"
#include "components/osc/rdma/errors.h"
#include "object/error_cause.h"
#include "object/handle.h"
#include "object/recipe.h"
#include "object/typed_copy.h"

#include <algorithm>
#include <array>
#include <new>

namespace patchbay::osc::rdma {

RdmaModule::RdmaModule(Window& window, Jobs::Use job, std::unique_ptr<Memory> control, std::size_t mailbox_payload,
    const Delegating& delegating, NodeSegment* segment)
    : _window(window),
      _job(std::move(job)),
      _progress(_job->progress()),
      _control(std::move(control)),
      _layout(window.size),
      _dynamic(window.flavor == MPI_WIN_FLAVOR_DYNAMIC),
      _failures(window.size),
      _members(window, *_job, _control->base(), _layout.bytes() + MailboxLayout(window.size, mailbox_payload).bytes(),
          mailbox_payload),
      _barrier(_members.words(), _layout.arrived, _progress, _failures),
      _window_lock(_members.words(), _layout.window_lock, _progress, _failures),
      _update_lock(_members.words(), _layout.update_lock, _progress, _failures),
      _exposure(_members.words(), _layout.posted, _layout.completed, _progress, _failures),
      _own_regions(_members, segment, _progress),
      _peer_regions(_members, _progress, _failures, window.size),
      _mailbox_payload(mailbox_payload),
      _delegating(delegating) {
    _job->add(_failures, *window.comm->group);
}

RdmaModule::~RdmaModule() {
    _mailboxes.reset();
    _job->remove(_failures);
}

Status RdmaModule::connect() {
    Status connected = _members.connect();
    if (connected) {
        open_mailboxes();
        _members.end_construction();
    }
    return connected;
}

int RdmaModule::put(const Origin& origin, const Target& target, Request** request) noexcept {
    return transfer(Direction::put, const_cast<void*>(origin.buffer), origin.count, *origin.type, target, request);
}

int RdmaModule::get(const Fetched& result, const Target& target, Request** request) noexcept {
    return transfer(Direction::get, result.buffer, result.count, *result.type, target, request);
}

namespace {
void copy_mapped(Direction direction, void* buffer, MPI_Count count, const Datatype& type, std::byte* memory,
    const Target& target) noexcept {
    if (type.dense && target.type->dense) [[likely]] {
        auto* const here = static_cast<std::byte*>(buffer) + type.true_lower_bound;
        std::byte* const there = memory + target.type->true_lower_bound;
        const auto bytes = std::size_t(count) * std::size_t(type.size);
        direction == Direction::put ? common::copy_window(there, here, bytes) : common::copy_window(here, there, bytes);
        return;
    }
    if (direction == Direction::put) {
        typed_copy(buffer, count, type, memory, target.count, *target.type);
    } else {
        typed_copy(memory, target.count, *target.type, buffer, count, type);
    }
}
} // namespace

int RdmaModule::transfer(Direction direction, void* buffer, MPI_Count count, const Datatype& type, const Target& target,
    Request** request) noexcept {
    if (const int code = ready(target.rank); code != MPI_SUCCESS) [[unlikely]] {
        return code;
    }
    Reach region;
    const bool is_located = !_dynamic || locate_dense(target, region);
    if ((_dynamic ? region.mapped : _members[target.rank].mapped) != nullptr) {
        std::byte* const memory = _dynamic ? region.at(target.place) : mapped_at(target.rank, target.place);
        copy_mapped(direction, buffer, count, type, memory, target);
        return request == nullptr ? MPI_SUCCESS : complete_request(request);
    }
    if (_delegations != nullptr && is_located) {
        std::size_t done = 0;
        const Delegated outcome = delegate_transfer(direction, buffer, count, type, target, region, &done);
        if (outcome != Delegated::not_done) {
            const int code = complete_delegated(outcome, target.rank);
            return code != MPI_SUCCESS || request == nullptr ? code : complete_request(request);
        }
        if (done > 0) { // of bytes that are contiguous on both sides
            const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
            const MPI_Count rest = count * type.size - MPI_Count(done);
            const std::uint64_t place = target.place + std::uint64_t(target.type->true_lower_bound) + done;
            return transfer_directly(direction, static_cast<std::byte*>(buffer) + type.true_lower_bound + done, rest,
                byte, {target.rank, place, rest, &byte}, request);
        }
    }
    return transfer_directly(direction, buffer, count, type, target, request);
}

int RdmaModule::transfer_directly(Direction direction, void* buffer, MPI_Count count, const Datatype& type,
    const Target& target, Request** request) noexcept {
    Convertor here(type, count, buffer);
    TransferRequest* pending = nullptr;
    if (request != nullptr) {
        if (const int code = new_request(&pending); code != MPI_SUCCESS) {
            return code;
        }
    }
    const int code = transfer_far(direction, here, target, pending);
    if (pending != nullptr) {
        if (code != MPI_SUCCESS) {
            pending->fail(code);
        }
        pending->end_of_starts();
        *request = pending;
        return MPI_SUCCESS;
    }
    return code;
}

int RdmaModule::transfer_far(
    Direction direction, Convertor& here, const Target& target, TransferRequest* request) noexcept {
    Reach reach;
    bool scattered = false;
    if (const int code = locate(target, reach, &scattered); code != MPI_SUCCESS) {
        return code;
    }
    Convertor there = places_of(target);
    if (!scattered && reach.mapped == nullptr && here.contiguous() != nullptr && there.contiguous() != nullptr)
        [[likely]] {
        const auto place = reinterpret_cast<std::uintptr_t>(there.contiguous());
        return report_failure(
            Transfer(_progress, reach, direction, request).run_block(here.contiguous(), place, here.total()),
            target.rank);
    }
    return access(target.rank, scattered ? nullptr : &reach, direction, here, there, here.total(), request);
}

// As places: addresses in a dynamic window, otherwise biased offsets.
Convertor RdmaModule::places_of(const Target& target) const noexcept {
    return Convertor(
        *target.type, target.count, reinterpret_cast<const void*>(target.place + (_dynamic ? 0 : place_bias)));
}

// The region of a dynamic window in which all bytes of a target without gaps are. false: there is none, or the target
// has gaps, and locate() says which.
bool RdmaModule::locate_dense(const Target& target, Reach& reach) noexcept {
    const Datatype& type = *target.type;
    return type.dense &&
        locate_range(target.rank, target.place + std::uint64_t(type.true_lower_bound),
            std::uint64_t(target.count) * std::uint64_t(type.size), reach) == MPI_SUCCESS;
}

int RdmaModule::locate(const Target& target, Reach& reach, bool* scattered) noexcept {
    if (!_dynamic) {
        Peer& peer = _members[target.rank];
        reach = Reach{&peer, target.rank, peer.key, place_bias, peer.mapped};
        return MPI_SUCCESS;
    }
    const Datatype& type = *target.type;
    const Wide across = Wide(target.count - 1) * type.extent;
    const Wide begin = Wide(target.place) + type.true_lower_bound + std::min<Wide>(across, 0);
    const Wide bytes = Wide(type.true_extent) + (across < 0 ? -across : across);
    const bool has_range = begin >= 0 && begin + bytes <= Wide(UINT64_MAX);
    const int code = has_range
        ? locate_range(target.rank, std::uint64_t(begin), std::uint64_t(bytes), reach)
        : note_cause(MPI_ERR_RMA_RANGE, "the operation accesses more bytes than the address space of the target has");
    if (code != MPI_ERR_RMA_RANGE || type.dense) {
        return code;
    }
    *scattered = true; // a type with absolute displacements may have its blocks in several regions
    return check_blocks(target.rank, places_of(target));
}

int RdmaModule::locate_range(int rank, std::uint64_t place, std::uint64_t bytes, Reach& reach) noexcept {
    if (rank != _window.rank) {
        return _peer_regions.find(rank, place, bytes, reach);
    }
    if (!_own_regions.contains(place, bytes)) {
        return _own_regions.report_outside(place, bytes);
    }
    reach = Reach{&_members[rank], rank, {}, place, reinterpret_cast<std::byte*>(place)};
    return MPI_SUCCESS;
}

int RdmaModule::check_blocks(int rank, const Convertor& there) noexcept {
    int code = MPI_SUCCESS;
    common::every_block(there, [&](std::uintptr_t place, std::uint64_t bytes) {
        Reach reach;
        code = locate_range(rank, place, bytes, reach);
        return code == MPI_SUCCESS;
    });
    return code;
}

// The next `bytes` bytes of both streams. `reach`: null where the blocks are in several regions.
int RdmaModule::access(int rank, const Reach* reach, Direction direction, Convertor& here, Convertor& there,
    std::size_t bytes, TransferRequest* request) noexcept {
    if (reach == nullptr) {
        return access_blocks(rank, direction, here, there, bytes, request);
    }
    if (reach->mapped != nullptr) {
        copy_blocks(*reach, direction, here, there, bytes);
        return MPI_SUCCESS;
    }
    return report_failure(Transfer(_progress, *reach, direction, request).run(here, there, bytes), rank);
}

int RdmaModule::access_blocks(int rank, Direction direction, Convertor& here, Convertor& there, std::size_t bytes,
    TransferRequest* request) noexcept {
    while (bytes > 0) {
        iovec block;
        const std::size_t start = there.position();
        there.next_blocks({&block, 1}, bytes);
        Reach reach;
        int code = locate_range(rank, reinterpret_cast<std::uintptr_t>(block.iov_base), block.iov_len, reach);
        if (code == MPI_SUCCESS) {
            there.seek(start);
            code = access(rank, &reach, direction, here, there, block.iov_len, request);
        }
        if (code != MPI_SUCCESS) {
            return code;
        }
        bytes -= block.iov_len;
    }
    return MPI_SUCCESS;
}

void RdmaModule::copy_blocks(
    const Reach& reach, Direction direction, Convertor& here, Convertor& there, std::size_t bytes) noexcept {
    std::array<iovec, 64> blocks;
    while (bytes > 0) {
        const std::size_t count = there.next_blocks(blocks, bytes);
        for (std::size_t i = 0; i < count; ++i) {
            std::byte* const memory = reach.at(reinterpret_cast<std::uintptr_t>(blocks[i].iov_base));
            direction == Direction::put ? here.pack(memory, blocks[i].iov_len) : here.unpack(memory, blocks[i].iov_len);
            bytes -= blocks[i].iov_len;
        }
    }
}

int RdmaModule::new_request(TransferRequest** request) noexcept {
    *request = new (std::nothrow) TransferRequest(_progress, *_window.comm);
    return *request == nullptr ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

int RdmaModule::complete_request(Request** request) noexcept {
    TransferRequest* made = nullptr;
    const int code = new_request(&made);
    if (code == MPI_SUCCESS) {
        made->end_of_starts();
        *request = made;
    }
    return code;
}

} // namespace patchbay::osc::rdma
