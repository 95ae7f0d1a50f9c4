// SPDX-License-Identifier: BSD-3-Clause
#include "components/chan/sm/receive_half.h"
#include "components/chan/sm/send_half.h"
#include "core/base/out_of_memory.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "core/runtime/runtime.h"
#include "frameworks/context.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <new>

namespace patchbay::chan::sm {

namespace {

Error refusal(const char* why) {
    return {Errc::not_available, why};
}

class SmComponent final : public Component {
public:
    Status open(Core& core) override {
        const ParamRegistry& registry = core.params;
        _settings.priority = int(registry.at("chan_sm_priority").as_int());
        _settings.ring_bytes = registry.at("chan_sm_ring_size").as_size();
        _settings.chunk_bytes = registry.at("chan_sm_chunk").as_size();
        _settings.direct_from = registry.at("chan_sm_direct_from").as_size();
        _settings.single_copy = SingleCopy(registry.at("chan_sm_single_copy").as_enum());
        _settings.copy_from = registry.at("chan_sm_copy_from").as_size();
        _settings.stores = Stores(registry.at("chan_sm_stores").as_enum());
        _settings.collective_limit = registry.at("chan_sm_collective_limit").as_size();
        _settings.collective_limit_shared = registry.at("chan_sm_collective_limit_shared").as_size();
        _settings.long_from = registry.at("chan_sm_long_from").as_size();
        return {};
    }
    void close() noexcept override { _node.reset(); }
    Capability capabilities() const noexcept override {
        return Capability::thread_multiple | Capability::sessions | Capability::peers_self | Capability::peers_node;
    }

    Result<int> query(Context& context, const Binding& binding) override {
        return unless_out_of_memory([&]() -> Result<int> { return priority_for(context, binding); });
    }

    Result<Channel*> create(
        Context& context, const Binding& binding, std::span<std::byte> offer, std::size_t* used) noexcept override {
        return unless_out_of_memory([&]() -> Result<Channel*> {
            Node& node = node_of(context);
            return binding.side.sends ? make<SendHalf>(node, binding, offer, used)
                                      : make<ReceiveHalf>(node, binding, offer, used);
        });
    }

    // A long message is copied once where it can be direct. That is half of the work where processes share cores.
    // Others copy to and from a ring at the same time, and the receiver has the data in its cache then.
    Faster faster(Context& context, const Binding& binding) noexcept override {
        const bool shares_cores = context.runtime().oversubscribed();
        const bool is_short =
            binding.bytes <= (shares_cores ? _settings.collective_limit_shared : _settings.collective_limit);
        const bool saves_a_copy =
            shares_cores && binding.bytes >= _settings.long_from && may_be_direct(context, binding);
        return (is_short ? Faster::alone : Faster::never) | (saves_a_copy ? Faster::among_others : Faster::never);
    }

private:
    // Throws std::bad_alloc.
    Result<int> priority_for(Context& context, const Binding& binding) const {
        const NodeSegment* node = context.core().node;
        if (node == nullptr) {
            return refusal("this process has no memory that it shares with others");
        }
        const ProcessId partner = binding.partner;
        if (partner != context.self() &&
            (!context.runtime().is_local(partner) || (partner.job != own_job && !node->is_for_all_jobs()))) {
            return refusal("the two processes do not share the memory of a node");
        }
        return _settings.priority;
    }
    // Whether the sender writes to the receiver's buffer, in memory that both have mapped. Only the receiver knows
    // that.
    bool may_be_direct(Context& context, const Binding& binding) const noexcept {
        const Side& side = binding.side;
        const Buffers buffers(side.buffer, side.count, *side.type, side.slackness, side.increment_bytes);
        return buffers.is_block() && binding.bytes >= _settings.direct_from &&
            (side.sends ||
                context.core().node->heap().address_of_memory(buffers.data(), std::size_t(buffers.bytes())) != 0);
    }
    // Throws std::bad_alloc.
    Node& node_of(Context& context) {
        const std::lock_guard lock(_mutex);
        if (_node == nullptr) {
            _node.reset(new Node{context, context.progress(), *context.core().node, _settings,
                UnfinishedList(context.progress()), context.runtime().oversubscribed()});
        }
        return *_node;
    }

    template <class Kind>
    static Result<Channel*> make(Node& node, const Binding& binding, std::span<std::byte> bytes, std::size_t* used) {
        auto* half = new Kind(node, binding);
        Offer offer;
        if (Status made = half->make(offer); !made) {
            half->disconnect();
            half->recycle();
            return made.error();
        }
        std::memcpy(bytes.data(), &offer, sizeof offer);
        *used = sizeof offer;
        return half;
    }

    Settings _settings;
    std::mutex _mutex;
    std::unique_ptr<Node> _node; // made for the first channel
};

} // namespace

} // namespace patchbay::chan::sm

PATCHBAY_COMPONENT = patchbay::describe<patchbay::chan::sm::SmComponent>("chan", patchbay::chan::interface_version,
    "sm", "1.0.0", "persistent channels through the memory of a node", patchbay::chan::sm::params);
