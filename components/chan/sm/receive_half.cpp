// SPDX-License-Identifier: BSD-3-Clause
#include "components/chan/sm/receive_half.h"

#include "object/status.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace patchbay::chan::sm {

namespace {
Buffers buffers_of(const Side& side) noexcept {
    return {side.buffer, side.count, *side.type, side.slackness, side.increment_bytes};
}
} // namespace

ReceiveHalf::ReceiveHalf(Node& node, const Binding& binding)
    : Half(node, binding),
      _receiver(buffers_of(binding.side), binding.side.slackness, node.segment.heap()) {}

Status ReceiveHalf::make(Offer& offer) {
    const Side& side = binding().side;
    auto block = allocate(ReceiverBlock::bytes(side.slackness), offer);
    if (!block) {
        return block.error();
    }
    _block = reinterpret_cast<ReceiverBlock*>(block->bytes.data());
    const Buffers buffers = buffers_of(side);
    offer.is_block = buffers.is_block();
    if (!buffers.is_block() || binding().bytes == 0) {
        return {};
    }
    offer.is_mapped = _node.segment.heap().address_of_memory(buffers.data(), std::size_t(buffers.bytes())) != 0;
    if (offer.is_mapped == 0 && wants_single_copy()) {
        const Access access = find_access();
        if (access.module != nullptr) {
            if (auto key = access.module->register_memory(nullptr, UINT64_MAX)) {
                offer.key = *key;
                offer.has_key = 1;
            }
        }
    }
    _is_reachable = offer.is_mapped != 0 || offer.has_key != 0;
    return {};
}

int ReceiveHalf::connect(std::span<const std::byte> partner_offer) noexcept {
    Offer sender;
    std::byte* block = nullptr;
    Doorbell* bell = nullptr;
    if (const int code = read_offer(partner_offer, sender, &block, &bell); code != MPI_SUCCESS) {
        return code;
    }
    // Nothing is posted for a sender that cannot write to the buffer. A program may bind the request to another buffer.
    const bool posts = sender.wants_posts != 0 && (binding().side.ready || _is_reachable || is_own_process());
    _receiver.connect({_block, reinterpret_cast<SenderBlock*>(block), sender.geometry, bell}, posts);
    _drains = !_receiver.ring_holds_all();
    return MPI_SUCCESS;
}

int ReceiveHalf::rebind(void* buffer, MPI_Count count) noexcept {
    end_quick(false);
    _receiver.rebind(buffer, count);
    return MPI_SUCCESS;
}

int ReceiveHalf::start() noexcept {
    if (_quick.chunks == nullptr) [[unlikely]] {
        return start_slowly();
    }
    set_active();
    return MPI_SUCCESS;
}

int ReceiveHalf::start_slowly() noexcept {
    _quick = _receiver.quick_way();
    if (_quick.chunks != nullptr) {
        set_active();
        return MPI_SUCCESS;
    }
    if (is_listed()) {
        const std::lock_guard hold(lock());
        _receiver.start();
    } else {
        _receiver.start();
    }
    add_start(false);
    if (_drains) {
        leave_to_poller();
    }
    return MPI_SUCCESS;
}

void ReceiveHalf::end_quick(bool started) noexcept {
    if (_quick.chunks != nullptr) {
        _receiver.catch_up(_quick.next, _quick.next + started);
        _reported = _quick.next;
        _quick.chunks = nullptr;
    }
}

// The critical path of a short message that has the length of the buffer.
void ReceiveHalf::check() noexcept {
    if (_quick.chunks == nullptr) [[unlikely]] {
        check_slowly();
        return;
    }
    const std::uint64_t message = _quick.next;
    const std::uint64_t bytes = _quick.bytes;
    std::byte* const chunk = _quick.chunks + (message & _quick.mask) * _quick.stride;
    const std::uint64_t word = reinterpret_cast<Word*>(chunk)->load(std::memory_order_acquire);
    if (word != ChunkWord::make(message, ChunkWord::last | bytes) || bytes != status_bytes(status) ||
        error != MPI_SUCCESS) [[unlikely]] {
        if (ChunkWord::is_of(word, message) || has_failed()) {
            end_quick(true);
            check_slowly();
        }
        return;
    }
    if (bytes == 8) [[likely]] {
        std::memcpy(_quick.data, chunk + sizeof(Word), 8);
    } else {
        common::copy_any(_quick.data, chunk + _quick.payload_offset, bytes);
    }
    _quick.next = message + 1;
    if (_quick.next >= _quick.publish_at) [[unlikely]] {
        _quick.publish_at = _receiver.publish_quickly(_quick.next);
    }
    progress->with_thread_level([this](bool) { complete_oldest(); });
}

// Whether the oldest start has ended that the program does not know of.
bool ReceiveHalf::has_ended() noexcept {
    if (is_listed()) [[unlikely]] {
        const std::lock_guard hold(lock());
        return _receiver.ended() > _reported || _receiver.advance();
    }
    return _receiver.ended() > _reported || _receiver.advance();
}

void ReceiveHalf::check_slowly() noexcept {
    const bool failed = has_failed(); // before the last look
    if (has_ended()) {
        const std::uint64_t length = _receiver.length(_reported);
        if (length != status_bytes(status) || error != MPI_SUCCESS || length > _receiver.capacity()) [[unlikely]] {
            report(length);
        } else {
            end_oldest(MPI_SUCCESS);
        }
    } else if (failed) [[unlikely]] {
        end_oldest(MPI_ERR_PROC_ABORTED);
    }
}

void ReceiveHalf::report(std::uint64_t length) noexcept {
    const std::uint64_t capacity = _receiver.capacity();
    set_status_bytes(status, std::min(length, capacity));
    end_oldest(length > capacity ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
}

bool ReceiveHalf::go_on(int* events) noexcept {
    const std::uint64_t before = _receiver.chunks();
    while (_receiver.ended() != _receiver.started() && _receiver.advance()) {
    }
    *events += _receiver.chunks() != before;
    return _receiver.ended() != _receiver.started() && !has_failed();
}

} // namespace patchbay::chan::sm
