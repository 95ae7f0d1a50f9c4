// SPDX-License-Identifier: BSD-3-Clause
#include "components/chan/sm/half.h"

#include "core/base/out_of_memory.h"
#include "object/error_cause.h"

#include <cstring>
#include <mutex>
#include <utility>

namespace patchbay::chan::sm {

namespace {
constexpr std::string_view partner_ended = "chan/sm: the partner of the channel has failed";
}

Result<SharedBlock> Half::allocate(std::size_t bytes, Offer& offer) {
    auto block = _node.segment.heap().alloc(bytes, _node.segment.slot());
    if (block) {
        reinterpret_cast<Users*>(block->bytes.data())->count.store(1, std::memory_order_relaxed);
        _own_block = block->address;
        offer.segment = _node.segment.id();
        offer.slot = _node.segment.slot();
        offer.block = block->address;
    }
    return block;
}

int Half::read_offer(std::span<const std::byte> bytes, Offer& offer, std::byte** block, Doorbell** bell) noexcept {
    if (bytes.size() != sizeof offer) {
        return note_cause(MPI_ERR_INTERN, "chan/sm: the partner has another version of this component");
    }
    std::memcpy(&offer, bytes.data(), sizeof offer);
    if (offer.segment != _node.segment.id()) {
        return note_cause(MPI_ERR_INTERN, "chan/sm: the partner does not share the memory of this node");
    }
    RankControl* const control = _node.segment.find_control(offer.slot);
    *block = _node.segment.heap().at(offer.block);
    if (control == nullptr || *block == nullptr) {
        return note_cause(MPI_ERR_NO_MEM,
            "chan/sm: the memory of the partner cannot be mapped; raise the address space limit (ulimit -v)");
    }
    *bell = &control->bell;
    _partner_block = offer.block;
    reinterpret_cast<Users*>(*block)->count.fetch_add(1, std::memory_order_relaxed);
    return MPI_SUCCESS;
}

bool Half::wants_single_copy() const noexcept {
    const Settings& settings = _node.settings;
    return binding().bytes >= settings.copy_from &&
        (settings.single_copy == SingleCopy::cma ||
            (settings.single_copy == SingleCopy::automatic && _node.shares_cores));
}

Half::Access Half::find_access() noexcept {
    return unless_out_of_memory(Access(), [&]() -> Access {
        auto transports = _node.context.transports();
        if (!transports) {
            return {};
        }
        const ProcessId partner = binding().partner;
        btl::Module* const module = (*transports)->one_sided_to(partner, btl::Offers::put | btl::Offers::any_range);
        if (module == nullptr) {
            return {};
        }
        const btl::Transports::Guard guard(**transports);
        const btl::Way way = (*transports)->connect(*module, partner);
        return way ? Access{module->one_sided(), way.endpoint} : Access();
    });
}

// The half that comes last frees a block, because the library may go down while the partner uses its half still. A
// partner that has failed does not come, and its own blocks are freed with its slot.
void Half::drop(SharedAddress& block) noexcept {
    SharedHeap& heap = _node.segment.heap();
    if (block != 0) {
        auto* const users = reinterpret_cast<Users*>(heap.at(block));
        if (users->count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            heap.free(block);
        }
        block = 0;
    }
}

void Half::disconnect() noexcept {
    _node.unfinished.remove(*this);
    if (!has_failed()) {
        drop(_partner_block);
        drop(_own_block);
    } else if (_own_block != 0) {
        _node.segment.heap().free(std::exchange(_own_block, 0));
    }
}

void Half::partner_failed() noexcept {
    _failed.store(true, std::memory_order_release);
    progress->wake();
}

bool Half::have_all_ended() noexcept {
    int events = 0;
    const std::lock_guard hold(lock());
    return !go_on(&events);
}

std::string_view Half::cause() const noexcept {
    return error == MPI_ERR_PROC_ABORTED ? partner_ended : Channel::cause();
}

} // namespace patchbay::chan::sm
