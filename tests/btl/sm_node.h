// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/sm/module.h"
#include "core/memory/shared_file.h"
#include "tests/btl/packet_node.h"
#include "tests/core_runtime/local_job.h"
#include "tests/core_runtime/processes.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace patchbay::test {

// One process of a node: its segment and btl/sm. Several of them may be in one process of the system.
class SmNode : public PacketNode {
public:
    SmNode(int fd, std::uint32_t rank, std::uint32_t ranks, const btl::sm::Settings& settings, std::uint64_t nonce = 1)
        : PacketNode(rank),
          jobs(job_with(nonce, ranks)) {
        auto attached = NodeSegment::attach_fd(fd, {nonce, rank}, ranks, true);
        require(bool(attached), "attach");
        segment = std::move(*attached);
        auto made = btl::sm::SmModule::create(*segment, jobs, settings, decisions);
        require(bool(made), made ? "" : made.error().text.c_str());
        sm = std::move(*made);
        use(*sm);
    }

    DecisionLog decisions;
    JobTable jobs;
    std::unique_ptr<NodeSegment> segment;
    std::unique_ptr<btl::sm::SmModule> sm;
};

inline int memfd() {
    Result<int> fd = shared_file::make_memfd("sm-test");
    SmNode::require(bool(fd), "memfd");
    return *fd;
}

inline btl::sm::Settings with(unsigned rings, unsigned ring_after, std::size_t queue_size, std::uint32_t slots = 64,
    std::size_t bulk = 128 * 1024) {
    btl::sm::Settings settings;
    settings.single_copy = btl::sm::SingleCopy::none;
    settings.rings = rings;
    settings.ring_after = ring_after;
    settings.queue_size = queue_size;
    settings.shape = {slots, bulk};
    settings.eager_limit = std::min<std::size_t>(16384, settings.packet());
    return settings;
}

inline btl::sm::Settings uncached(btl::sm::Settings settings) {
    settings.stores = Stores::uncached;
    return settings;
}

struct Way {
    const char* name;
    btl::sm::Settings settings;
};
inline const Way ways[] = {
    {"rings", with(16, 16, 384 << 10)},
    {"default", with(8, 16, 384 << 10)},
    {"queue", with(0, 16, 384 << 10)},
    {"queue_without_memory", with(0, 16, 0)},
    {"switching", with(1, 1, 64 << 10)},
    {"switching_tight", with(1, 1, 0, 8, 4096)},
    {"rings_uncached", uncached(with(16, 16, 384 << 10))},
    {"queue_uncached", uncached(with(0, 16, 384 << 10))},
};

} // namespace patchbay::test
