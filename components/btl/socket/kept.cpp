// SPDX-License-Identifier: BSD-3-Clause
// What a module leaves to the next one of this process: its sockets, over which peers go on sending, and the packets
// that it has read and not delivered.
#include "components/btl/socket/event.h"
#include "components/btl/socket/module.h"

#include <cstring>
#include <sys/epoll.h>
#include <unistd.h>

namespace patchbay::btl::socket {

namespace {

struct KeptListener {
    int fd;
    std::uint32_t connections;
    Address address;
    std::uint64_t is_published;
};

struct KeptConnection {
    enum Kind : std::uint32_t { to, from, unidentified } kind;
    int fd;
    std::uint64_t nonce;
    std::uint32_t rank;
    std::uint32_t held; // bytes of a packet, which follow
};

template <class T>
void append(std::vector<std::byte>& bytes, const T& value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
}

template <class T>
T take(const std::byte*& from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    from += sizeof value;
    return value;
}

std::uint32_t size_of_packet(const std::byte* message) {
    const auto prefix = take<Prefix>(message);
    return std::uint32_t(sizeof prefix) + prefix.header_size + prefix.payload_size;
}

} // namespace

std::vector<std::byte> SocketModule::kept() const {
    std::vector<std::byte> bytes;
    KeptListener listener{_listener, 0, _address, _is_published};
    append(bytes, listener);
    const auto add = [&](KeptConnection::Kind kind, int fd, const SocketEndpoint* peer, const std::byte* held) {
        const std::uint64_t nonce = peer == nullptr ? 0 : _jobs.nonce_of(peer->process.job);
        const std::uint32_t size = held == nullptr ? 0 : size_of_packet(held);
        append(bytes, KeptConnection{kind, fd, nonce, peer == nullptr ? 0 : peer->process.rank, size});
        bytes.insert(bytes.end(), held, held + size);
        ++listener.connections;
    };
    for (const auto& [process, peer] : _endpoints) {
        if (peer->fd >= 0) {
            add(KeptConnection::to, peer->fd, peer.get(), nullptr);
        }
    }
    for (const std::unique_ptr<Inbound>& inbound : _inbound) {
        add(inbound->from == nullptr ? KeptConnection::unidentified : KeptConnection::from, inbound->fd, inbound->from,
            inbound->held.get());
    }
    std::memcpy(bytes.data(), &listener, sizeof listener);
    return bytes;
}

Status SocketModule::adopt(const std::vector<std::byte>& kept) {
    Status done = prepare_buffer();
    done = done ? make_epoll() : done;
    const std::byte* next = kept.data();
    const auto listener = take<KeptListener>(next);
    _listener = listener.fd;
    _address = listener.address;
    _is_published = listener.is_published != 0;
    _limits.unsolicited = true; // peers may have sent already
    if (done && _listener >= 0) {
        done = add_to_epoll(_listener, EPOLLIN, Event::listener());
    }
    for (std::uint32_t i = 0; i < listener.connections; ++i) {
        const auto connection = take<KeptConnection>(next);
        if (done) {
            done = adopt(connection.kind == KeptConnection::to, connection.fd, connection.nonce, connection.rank,
                {next, connection.held});
        }
        next += connection.held;
    }
    return done;
}

Status SocketModule::adopt(
    bool is_outbound, int fd, std::uint64_t nonce, std::uint32_t rank, std::span<const std::byte> held) {
    SocketEndpoint* peer = nullptr;
    if (nonce != 0) {
        Result<JobNumber> job = nonce == _jobs.nonce_of(own_job) ? Result<JobNumber>(own_job) : hold_job(nonce);
        if (!job) {
            return job.error();
        }
        peer = &endpoint_of({*job, rank});
    }
    if (is_outbound) {
        peer->fd = fd;
        peer->state = SocketEndpoint::State::open;
        return add_to_epoll(fd, 0, Event::endpoint(*peer));
    }
    auto inbound = std::make_unique<Inbound>();
    inbound->fd = fd;
    inbound->from = peer;
    if (peer != nullptr) {
        peer->sends_to_us = true;
    }
    if (!held.empty()) {
        inbound->held = std::make_unique<std::byte[]>(largest_message);
        std::memcpy(inbound->held.get(), held.data(), held.size());
        ++_held;
    }
    _inbound.push_back(std::move(inbound));
    return add_to_epoll(fd, EPOLLIN, Event::inbound(*_inbound.back()));
}

void SocketModule::close_all() noexcept {
    if (_listener >= 0) {
        ::close(_listener);
    }
    for (const auto& [process, peer] : _endpoints) {
        if (peer->fd >= 0) {
            ::close(peer->fd);
        }
    }
    for (const std::unique_ptr<Inbound>& inbound : _inbound) {
        ::close(inbound->fd);
    }
}

} // namespace patchbay::btl::socket
