// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/sm/module.h"
#include "core/memory/shared_file.h"
#include "tests/core_runtime/local_job.h"
#include "tests/core_runtime/processes.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

namespace patchbay::test {

// A packet of these tests: who has sent it, the how-manieth it is on its way, and a payload that follows from that.
struct Number {
    std::uint32_t from;
    std::uint32_t number;
    std::uint64_t unused; // 16 bytes, as most headers
};

// The payload of a packet of at most 64 KiB.
inline const std::byte* content(std::uint32_t number) {
    static const std::vector<std::byte> bytes = [] {
        std::vector<std::byte> made(65536 + 256);
        for (std::size_t at = 0; at < made.size(); ++at) {
            made[at] = std::byte(at + (at >> 8));
        }
        return made;
    }();
    return bytes.data() + number % 256;
}

inline std::size_t size_of_packet(std::uint32_t number, std::size_t largest) {
    static constexpr std::size_t sizes[] = {0, 8, 40, 41, 88, 89, 300, 1025, 4096, 7000, 16384, 20000, 32768};
    return std::min(sizes[number * 7 % std::size(sizes)], largest);
}

// One process of a node: its segment and btl/sm. Several of them may be in one process of the system.
class SmNode {
public:
    SmNode(int fd, std::uint32_t rank, std::uint32_t ranks, const btl::sm::Settings& settings, std::uint64_t nonce = 1)
        : jobs(job_with(nonce, ranks)) {
        auto attached = NodeSegment::attach_fd(fd, {nonce, rank}, ranks, true);
        require(bool(attached), "attach");
        segment = std::move(*attached);
        auto made = btl::sm::SmModule::create(*segment, jobs, settings, decisions);
        require(bool(made), made ? "" : made.error().text.c_str());
        sm = std::move(*made);
        sm->set_receiver(
            [](void* self, btl::Endpoint& from, const void* header, std::size_t, const void* payload,
                std::size_t payload_size) noexcept {
                return static_cast<SmNode*>(self)->receive(from, header, payload, payload_size);
            },
            this);
        this->rank = rank;
    }

    // Sends the next packet to `peer`, every third one by reserve() and commit().
    btl::SendCode send(std::uint32_t peer) {
        if (peer >= sent.size()) {
            sent.resize(peer + 1);
            endpoints.resize(peer + 1);
        }
        if (endpoints[peer] == nullptr) {
            endpoints[peer] = sm->connect({0, peer});
            require(endpoints[peer] != nullptr, "connect");
        }
        btl::Endpoint& to = *endpoints[peer];
        const Number number{rank, sent[peer], 0};
        const std::size_t size = fixed_size ? *fixed_size : size_of_packet(number.number, sm->limits().packet);
        const std::vector<std::byte> payload(content(number.number), content(number.number) + size);
        btl::SendCode code;
        if (number.number % 3 != 0) {
            code = sm->send(to, &number, sizeof number, payload.data(), size);
        } else {
            const auto room = sm->reserve(to, sizeof number, size);
            code = room.code;
            if (code == btl::SendCode::ok) {
                require(room.room.size() == size, "room");
                std::copy(payload.begin(), payload.end(), room.room.begin());
                code = sm->commit(to, &number, sizeof number, size);
            }
        }
        sent[peer] += code == btl::SendCode::ok;
        return code;
    }

    static void require(bool fine, const char* what) {
        if (!fine) {
            std::fprintf(stderr, "sm_test: %s\n", what);
            _exit(99);
        }
    }

    std::uint32_t rank = 0;
    DecisionLog decisions;
    JobTable jobs;
    std::unique_ptr<NodeSegment> segment;
    std::unique_ptr<btl::sm::SmModule> sm;
    std::vector<std::uint32_t> sent;
    std::vector<btl::Endpoint*> endpoints;
    std::map<std::uint32_t, std::uint32_t> received; // by sender
    std::uint64_t total = 0;
    std::optional<std::size_t> fixed_size;
    // Whether it has no memory for a packet of that sender now.
    std::function<bool(std::uint32_t)> lacks_memory;
    bool good = true;

private:
    bool receive(btl::Endpoint& from, const void* header, const void* payload, std::size_t size) noexcept {
        Number number;
        std::memcpy(&number, header, sizeof number);
        if (lacks_memory && lacks_memory(number.from)) {
            return false;
        }
        const auto* bytes = static_cast<const std::byte*>(payload);
        std::uint32_t& next = received[number.from];
        const std::size_t wanted = fixed_size ? size : size_of_packet(number.number, sm->limits().packet);
        const bool intact = std::equal(bytes, bytes + size, content(number.number));
        if (number.from != from.process.rank || number.number != next || size != wanted || !intact) {
            std::fprintf(stderr, "rank %u: packet %u of %u (%zu bytes) from %u, wanted %u\n", rank, number.number,
                number.from, size, from.process.rank, next);
            good = false;
        }
        next = number.number + 1;
        ++total;
        return true;
    }
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
    settings.stores = btl::sm::Stores::uncached;
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
