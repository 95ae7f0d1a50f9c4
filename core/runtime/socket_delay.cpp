// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/socket_delay.h"

#include <arpa/inet.h>
#include <charconv>
#include <cstdlib>
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace patchbay {

namespace {

// `wanted` is called for each TCP socket of this process.
template <class Predicate>
int set_no_delay(const Predicate& wanted) noexcept {
    DIR* directory = opendir("/proc/self/fd");
    if (directory == nullptr) {
        return 0;
    }
    int set = 0;
    while (const dirent* entry = readdir(directory)) {
        const int fd = std::atoi(entry->d_name); // 0 for "." and "..": harmless, it is examined like any other
        int protocol = 0;
        socklen_t length = sizeof protocol;
        if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) == 0 && protocol == IPPROTO_TCP && wanted(fd)) {
            const int on = 1;
            set += setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0;
        }
    }
    closedir(directory);
    return set;
}

} // namespace

int send_without_delay_where_listening() noexcept {
    return set_no_delay([](int fd) {
        int listens = 0;
        socklen_t length = sizeof listens;
        return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0 && listens != 0;
    });
}

int send_without_delay_to(const std::set<std::uint16_t>& ports) noexcept {
    return set_no_delay([&ports](int fd) {
        sockaddr_in peer{};
        socklen_t length = sizeof peer;
        return getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) == 0 && peer.sin_family == AF_INET &&
            ports.contains(ntohs(peer.sin_port));
    });
}

std::set<std::uint16_t> pmix_server_ports() {
    std::set<std::uint16_t> ports;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view variable = *entry; // PMIX_SERVER_URI41=nspace.rank;tcp4://address:port
        const std::size_t colon = variable.rfind(':');
        std::uint16_t port = 0;
        if (variable.starts_with("PMIX_SERVER_URI") && variable.find(";tcp4://") < colon &&
            std::from_chars(variable.data() + colon + 1, variable.data() + variable.size(), port).ec == std::errc()) {
            ports.insert(port);
        }
    }
    return ports;
}

} // namespace patchbay
