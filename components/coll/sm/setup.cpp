// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/sm/setup.h"

#include "components/common/process_end.h"
#include "core/base/out_of_memory.h"
#include "core/core.h"
#include "object/handle.h"

#include <new>
#include <unistd.h>

namespace patchbay::coll::sm {

namespace {

// What a member has of the memory until all agree that they use it.
struct Joining {
    NodeSegment& segment;
    SharedAddress address = 0; // 0: none
    Area* area = nullptr;
};

SharedAddress allocate(NodeSegment& segment, std::uint32_t size) noexcept {
    // It outlives each of its members, so that it belongs to none of them.
    auto block = segment.heap().alloc(Area::bytes(size), SharedHeap::no_owner, SharedHeap::Backing::sparse);
    if (!block) {
        return 0;
    }
    if (!segment.heap().commit(block->address, 0, Area::start_bytes(size))) {
        segment.heap().free(block->address);
        return 0;
    }
    ::new (block->bytes.data()) Area;
    reinterpret_cast<Area*>(block->bytes.data())->users.store(size, std::memory_order_release);
    return block->address;
}

// One that maps the memory belongs to its users from then on.
void enter(Joining& joining, int rank) noexcept {
    std::byte* const mapped = joining.address != 0 ? joining.segment.heap().at(joining.address) : nullptr;
    if (mapped == nullptr) {
        return;
    }
    joining.area = reinterpret_cast<Area*>(mapped);
    Member& own = joining.area->members()[rank];
    own.slot = joining.segment.slot();
    own.pid = std::int32_t(getpid());
}

// Throws std::bad_alloc. Empty: the doorbell of a member cannot be mapped.
std::vector<Peer> peers_of(Joining& joining, int size) {
    std::vector<Peer> peers{std::size_t(size)};
    for (int rank = 0; rank < size; ++rank) {
        const Member& member = joining.area->members()[rank];
        RankControl* const control = joining.segment.find_control(member.slot);
        if (control == nullptr) {
            return {};
        }
        peers[std::size_t(rank)] = {&control->bell, can_see_process(member.pid) ? member.pid : 0};
    }
    return peers;
}

// Whether all members say so.
bool all_agree(bool says, const Below& below, Communicator& comm) noexcept {
    int agreed = says ? 1 : 0;
    const int code =
        below.find(Function::allreduce, Form::blocking)
            ->allreduce(MPI_IN_PLACE, &agreed, 1, *to_object<Datatype>(MPI_INT), *to_object<Op>(MPI_MIN), comm);
    return code == MPI_SUCCESS && agreed == 1;
}

} // namespace

std::unique_ptr<Place> make_place(Context& context, const Below& below, Communicator& comm, bool takes_part) noexcept {
    Joining joining{*context.core().node};
    SharedAddress offer = 0;
    if (comm.rank == 0 && takes_part) {
        offer = allocate(joining.segment, std::uint32_t(comm.size));
    }
    const int told = below.find(Function::bcast, Form::blocking)
                         ->bcast(&offer, sizeof offer, *to_object<Datatype>(MPI_BYTE), 0, comm);
    if (comm.rank == 0 || told == MPI_SUCCESS) {
        joining.address = offer;
    }
    enter(joining, comm.rank);
    // After the first agreement all members have written what others read of them.
    const bool entered = all_agree(joining.area != nullptr && takes_part, below, comm);
    std::unique_ptr<Place> place;
    if (entered) {
        place = unless_out_of_memory(std::unique_ptr<Place>(), [&]() -> std::unique_ptr<Place> {
            std::vector<Peer> peers = peers_of(joining, comm.size);
            return peers.empty() ? nullptr
                                 : std::make_unique<Place>(context.progress(), joining.segment, joining.address,
                                       *joining.area, std::move(peers), std::uint32_t(comm.rank));
        });
    }
    const bool complete = entered && all_agree(place != nullptr, below, comm);
    if (complete) {
        return place;
    }
    if (takes_part && context.core().decisions.enabled()) {
        context.core().decisions.record("coll", comm.describe(), "sm", Outcome::declined, 0,
            "the node has no memory for it, or a member cannot map it");
    }
    // The members that have mapped the memory leave it; where some have not, it stays until the job ends.
    if (joining.area != nullptr) {
        joining.area->broken.store(1, std::memory_order_release);
        if (place == nullptr) {
            leave_area(joining.segment, joining.address, *joining.area);
        }
    }
    return nullptr;
}

} // namespace patchbay::coll::sm
