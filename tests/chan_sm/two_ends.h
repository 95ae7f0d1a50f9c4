// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The two halves of a transfer in two processes, or in two threads of one.
#include "components/chan/sm/receiver.h"
#include "components/chan/sm/sender.h"
#include "core/memory/node_segment.h"
#include "core/memory/shared_file.h"
#include "core/progress/waiter.h"
#include "object/handle.h"
#include "tests/core_runtime/processes.h"
#include "tests/core_runtime/sleeping.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <unistd.h>

namespace patchbay::chan::sm {

inline void require(bool good, const char* what) {
    if (!good) {
        std::fprintf(stderr, "%s failed\n", what);
        std::abort();
    }
}

inline int node_file() {
    Result<int> fd = shared_file::make_memfd("chan-sm-test");
    require(bool(fd), "memfd");
    return *fd;
}

// What is the same in both processes.
struct Plan {
    std::uint32_t slackness = 1;
    std::size_t ring_bytes = std::size_t(128) << 10;
    std::size_t chunk_bytes = 8192;
    bool synchronous = false;
    bool direct = false;
    Stores stores = Stores::automatic;
};

// Memory that the processes share beside the segment: how each learns of the other's block.
struct Board {
    std::atomic<std::uint64_t> sender;
    std::atomic<std::uint64_t> receiver;
    std::atomic<std::uint32_t> step; // of a test
};

class End {
public:
    End(int fd, std::uint32_t rank, const WaitPolicy& policy)
        : _progress(false, policy) {
        auto attached = NodeSegment::attach_fd(fd, {1, rank}, 2);
        require(bool(attached), "attach");
        segment = std::move(*attached);
        require(bool(register_all_cores_barrier()), "membarrier");
        _progress.set_doorbell(&segment->own_control().bell);
    }
    ~End() { _progress.set_doorbell(nullptr); }

    Progress& progress() { return _progress; }
    template <class Done>
    void wait(const Done& done) {
        wait_until(_progress, done);
    }

    std::unique_ptr<NodeSegment> segment;

protected:
    std::byte* allocate(std::size_t bytes, std::atomic<std::uint64_t>& shown) {
        auto block = segment->heap().alloc(bytes, segment->slot());
        require(bool(block), "alloc");
        shown.store(block->address, std::memory_order_release);
        return block->bytes.data();
    }
    std::byte* find(const std::atomic<std::uint64_t>& shown) {
        while (shown.load(std::memory_order_acquire) == 0) {
            usleep(50);
        }
        return segment->heap().at(shown.load(std::memory_order_relaxed));
    }
    Doorbell& bell_of(std::uint32_t rank) {
        auto slot = segment->slot_of({1, rank});
        require(bool(slot), "slot");
        return segment->find_control(*slot)->bell;
    }

    Progress _progress;
};

// Process 0.
class SendEnd : public End {
public:
    SendEnd(int fd, Board& board, const Plan& plan, const WaitPolicy& policy, const Buffers& buffers)
        : End(fd, 0, policy),
          sender(buffers, plan.slackness, plan.synchronous, plan.stores, segment->heap()),
          geometry(Geometry::make(buffers.bytes(), plan.slackness, plan.ring_bytes, plan.chunk_bytes)) {
        auto* own = reinterpret_cast<SenderBlock*>(allocate(SenderBlock::bytes(geometry), board.sender));
        sender.connect({own, geometry, reinterpret_cast<ReceiverBlock*>(find(board.receiver)), &bell_of(1)},
            plan.direct ? Sender::Mode::direct : Sender::Mode::ring);
    }
    void wait_for(std::uint64_t messages) {
        wait([&] {
            sender.advance();
            return sender.complete() >= messages;
        });
    }
    Sender sender;
    Geometry geometry;
};

// Process 1.
class ReceiveEnd : public End {
public:
    ReceiveEnd(int fd, Board& board, const Plan& plan, const WaitPolicy& policy)
        : End(fd, 1, policy),
          _board(board),
          _plan(plan) {}
    // Behind the constructor, because buffers may be in the segment.
    void begin(const Buffers& buffers) {
        receiver = std::make_unique<Receiver>(buffers, _plan.slackness, segment->heap());
        auto* own = reinterpret_cast<ReceiverBlock*>(allocate(ReceiverBlock::bytes(_plan.slackness), _board.receiver));
        receiver->connect(
            {own, reinterpret_cast<SenderBlock*>(find(_board.sender)),
                Geometry::make(buffers.bytes(), _plan.slackness, _plan.ring_bytes, _plan.chunk_bytes), &bell_of(0)},
            _plan.direct || _plan.synchronous);
    }
    void wait_for(std::uint64_t messages) {
        wait([&] {
            while (receiver->ended() != receiver->started() && receiver->advance()) {
            }
            return receiver->ended() >= messages;
        });
    }
    std::unique_ptr<Receiver> receiver;

private:
    Board& _board;
    const Plan& _plan;
};

inline const Datatype& bytes_type() {
    return *to_object<Datatype>(MPI_BYTE);
}

// The byte of message `number` at `place`.
inline std::byte content(std::uint64_t number, std::size_t place) {
    return std::byte((number * 131 + place * 7 + place / 251) & 0xff);
}
inline void fill(std::byte* buffer, std::uint64_t number, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
        buffer[i] = content(number, i);
    }
}
inline bool holds(const std::byte* buffer, std::uint64_t number, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
        if (buffer[i] != content(number, i)) {
            std::fprintf(stderr, "message %llu differs at byte %zu of %zu\n", (unsigned long long)number, i, bytes);
            return false;
        }
    }
    return true;
}

} // namespace patchbay::chan::sm
