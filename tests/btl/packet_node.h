// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/btl/btl.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <unistd.h>
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

// One process that sends numbered packets by a btl, and checks those that it receives.
class PacketNode {
public:
    explicit PacketNode(std::uint32_t rank) noexcept
        : rank(rank) {}
    PacketNode(const PacketNode&) = delete;
    PacketNode& operator=(const PacketNode&) = delete;

    // Sends the next packet to `peer`, every third one by reserve() and commit().
    btl::SendCode send(std::uint32_t peer) {
        if (peer >= sent.size()) {
            sent.resize(peer + 1);
            endpoints.resize(peer + 1);
        }
        if (endpoints[peer] == nullptr) {
            endpoints[peer] = module->connect({0, peer});
            require(endpoints[peer] != nullptr, "connect");
        }
        btl::Endpoint& to = *endpoints[peer];
        const Number number{rank, sent[peer], 0};
        const std::size_t size = fixed_size ? *fixed_size : size_of_packet(number.number, module->limits().packet);
        const std::byte* payload = content(number.number); // no copy: most calls find no room
        btl::SendCode code;
        if (number.number % 3 != 0) {
            code = module->send(to, &number, sizeof number, payload, size);
        } else {
            const auto room = module->reserve(to, sizeof number, size);
            code = room.code;
            if (code == btl::SendCode::ok) {
                require(room.room.size() == size, "room");
                std::copy(payload, payload + size, room.room.begin());
                code = module->commit(to, &number, sizeof number, size);
            }
        }
        sent[peer] += code == btl::SendCode::ok;
        return code;
    }

    // Sends `each` packets to every other one of `ranks` processes, in an order of its own in which some peers get many
    // in a row, and receives as many. wait(all_sent) is called after each poll that found nothing. Returns when all
    // processes have called this and have finished, which `ended` counts, with whether this one received what it
    // should.
    template <class Wait>
    bool exchange(std::uint32_t ranks, std::uint32_t each, std::atomic<int>& ended, const Wait& wait) {
        std::mt19937 random{rank};
        std::vector<std::uint32_t> unfinished;
        for (std::uint32_t peer = 0; peer < ranks; ++peer) {
            if (peer != rank) {
                unfinished.push_back(peer);
            }
        }
        const std::uint64_t wanted = std::uint64_t(each) * unfinished.size();
        bool counted = false;
        while (ended < int(ranks)) {
            if (!unfinished.empty()) {
                const std::size_t chosen = random() % unfinished.size();
                if (send_burst(unfinished[chosen], random() % 4 == 0 ? 40 : 1, each)) {
                    unfinished.erase(unfinished.begin() + std::ptrdiff_t(chosen));
                }
            }
            if (module->poll() == 0) {
                wait(unfinished.empty() && total < wanted);
            }
            if (!counted && unfinished.empty() && total == wanted) {
                counted = true;
                ++ended;
            }
        }
        return good && total == wanted;
    }

    static void require(bool fine, const char* what) {
        if (!fine) {
            std::fprintf(stderr, "packet node: %s\n", what);
            _exit(99);
        }
    }

    const std::uint32_t rank;
    std::vector<std::uint32_t> sent;
    std::vector<btl::Endpoint*> endpoints;
    std::map<std::uint32_t, std::uint32_t> received; // by sender
    std::uint64_t total = 0;
    std::optional<std::size_t> fixed_size;
    // Whether it has no memory for a packet of that sender now.
    std::function<bool(std::uint32_t)> lacks_memory;
    bool good = true;

protected:
    ~PacketNode() = default;

    // `used` exists as long as this object is used.
    void use(btl::Module& used) {
        module = &used;
        used.set_receiver(
            [](void* self, btl::Endpoint& from, const void* header, std::size_t, const void* payload,
                std::size_t payload_size) noexcept {
                return static_cast<PacketNode*>(self)->receive(from, header, payload, payload_size);
            },
            this);
    }

private:
    // Sends up to `burst` packets, until the module has no room. Returns whether the peer has got `each` of them.
    bool send_burst(std::uint32_t peer, unsigned burst, std::uint32_t each) {
        for (; burst > 0; --burst) {
            const btl::SendCode code = send(peer);
            require(code != btl::SendCode::failed, "send failed");
            if (sent[peer] == each) {
                return true;
            }
            if (code == btl::SendCode::full) {
                break;
            }
        }
        return false;
    }

    bool receive(btl::Endpoint& from, const void* header, const void* payload, std::size_t size) noexcept {
        Number number;
        std::memcpy(&number, header, sizeof number);
        if (lacks_memory && lacks_memory(number.from)) {
            return false;
        }
        const auto* bytes = static_cast<const std::byte*>(payload);
        std::uint32_t& next = received[number.from];
        const std::size_t wanted = fixed_size ? size : size_of_packet(number.number, module->limits().packet);
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

    btl::Module* module = nullptr;
};

} // namespace patchbay::test
