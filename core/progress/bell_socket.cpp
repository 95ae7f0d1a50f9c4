// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/bell_socket.h"

#include "core/base/random.h"
#include "core/base/unix_socket.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace patchbay {

namespace {
AbstractAddress address_of(const BellSocketName& name) noexcept {
    return {"bell", name.words[0], name.words[1]};
}

constexpr int kind = SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
} // namespace

Result<int> make_bell_socket(BellSocketName& name) {
    name = {{random_bits(), random_bits()}};
    const int fd = socket(AF_UNIX, kind, 0);
    const AbstractAddress address = address_of(name);
    if (fd >= 0 && bind(fd, address.get(), address.length()) == 0) {
        return fd;
    }
    Error error{Errc::system, std::string("cannot make a socket to be woken by: ") + std::strerror(errno)};
    if (fd >= 0) {
        close(fd);
    }
    return error;
}

void ring_bell_socket(const BellSocketName& name) noexcept {
    const int fd = socket(AF_UNIX, kind, 0);
    if (fd < 0) {
        return; // the sleeper looks again when its sleep is as long as it may be
    }
    const AbstractAddress address = address_of(name);
    const char packet = 0;
    sendto(fd, &packet, sizeof packet, MSG_NOSIGNAL, address.get(), address.length());
    close(fd);
}

void drain_bell_socket(int fd) noexcept {
    char packet;
    while (recv(fd, &packet, sizeof packet, MSG_DONTWAIT) >= 0) {
    }
}

} // namespace patchbay
