// SPDX-License-Identifier: BSD-3-Clause
#include "launch/control_socket.h"

#include <cerrno>
#include <sys/socket.h>

namespace patchbay::launch {

ControlPair make_control_pair() {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
        return {};
    }
    return {FileDescriptor(fds[0]), FileDescriptor(fds[1])};
}

bool send_signal_number(int control_fd, int signal) {
    return ::send(control_fd, &signal, sizeof signal, MSG_NOSIGNAL) == sizeof signal;
}

std::optional<int> receive_signal_number(int control_fd) {
    int signal = 0;
    ssize_t size = ::recv(control_fd, &signal, sizeof signal, MSG_DONTWAIT);
    if (size == sizeof signal) {
        return signal;
    }
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
        return std::nullopt;
    }
    return 0;
}

} // namespace patchbay::launch
