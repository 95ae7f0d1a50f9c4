// SPDX-License-Identifier: BSD-3-Clause
#include "components/chan/rdma/receive_half.h"
#include "components/chan/rdma/send_half.h"
#include "core/base/out_of_memory.h"
#include "core/component/describe.h"
#include "core/core.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace patchbay::chan::rdma {

namespace {

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "30", "how much this component wants to serve a channel", "0..100"},
    {"inline", ParamType::size, "4KiB",
        "messages up to this size are copied through memory that both processes have mapped, where the buffer of the "
        "receiver is not mapped; longer ones are put into the buffer. The value of the receiver counts"},
    {"collective_limit", ParamType::size, "0",
        "messages of persistent collectives up to this size are faster by a channel of this component than as messages "
        "of the pml (coll_channels=auto)",
        nullptr, ParamLevel::tuner_detail},
};

class RdmaComponent final : public Component {
public:
    Status open(Core& core) override {
        _priority = int(core.params.at("chan_rdma_priority").as_int());
        _inline_limit = std::uint64_t(core.params.at("chan_rdma_inline").as_size());
        _collective_limit = std::uint64_t(core.params.at("chan_rdma_collective_limit").as_size());
        return {};
    }
    Capability capabilities() const noexcept override {
        return Capability::thread_multiple | Capability::sessions | Capability::peers_self | Capability::peers_node |
            Capability::peers_network;
    }

    Result<int> query(Context& context, const Binding& binding) override {
        return unless_out_of_memory([&]() -> Result<int> {
            auto transports = context.transports();
            if (!transports) {
                return Error{Errc::not_available, transports.error().text};
            }
            if ((*transports)->one_sided_to(binding.partner, needed) == nullptr) {
                return Error{Errc::not_available, "no btl with put, atomics and notification reaches the partner"};
            }
            if (binding.bytes > most_bytes) {
                return Error{Errc::not_available, "the message is longer than 2^48 bytes"};
            }
            return _priority;
        });
    }

    Result<Channel*> create(
        Context& context, const Binding& binding, std::span<std::byte> place, std::size_t* used) noexcept override {
        return unless_out_of_memory([&]() -> Result<Channel*> {
            auto transports = context.transports();
            if (!transports) {
                return transports.error();
            }
            auto partner = Partner::find(**transports, binding.partner);
            if (!partner) {
                return partner.error();
            }
            Offer offer;
            static_assert(sizeof offer <= most_offer_bytes);
            NodeSegment* const segment = context.core().node;
            auto shared = _shared.use(context, **transports);
            auto made = binding.side.sends
                ? SendHalf::make(context, binding, std::move(shared), *partner, segment, offer)
                : ReceiveHalf::make(context, binding, std::move(shared), *partner, segment, _inline_limit, offer);
            if (made) {
                std::memcpy(place.data(), &offer, sizeof offer);
                *used = sizeof offer;
            }
            return made;
        });
    }

    Faster faster(Context&, const Binding& binding) noexcept override {
        return _collective_limit != 0 && binding.bytes <= _collective_limit ? Faster::alone : Faster::never;
    }

private:
    int _priority = 0;
    std::uint64_t _inline_limit = 0;
    std::uint64_t _collective_limit = 0;
    Shared _shared;
};

} // namespace

} // namespace patchbay::chan::rdma

PATCHBAY_COMPONENT =
    patchbay::describe<patchbay::chan::rdma::RdmaComponent>("chan", patchbay::chan::interface_version, "rdma", "1.0.0",
        "messages put into the bound buffer by any btl with put and atomics", patchbay::chan::rdma::params);
