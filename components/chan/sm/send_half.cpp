// SPDX-License-Identifier: BSD-3-Clause
#include "components/chan/sm/send_half.h"

#include "object/status.h"

#include <cstring>
#include <mutex>

namespace patchbay::chan::sm {

SendHalf::SendHalf(Node& node, const Binding& binding)
    : Half(node, binding),
      _sender(Buffers(binding.side.buffer, binding.side.count, *binding.side.type, binding.side.slackness,
                  binding.side.increment_bytes),
          binding.side.slackness, binding.side.synchronous, node.settings.stores, node.segment.heap()) {}

Status SendHalf::make(Offer& offer) {
    const Settings& settings = _node.settings;
    const Side& side = binding().side;
    _geometry = Geometry::make(binding().bytes, side.slackness, settings.ring_bytes, settings.chunk_bytes, side.ready);
    auto block = allocate(SenderBlock::bytes(_geometry), offer);
    if (!block) {
        return block.error();
    }
    _block = reinterpret_cast<SenderBlock*>(block->bytes.data());
    offer.geometry = _geometry;
    offer.wants_posts = side.synchronous || binding().bytes >= settings.direct_from || wants_single_copy();
    return {};
}

int SendHalf::connect(std::span<const std::byte> partner_offer) noexcept {
    Offer receiver;
    std::byte* block = nullptr;
    Doorbell* bell = nullptr;
    if (const int code = read_offer(partner_offer, receiver, &block, &bell); code != MPI_SUCCESS) {
        return code;
    }
    _sender.connect({_block, _geometry, reinterpret_cast<ReceiverBlock*>(block), bell},
        writes_directly(receiver) ? Sender::Mode::direct : Sender::Mode::ring);
    return MPI_SUCCESS;
}

// Whether the receive buffer can be written as it was bound. The receiver may be rebound to another one, which decides
// for each message then.
bool SendHalf::writes_directly(const Offer& receiver) noexcept {
    const std::uint64_t bytes = binding().bytes;
    if (receiver.is_block == 0 || bytes == 0) {
        return false;
    }
    bool reachable = false;
    if (is_own_process()) {
        _sender.direct().set_own_process();
        reachable = true;
    }
    reachable = reachable || receiver.is_mapped != 0;
    if (!reachable && receiver.has_key != 0 && wants_single_copy()) {
        const Access access = find_access();
        if (access.module != nullptr &&
            btl::has_all(access.module->offered(*access.endpoint, receiver.key), btl::Offers::put)) {
            _sender.direct().use_put(*access.module, *access.endpoint, receiver.key);
            return true;
        }
    }
    return reachable && bytes >= _node.settings.direct_from;
}

int SendHalf::rebind(void* buffer, MPI_Count count) noexcept {
    end_quick();
    _sender.rebind(buffer, count);
    set_status_bytes(status, std::uint64_t(binding().side.type->size) * std::uint64_t(count));
    return MPI_SUCCESS;
}

// The critical path of a number of 8 bytes. What it calls is called last, so that it saves no registers.
int SendHalf::start() noexcept {
    const std::uint64_t message = _next;
    if (message >= _quick_end.load(std::memory_order_relaxed)) [[unlikely]] {
        return start_slowly();
    }
    if (_quick.bytes != 8) {
        return start_short();
    }
    std::byte* const chunk = _quick.chunks + (message & _quick.mask) * _quick.stride;
    std::memcpy(chunk + sizeof(Word), _quick.data, 8);
    publish_quickly(chunk, message, 8);
    return _quick.bell->must_be_rung() ? ring() : MPI_SUCCESS;
}

int SendHalf::start_short() noexcept {
    const std::uint64_t message = _next;
    const std::uint64_t bytes = _quick.bytes;
    std::byte* const chunk = _quick.chunks + (message & _quick.mask) * _quick.stride;
    _sender.write_payload(chunk + _quick.payload_offset, _quick.data, bytes);
    publish_quickly(chunk, message, bytes);
    return _quick.bell->must_be_rung() ? ring() : MPI_SUCCESS;
}

int SendHalf::ring() noexcept {
    _quick.bell->ring();
    return MPI_SUCCESS;
}

void SendHalf::begin_quick() noexcept {
    if (most_starts == 1 && !is_listed() && !has_failed()) {
        _quick = _sender.quick_way();
        _next = _sender.chunks();
        _is_quick = _quick.limit > _next;
        _quick_end.store(_is_quick ? _quick.limit : 0, std::memory_order_relaxed);
    }
}

void SendHalf::end_quick() noexcept {
    if (_is_quick) {
        _is_quick = false;
        _quick_end.store(0, std::memory_order_relaxed);
        _sender.catch_up(_next);
        _reported = _next;
    }
}

void SendHalf::partner_failed() noexcept {
    Half::partner_failed();
    _quick_end.store(0, std::memory_order_relaxed);
}

int SendHalf::start_slowly() noexcept {
    end_quick();
    const bool is_oldest = !is_active();
    if (has_failed()) {
        add_start(false);
        if (is_oldest) {
            check();
        }
        return MPI_SUCCESS;
    }
    const bool done = start_general();
    add_start(done);
    if (done) {
        _reported += is_oldest;
        begin_quick();
    } else {
        leave_to_poller();
    }
    return MPI_SUCCESS;
}

// Whether the message has been sent.
bool SendHalf::start_general() noexcept {
    if (is_listed()) {
        const std::lock_guard hold(lock());
        return _sender.start();
    }
    return _sender.start();
}

void SendHalf::check() noexcept {
    const bool failed = has_failed(); // before the last look
    bool done;
    if (is_listed()) {
        const std::lock_guard hold(lock());
        _sender.advance();
        done = _sender.complete() > _reported;
    } else {
        _sender.advance();
        done = _sender.complete() > _reported;
    }
    if (done) {
        end_oldest(MPI_SUCCESS);
    } else if (failed) [[unlikely]] {
        end_oldest(MPI_ERR_PROC_ABORTED);
    }
}

bool SendHalf::go_on(int* events) noexcept {
    const std::uint64_t before = _sender.chunks() + _sender.complete();
    const bool done = _sender.advance();
    *events += _sender.chunks() + _sender.complete() != before;
    return !done && !has_failed();
}

} // namespace patchbay::chan::sm
