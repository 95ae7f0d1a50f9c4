// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/self/one_sided.h"

#include "components/common/mapped_memory.h"

#include <atomic>
#include <cerrno>
#include <unistd.h>

namespace patchbay::btl::self {

namespace {

// In the first word of a key, beside the pid: no key of another btl begins so.
constexpr std::uint64_t mark = std::uint64_t(0x5e1f) << 48;

std::byte* base_of(const RemoteKey& key) noexcept {
    return reinterpret_cast<std::byte*>(key.words[1]);
}
Started failed(int error) noexcept {
    return {StartCode::failed, error};
}

} // namespace

SelfOneSided::SelfOneSided(Progress& progress) noexcept
    : _progress(progress),
      _owner(mark | std::uint32_t(getpid())) {}

int SelfOneSided::check(
    std::span<const iovec> local, const RemoteKey& key, std::span<const RemotePiece> remote) const noexcept {
    return is_own(key) ? common::check_pieces(local, remote, key.words[2]) : EACCES;
}

int SelfOneSided::check(const RemoteKey& key, std::uint64_t offset, Width width) const noexcept {
    return is_own(key) ? common::check_atomic(base_of(key), key.words[2], offset, width) : EACCES;
}

Offers SelfOneSided::offers() const noexcept {
    return Offers::put | Offers::get | Offers::atomics_32 | Offers::atomics_64 | Offers::processor_atomics |
        Offers::map | Offers::notify | Offers::any_range | Offers::immediate;
}

Offers SelfOneSided::offered(Endpoint&, const RemoteKey& key) noexcept {
    return is_own(key) ? offers() : Offers::none;
}

Result<RemoteKey> SelfOneSided::register_memory(void* base, std::uint64_t bytes) noexcept {
    return RemoteKey{{_owner, reinterpret_cast<std::uintptr_t>(base), bytes, 0}};
}

std::byte* SelfOneSided::map(Endpoint&, const RemoteKey& key) noexcept {
    return is_own(key) ? base_of(key) : nullptr;
}

Started SelfOneSided::put(Endpoint&, std::span<const iovec> local, const RemoteKey& key,
    std::span<const RemotePiece> remote, Wake wake, Completion*) noexcept {
    if (const int error = check(local, key, remote)) {
        return failed(error);
    }
    common::copy_mapped(common::Direction::put, local, base_of(key), remote);
    std::atomic_thread_fence(std::memory_order_release);
    notify(wake);
    return {};
}

Started SelfOneSided::get(Endpoint&, std::span<const iovec> local, const RemoteKey& key,
    std::span<const RemotePiece> remote, Completion*) noexcept {
    if (const int error = check(local, key, remote)) {
        return failed(error);
    }
    common::copy_mapped(common::Direction::get, local, base_of(key), remote);
    return {};
}

Started SelfOneSided::fetch_op(Endpoint&, Atomic op, Width width, const RemoteKey& key, std::uint64_t offset,
    std::uint64_t operand, void* fetched, Wake wake, Completion*) noexcept {
    if (const int error = check(key, offset, width)) {
        return failed(error);
    }
    common::fetch_op_mapped(base_of(key) + offset, op, width, operand, fetched);
    notify(wake);
    return {};
}

Started SelfOneSided::compare_swap(Endpoint&, Width width, const RemoteKey& key, std::uint64_t offset,
    std::uint64_t compare, std::uint64_t desired, void* fetched, Wake wake, Completion*) noexcept {
    if (const int error = check(key, offset, width)) {
        return failed(error);
    }
    common::compare_swap_mapped(base_of(key) + offset, width, compare, desired, fetched);
    notify(wake);
    return {};
}

Started SelfOneSided::flush(Endpoint&, Completion*) noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return {};
}

} // namespace patchbay::btl::self
