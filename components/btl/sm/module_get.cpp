// SPDX-License-Identifier: BSD-3-Clause
// Single copy: whether it is offered, and the copy.
#include "components/btl/sm/module.h"
#include "components/btl/sm/process_copy.h"
#include "core/base/out_of_memory.h"
#include "core/log.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/core.h>

namespace patchbay::btl::sm {

std::ptrdiff_t SmModule::get(Endpoint& from, std::uint64_t remote, std::span<const iovec> local) noexcept {
    auto& peer = static_cast<SmEndpoint&>(from);
    const std::ptrdiff_t got = read_process(peer.control.pid.load(std::memory_order_relaxed), remote, local);
    if (got < 0) {
        peer.readable = false;
        explain_refusal(peer, int(-got));
    }
    return got;
}

std::ptrdiff_t SmModule::put(Endpoint& to, std::uint64_t remote, std::span<const std::byte> local) noexcept {
    if (_settings.single_copy == SingleCopy::none) {
        return -EOPNOTSUPP;
    }
    const auto& peer = static_cast<SmEndpoint&>(to);
    const iovec from{const_cast<std::byte*>(local.data()), local.size()};
    const RemotePiece piece{0, local.size()};
    const int error = copy_process(common::Direction::put, peer.control.pid.load(std::memory_order_relaxed),
        std::span(&from, 1), remote, std::span(&piece, 1));
    return error == 0 ? std::ptrdiff_t(local.size()) : -error;
}

// The ring has left the caches: its first lap says nothing.
void SmModule::resume_packets(Endpoint& to) noexcept {
    static_cast<SmEndpoint&>(to).payload_copy.restart();
}

bool SmModule::can_get(Endpoint& from) noexcept {
    if (_settings.single_copy == SingleCopy::none) {
        return false;
    }
    auto& peer = static_cast<SmEndpoint&>(from);
    if (!peer.readable.has_value()) {
        const int error = probe_process(peer.control.pid.load(std::memory_order_relaxed), peer.port.token);
        peer.readable = error == 0;
        if (error != 0) {
            explain_refusal(peer, error);
        } else if (_settings.single_copy == SingleCopy::automatic && !_limits.get_is_timed && !_cost_known) {
            choose_by_cost(peer);
        }
    }
    return *peer.readable && _limits.get_from != 0;
}

// With `auto`, at the first message that single copy could fetch: from which size on it is the faster way here.
void SmModule::choose_by_cost(SmEndpoint& peer) noexcept {
    const auto cost = CopyCost::measure(peer.control.pid.load(std::memory_order_relaxed), peer.port.token);
    if (!cost) {
        return; // this peer is leaving; the next one will do
    }
    _cost_known = true;
    const std::size_t from = cost->break_even();
    _limits.get_from = from == 0 ? 0 : std::max(from, _limits.get_from);
    unless_out_of_memory(false, [&] {
        _decisions.record("btl", "single copy on this node", "sm cma", from == 0 ? Outcome::declined : Outcome::chosen,
            0, cost->text());
        return true;
    });
}

void SmModule::explain_refusal(const SmEndpoint& peer, int error) noexcept {
    unless_out_of_memory(false, [&] {
        const std::string reason = error == EREMCHG
            ? std::string("its pid names another process here (pid namespaces differ): copying through shared memory")
            : fmt::format(
                  "process_vm_readv of its memory failed ({}): copying through shared memory", std::strerror(error));
        const std::string object = fmt::format("single copy from rank {}", peer.process.rank);
        _decisions.record("btl", object, "sm cma", Outcome::declined, 0, reason);
        if (_settings.single_copy == SingleCopy::cma && error != ESRCH) { // it has failed
            log_warn(fmt::format("btl_sm_single_copy=cma was asked for, but {}: {}", object, reason));
        }
        return true;
    });
}

} // namespace patchbay::btl::sm
