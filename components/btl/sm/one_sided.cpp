// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/sm/one_sided.h"

#include "components/btl/sm/process_copy.h"
#include "core/base/out_of_memory.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fmt/core.h>

namespace patchbay::btl::sm {

namespace {

using common::Direction;

// A key: its owner; address and number of bytes; the place in the node segment, 0 for other memory.
//
// The owner: 16 bits each are the slot, and which life of the library in the process it is; 32 are the pid.
std::uint64_t owner_word(std::uint32_t slot, pid_t pid, std::uint32_t life) noexcept {
    return std::uint64_t(slot & 0xffff) << 48 | std::uint64_t(life & 0xffff) << 32 | std::uint32_t(pid);
}
std::uint64_t address_of(const RemoteKey& key) noexcept {
    return key.words[1];
}
std::uint64_t bytes_of(const RemoteKey& key) noexcept {
    return key.words[2];
}
SharedAddress place_of(const RemoteKey& key) noexcept {
    return key.words[3];
}

Started started(int error) noexcept {
    return {error == 0 ? StartCode::done : StartCode::failed, error};
}

void notify(SmEndpoint& to, Wake wake) noexcept {
    if (wake == Wake::target) {
        to.control.bell.notify();
    }
}

pid_t pid_of(const SmEndpoint& peer) noexcept {
    return peer.control.pid.load(std::memory_order_relaxed);
}

// What Started says about a failed system call.
int public_error(int error) noexcept {
    return error == EACCES ? EPERM : error;
}

} // namespace

// A number of lives is odd while the library lives, so that a process which fails leaves an odd one behind.
SmOneSided::SmOneSided(NodeSegment& node, Port& own, const Settings& settings, DecisionLog& decisions) noexcept
    : _heap(node.heap()),
      _own(own),
      _decisions(decisions),
      _uses_cma(settings.single_copy != SingleCopy::none) {
    const std::uint32_t life = (_own.life.load(std::memory_order_relaxed) + 1) | 1;
    _own.life.store(life, std::memory_order_release);
    _owner = owner_word(node.slot(), node.own_control().pid.load(std::memory_order_relaxed), life);
}

SmOneSided::~SmOneSided() {
    _own.life.fetch_add(1, std::memory_order_release);
}

Offers SmOneSided::offers() const noexcept {
    return Offers::put | Offers::get | Offers::atomics_32 | Offers::atomics_64 | Offers::processor_atomics |
        Offers::map | Offers::notify | Offers::any_range | Offers::immediate;
}

Offers SmOneSided::offered(Endpoint& to, const RemoteKey& key) noexcept {
    const Reached reached = reach(static_cast<SmEndpoint&>(to), key);
    if (reached.mapped != nullptr) {
        return offers();
    }
    return reached.by_cma ? Offers::put | Offers::get | Offers::notify | Offers::any_range | Offers::immediate
                          : Offers::none;
}

Result<RemoteKey> SmOneSided::register_memory(void* base, std::uint64_t bytes) noexcept {
    return RemoteKey{
        {_owner, reinterpret_cast<std::uintptr_t>(base), bytes, _heap.address_of_memory(base, std::size_t(bytes))}};
}

// 0: the key is one of this peer as it is now.
int SmOneSided::owner_error(const SmEndpoint& to, const RemoteKey& key) const noexcept {
    const std::uint32_t life = to.port.life.load(std::memory_order_acquire);
    if (key.words[0] == owner_word(to.slot, pid_of(to), life)) [[likely]] {
        return 0;
    }
    const bool has_ended = life % 2 == 0;
    return has_ended && key.words[0] == owner_word(to.slot, pid_of(to), life - 1) ? ESRCH : EACCES;
}

SmOneSided::Reached SmOneSided::reach(SmEndpoint& to, const RemoteKey& key) noexcept {
    int error = owner_error(to, key);
    if (error == 0 && to.failed.load(std::memory_order_relaxed)) [[unlikely]] {
        error = ESRCH;
    }
    if (error == 0 && place_of(key) != 0) {
        if (std::byte* mapped = _heap.at(place_of(key))) [[likely]] {
            return {mapped, false, 0};
        }
    }
    error = error == 0 ? find_access(to) : error;
    return {nullptr, error == 0, error};
}

// Whether CMA works with that process: 0 or an error of Started. The result of the probe is kept; two threads may make
// it at once.
int SmOneSided::find_access(SmEndpoint& to) noexcept {
    if (!_uses_cma) {
        return EOPNOTSUPP;
    }
    int access = to.access.load(std::memory_order_relaxed);
    if (access == SmEndpoint::unknown_access) [[unlikely]] {
        const int error = probe_process(pid_of(to), to.port.token);
        if (error == ENOTCONN || error == ESRCH) {
            return ESRCH; // it is not there now; a later life may be
        }
        access = error;
        to.access.store(error, std::memory_order_relaxed);
        if (error != 0) {
            explain_refusal(to, error);
        }
    }
    return access == 0 ? 0 : EPERM;
}

void SmOneSided::explain_refusal(const SmEndpoint& to, int error) noexcept {
    unless_out_of_memory(false, [&] {
        _decisions.record("btl", fmt::format("one-sided access to rank {}", to.process.rank), "sm cma",
            Outcome::declined, 0,
            fmt::format(
                "process_vm_readv of its memory failed ({}): only shared memory is reached", std::strerror(error)));
        return true;
    });
}

std::byte* SmOneSided::map(Endpoint& to, const RemoteKey& key) noexcept {
    const bool valid = owner_error(static_cast<SmEndpoint&>(to), key) == 0;
    return valid && place_of(key) != 0 ? _heap.at(place_of(key)) : nullptr;
}

Started SmOneSided::copy(Direction direction, SmEndpoint& peer, std::span<const iovec> local, const RemoteKey& key,
    std::span<const RemotePiece> remote) noexcept {
    const Reached reached = reach(peer, key);
    const int error = reached.error != 0 ? reached.error : common::check_pieces(local, remote, bytes_of(key));
    if (error != 0) [[unlikely]] {
        return started(error);
    }
    if (reached.mapped != nullptr) {
        common::copy_mapped(direction, local, reached.mapped, remote);
        return {};
    }
    return started(public_error(copy_process(direction, pid_of(peer), local, address_of(key), remote)));
}

Started SmOneSided::put(Endpoint& to, std::span<const iovec> local, const RemoteKey& key,
    std::span<const RemotePiece> remote, Wake wake, Completion*) noexcept {
    auto& peer = static_cast<SmEndpoint&>(to);
    const Started result = copy(Direction::put, peer, local, key, remote);
    if (result.is_done()) {
        std::atomic_thread_fence(std::memory_order_release); // a target that is woken sees the bytes
        notify(peer, wake);
    }
    return result;
}

Started SmOneSided::get(Endpoint& from, std::span<const iovec> local, const RemoteKey& key,
    std::span<const RemotePiece> remote, Completion*) noexcept {
    return copy(Direction::get, static_cast<SmEndpoint&>(from), local, key, remote);
}

std::byte* SmOneSided::atomic_place(
    SmEndpoint& to, const RemoteKey& key, std::uint64_t offset, Width width, int* error) noexcept {
    const Reached reached = reach(to, key);
    if (reached.mapped == nullptr) {
        *error = reached.error != 0 ? reached.error : EOPNOTSUPP;
        return nullptr;
    }
    *error = common::check_atomic(reached.mapped, bytes_of(key), offset, width);
    return *error == 0 ? reached.mapped + offset : nullptr;
}

Started SmOneSided::fetch_op(Endpoint& to, Atomic op, Width width, const RemoteKey& key, std::uint64_t offset,
    std::uint64_t operand, void* fetched, Wake wake, Completion*) noexcept {
    auto& peer = static_cast<SmEndpoint&>(to);
    int error;
    std::byte* place = atomic_place(peer, key, offset, width, &error);
    if (place == nullptr) [[unlikely]] {
        return started(error);
    }
    common::fetch_op_mapped(place, op, width, operand, fetched);
    notify(peer, wake);
    return {};
}

Started SmOneSided::compare_swap(Endpoint& to, Width width, const RemoteKey& key, std::uint64_t offset,
    std::uint64_t compare, std::uint64_t desired, void* fetched, Wake wake, Completion*) noexcept {
    auto& peer = static_cast<SmEndpoint&>(to);
    int error;
    std::byte* place = atomic_place(peer, key, offset, width, &error);
    if (place == nullptr) [[unlikely]] {
        return started(error);
    }
    common::compare_swap_mapped(place, width, compare, desired, fetched);
    notify(peer, wake);
    return {};
}

// CMA is a system call, and has ended; a fence is all that stores to mapped memory need.
Started SmOneSided::flush(Endpoint&, Completion*) noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return {};
}

} // namespace patchbay::btl::sm
