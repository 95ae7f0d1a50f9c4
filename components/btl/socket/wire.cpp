// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/socket/wire.h"

#include "core/base/random.h"
#include "core/base/unix_socket.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <sys/socket.h>
#include <unistd.h>

namespace patchbay::btl::socket {

namespace {

constexpr int kind = SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC;

// Connections that wait to be accepted; the system may allow fewer. A process that computes for a while accepts none.
constexpr int backlog = 4096;

AbstractAddress name_of(const Address& address) noexcept {
    return {"btl", address.name[0], address.name[1]};
}

int closed_with(int fd, int error) noexcept {
    if (fd >= 0) {
        close(fd);
    }
    errno = error;
    return -1;
}

} // namespace

Address random_address() noexcept {
    return {{random_bits(), random_bits()}, {random_bits(), random_bits()}};
}

int listen_at(const Address& address) noexcept {
    const AbstractAddress name = name_of(address);
    const int fd = ::socket(AF_UNIX, kind, 0);
    if (fd < 0 || bind(fd, name.get(), name.length()) != 0 || listen(fd, backlog) != 0) {
        return closed_with(fd, errno);
    }
    return fd;
}

int connect_to(const Address& address, std::size_t buffer) noexcept {
    const AbstractAddress name = name_of(address);
    const int fd = ::socket(AF_UNIX, kind, 0);
    const int half = int(std::min<std::size_t>(buffer / 2, INT_MAX / 2)); // the kernel doubles it
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &half, sizeof half) != 0) {
        return closed_with(fd, errno);
    }
    if (connect(fd, name.get(), name.length()) != 0) {
        return closed_with(fd, errno == EINTR ? EAGAIN : errno);
    }
    return is_of_this_user(fd) ? fd : closed_with(fd, EACCES);
}

int accept_own(int listener) noexcept {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    return is_of_this_user(fd) ? fd : closed_with(fd, EACCES);
}

bool is_valid(const Hello& hello, const Address& own) noexcept {
    const std::uint64_t difference =
        (hello.secret[0] ^ own.secret[0]) | (hello.secret[1] ^ own.secret[1]) | (hello.version ^ protocol_version);
    return difference == 0;
}

} // namespace patchbay::btl::socket
