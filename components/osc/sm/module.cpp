// SPDX-License-Identifier: BSD-3-Clause
// A module from its creation to its end.
#include "components/osc/sm/module.h"

#include "components/common/atomic_update.h"
#include "components/osc/sm/dynamic.h"
#include "core/base/out_of_memory.h"
#include "frameworks/coll/coll.h"
#include "object/error_cause.h"
#include "object/handle.h"
#include "object/immediate_request.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <unistd.h>

namespace patchbay::osc::sm {

Result<std::unique_ptr<Module>> Sm::create(
    Progress& progress, NodeSegment* segment, Window& window, BarrierKind barrier, bool share_cores) noexcept {
    std::unique_ptr<Sm> module(window.flavor == MPI_WIN_FLAVOR_DYNAMIC ? new (std::nothrow) DynamicSm(progress, window)
                                                                       : new (std::nothrow)
                                                                             Sm(progress, segment, window));
    Announcement own{};
    own.barrier = barrier;
    own.share_cores = share_cores;
    own.granularity = common::granularity_of(window);
    if (segment != nullptr) {
        own.slot = segment->slot();
        own.pid = std::int32_t(getpid());
    }
    std::vector<Announcement> all;
    Status made = module == nullptr ? Status(out_of_memory())
                                    : unless_out_of_memory([&]() -> Status { return module->make(own, all); });
    // Without room for what the others announce a member cannot take part in the exchange.
    int can_exchange = all.empty() ? 0 : 1;
    Communicator& comm = *window.comm;
    if (window.size > 1) {
        const int code = (*comm.coll)[coll::Function::allreduce].allreduce(
            MPI_IN_PLACE, &can_exchange, 1, *to_object<Datatype>(MPI_INT), *to_object<Op>(MPI_MIN), comm);
        can_exchange = code == MPI_SUCCESS ? can_exchange : 0;
    }
    if (can_exchange == 0) {
        return made ? out_of_memory() : made.error();
    }
    const Status exchanged = exchange(window, own, all);
    if (!made || !exchanged) {
        return made ? exchanged.error() : made.error();
    }
    if (Status mapped = module->map(all); !mapped) {
        return mapped.error();
    }
    return std::unique_ptr<Module>(std::move(module));
}

// The part of create() in which this process is alone. Throws std::bad_alloc.
Status Sm::make(Announcement& own, std::vector<Announcement>& all) {
    const auto members = std::uint32_t(_window.size);
    all.resize(members);
    _peers.resize(members);
    _targets.reserve(members);
    _origins.reserve(members);
    if (_segment == nullptr) {
        make_for_thread(own);
        return {};
    }
    auto block = _segment->heap().alloc(Control::bytes(members), _segment->slot());
    if (!block) {
        return block.error();
    }
    _block = block->address;
    _own = reinterpret_cast<Control*>(block->bytes.data());
    own.control = _block;
    return {};
}

// Throws std::bad_alloc.
void Sm::make_for_thread(Announcement& own) {
    const std::size_t line = alignof(Control);
    const std::size_t bytes = (Control::bytes(size()) + line - 1) / line * line;
    _private_block.reset(std::aligned_alloc(line, bytes));
    if (_private_block == nullptr) {
        throw std::bad_alloc();
    }
    std::memset(_private_block.get(), 0, bytes);
    _own = static_cast<Control*>(_private_block.get());
    own.control_of_thread = _own;
    own.bell = &_progress.doorbell();
    own.attached = attached();
}

Status Sm::exchange(Window& window, const Announcement& own, std::vector<Announcement>& all) noexcept {
    all[std::size_t(window.rank)] = own;
    if (window.size == 1) {
        return {};
    }
    Communicator& comm = *window.comm;
    const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
    const int code = (*comm.coll)[coll::Function::allgather].allgather(
        MPI_IN_PLACE, 0, byte, all.data(), sizeof(Announcement), byte, comm);
    return code == MPI_SUCCESS
        ? Status()
        : Status(Error{Errc::peer_failed, "osc/sm: the members of the window could not exchange their addresses"});
}

Status Sm::map(const std::vector<Announcement>& all) noexcept {
    _granularity = all[std::size_t(_window.rank)].granularity;
    for (int rank = 0; rank < _window.size; ++rank) {
        const Announcement& member = all[std::size_t(rank)];
        if (member.control == 0 && member.control_of_thread == nullptr) {
            return Error{Errc::out_of_memory, "osc/sm: another member has no memory for the window"};
        }
        _granularity = member.granularity != 0 ? _granularity : 0;
        _central = _central || member.barrier == BarrierKind::central ||
            (member.barrier == BarrierKind::automatic && member.share_cores != 0 && _window.size > 2);
        if (Status mapped = map_peer(rank, member); !mapped) {
            return mapped;
        }
        peer(rank).own_ticket = &own().tickets(size())[rank];
    }
    return {};
}

void Sm::map_thread(int rank, const Announcement& announcement) noexcept {
    Peer& peer = this->peer(rank);
    peer.base = reinterpret_cast<std::byte*>(_window.members[std::size_t(rank)].address); // 0 in a dynamic window
    peer.control = announcement.control_of_thread;
    peer.bell = announcement.bell;
    peer.attached = announcement.attached;
}

Status Sm::map_peer(int rank, const Announcement& announcement) noexcept {
    if (_segment == nullptr) {
        map_thread(rank, announcement);
        return {};
    }
    Peer& peer = this->peer(rank);
    const WindowMember& member = _window.members[std::size_t(rank)];
    RankControl* slot = _segment->find_control(announcement.slot);
    std::byte* control = _segment->heap().at(announcement.control);
    std::byte* base = rank == _window.rank ? static_cast<std::byte*>(_window.base)
        : member.shared != 0               ? _segment->heap().at(member.shared)
                                           : nullptr;
    if (slot == nullptr || control == nullptr || (base == nullptr && member.bytes > 0)) {
        return Error{Errc::out_of_memory,
            "osc/sm: the memory of another member cannot be mapped; raise the address space limit (ulimit -v)"};
    }
    peer.base = base;
    peer.control = reinterpret_cast<Control*>(control);
    peer.bell = &slot->bell;
    peer.pid = can_see_process(announcement.pid) ? announcement.pid : 0;
    return {};
}

Sm::~Sm() {
    if (_block != 0) {
        _segment->heap().free(_block);
    }
}

bool Sm::any_has_ended() const noexcept {
    return std::ranges::any_of(_peers, [](const Peer& peer) { return process_has_ended(peer.pid); });
}

int Sm::give_request(Request** request) noexcept {
    auto* made = new (std::nothrow) ImmediateRequest(_progress, MPI_Status{});
    if (made == nullptr) {
        return note_cause(MPI_ERR_NO_MEM, "osc/sm: no memory for a request");
    }
    made->comm = _window.comm;
    made->session = _window.comm->session;
    *request = made;
    return MPI_SUCCESS;
}

int Sm::attach(void*, std::uint64_t) noexcept {
    return note_cause(MPI_ERR_RMA_ATTACH, "osc/sm: the window is not dynamic");
}
int Sm::detach(void*) noexcept {
    return note_cause(MPI_ERR_RMA_ATTACH, "osc/sm: the window is not dynamic");
}

} // namespace patchbay::osc::sm
