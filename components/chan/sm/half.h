// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/chan/sm/settings.h"
#include "components/chan/sm/shared.h"
#include "components/chan/sm/unfinished.h"
#include "core/memory/node_segment.h"
#include "frameworks/btl/transports.h"
#include "frameworks/chan/chan.h"
#include "frameworks/context.h"

#include <span>

namespace patchbay::chan::sm {

// What a half tells the other one.
struct Offer {
    std::uint64_t segment = 0;
    SharedAddress block = 0;
    std::uint32_t slot = 0;
    Geometry geometry{};          // of the sender
    std::uint8_t wants_posts = 0; // the sender reads what the receiver posts
    std::uint8_t is_block = 0;    // the receive buffer
    std::uint8_t is_mapped = 0;   // the receive buffer
    std::uint8_t has_key = 0;
    btl::RemoteKey key; // of the whole address space of the receiver
};
static_assert(sizeof(Offer) <= most_offer_bytes);

// What the halves of one process have in common.
struct Node {
    Context& context;
    Progress& progress;
    NodeSegment& segment;
    const Settings& settings;
    UnfinishedList unfinished;
    bool shares_cores;
};

// What both kinds of halves are: a request, a block in the memory of the node, and a partner that has another one.
class Half : public Channel, protected Unfinished {
public:
    void disconnect() noexcept final;
    void partner_failed() noexcept override;
    bool have_all_ended() noexcept final;
    std::string_view cause() const noexcept final;

protected:
    Half(Node& node, const Binding& binding)
        : Channel(node.progress, binding),
          Unfinished(node.progress),
          _node(node) {
        checks_itself = true;
    }
    ~Half() override = default;

    // Allocates this half's block. Errors: those of the heap.
    Result<SharedBlock> allocate(std::size_t bytes, Offer& offer);
    // What the partner has told: its block and the bell of its process. An MPI code.
    int read_offer(std::span<const std::byte> bytes, Offer& offer, std::byte** block, Doorbell** bell) noexcept;
    // A way to read and write the partner's private memory; none: there is no such btl.
    struct Access {
        btl::OneSided* module = nullptr;
        btl::Endpoint* endpoint = nullptr;
    };
    Access find_access() noexcept;
    bool wants_single_copy() const noexcept;
    bool is_own_process() const noexcept { return binding().partner == _node.context.self(); }

    bool has_failed() const noexcept { return _failed.load(std::memory_order_acquire); }
    // For check(): ends the oldest start.
    void end_oldest(int code) noexcept {
        error = code;
        ++_reported;
        progress->with_thread_level([this](bool) { complete_oldest(); });
    }
    // Continues what the present thread cannot finish now.
    void leave_to_poller() noexcept { _node.unfinished.add(*this); }

    Node& _node;
    std::uint64_t _reported = 0; // starts whose end the program can see

private:
    int retire() noexcept final {
        delete this;
        return MPI_SUCCESS;
    }
    void drop(SharedAddress& block) noexcept;

    SharedAddress _own_block = 0;
    SharedAddress _partner_block = 0;
    std::atomic<bool> _failed{false};
};

} // namespace patchbay::chan::sm
