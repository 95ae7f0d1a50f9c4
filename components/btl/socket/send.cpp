// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/socket/event.h"
#include "components/btl/socket/module.h"
#include "core/base/out_of_memory.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/core.h>
#include <new>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utility>

namespace patchbay::btl::socket {

namespace {

constexpr int flags = MSG_DONTWAIT | MSG_NOSIGNAL;

// Up to this size, one copy here costs less than the kernel's walk through three blocks.
constexpr std::size_t copied_first = 512;

ssize_t send_copied(int fd, const Prefix& prefix, const void* header, const void* payload) noexcept {
    std::array<std::byte, copied_first> message;
    std::byte* to = message.data();
    std::memcpy(to, &prefix, sizeof prefix);
    std::memcpy(to + sizeof prefix, header, prefix.header_size);
    if (prefix.payload_size != 0) {
        std::memcpy(to + sizeof prefix + prefix.header_size, payload, prefix.payload_size);
    }
    return ::send(fd, to, sizeof prefix + prefix.header_size + prefix.payload_size, flags);
}

ssize_t send_gathered(int fd, Prefix& prefix, const void* header, const void* payload) noexcept {
    std::array<iovec, 3> blocks{{{&prefix, sizeof prefix}, {const_cast<void*>(header), prefix.header_size},
        {const_cast<void*>(payload), prefix.payload_size}}};
    msghdr message{};
    message.msg_iov = blocks.data();
    message.msg_iovlen = blocks.size();
    return sendmsg(fd, &message, flags);
}

} // namespace

SendCode SocketModule::send(
    Endpoint& to, const void* header, std::size_t header_size, const void* payload, std::size_t payload_size) noexcept {
    return transmit(static_cast<SocketEndpoint&>(to), header, header_size, payload, payload_size);
}

Module::Reservation SocketModule::reserve(Endpoint& to, std::size_t, std::size_t payload_size) noexcept {
    auto& peer = static_cast<SocketEndpoint&>(to);
    if (peer.state != SocketEndpoint::State::open) {
        return {cannot_send(peer), {}};
    }
    if (peer.stage == nullptr) {
        peer.stage.reset(new (std::nothrow) std::byte[_limits.packet]);
    }
    if (peer.stage == nullptr) {
        return {SendCode::no_memory, {}};
    }
    return {SendCode::ok, {peer.stage.get(), std::min(payload_size, _limits.packet)}};
}

SendCode SocketModule::commit(
    Endpoint& to, const void* header, std::size_t header_size, std::size_t payload_size) noexcept {
    auto& peer = static_cast<SocketEndpoint&>(to);
    return transmit(peer, header, header_size, peer.stage.get(), payload_size);
}

SendCode SocketModule::transmit(SocketEndpoint& to, const void* header, std::size_t header_size, const void* payload,
    std::size_t payload_size) noexcept {
    if (to.state != SocketEndpoint::State::open) [[unlikely]] {
        return cannot_send(to);
    }
    Prefix prefix{std::uint32_t(header_size), std::uint32_t(payload_size)};
    const std::size_t size = sizeof prefix + header_size + payload_size;
    ssize_t sent;
    do {
        sent = size <= copied_first ? send_copied(to.fd, prefix, header, payload)
                                    : send_gathered(to.fd, prefix, header, payload);
    } while (sent < 0 && errno == EINTR);
    return sent == ssize_t(size) ? SendCode::ok : not_sent(to, errno);
}

SendCode SocketModule::not_sent(SocketEndpoint& to, int error) noexcept {
    if (error == ENOBUFS || error == ENOMEM) {
        return SendCode::no_memory;
    }
    epoll_event event{};
    event.events = EPOLLOUT;
    event.data.u64 = Event::endpoint(to);
    if (error == EAGAIN && epoll_ctl(_epoll, EPOLL_CTL_MOD, to.fd, &event) == 0) {
        to.state = SocketEndpoint::State::full;
        return SendCode::full;
    }
    fail(to,
        error == EPIPE || error == ECONNRESET ? "it has ended, or has refused the connection" : std::strerror(error));
    return cannot_send(to);
}

// As a rule the launcher reports that the process has failed, a moment after its connections have ended: it ends the
// job, or the pml drops what it has for the process.
SendCode SocketModule::cannot_send(SocketEndpoint& to) noexcept {
    if (to.state != SocketEndpoint::State::failed ||
        (!to.has_reported && std::chrono::steady_clock::now() - to.failed_at < _settings.failure_wait)) {
        return SendCode::full;
    }
    if (!std::exchange(to.has_reported, true)) {
        unless_out_of_memory(false, [&] {
            log_error(fmt::format("btl/socket: nothing can be sent to process {} of job {}: {}", to.process.rank,
                to.process.job, to.problem));
            return true;
        });
    }
    return SendCode::failed;
}

} // namespace patchbay::btl::socket
