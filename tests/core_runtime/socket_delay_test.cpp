// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/socket_delay.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace patchbay {
namespace {

bool sends_at_once(int fd) {
    int on = 0;
    socklen_t length = sizeof on;
    EXPECT_EQ(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &length), 0);
    return on != 0;
}

class Listener {
public:
    Listener() {
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), length), 0);
        EXPECT_EQ(listen(fd, 1), 0);
        EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length), 0);
    }
    ~Listener() { close(fd); }
    std::uint16_t port() const { return ntohs(address.sin_port); }
    int connect_to() const {
        const int client = socket(AF_INET, SOCK_STREAM, 0);
        EXPECT_EQ(connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        return client;
    }

    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
};

TEST(SocketDelay, AcceptedConnectionsInheritIt) {
    Listener listener;
    EXPECT_EQ(send_without_delay_where_listening(), 1);
    const int client = listener.connect_to();
    const int accepted = accept(listener.fd, nullptr, nullptr);
    EXPECT_TRUE(sends_at_once(accepted));
    EXPECT_FALSE(sends_at_once(client));
    close(client);
    close(accepted);
}

TEST(SocketDelay, OnlyConnectionsToThesePorts) {
    Listener listener, other;
    const int wanted = listener.connect_to(), not_wanted = other.connect_to();
    EXPECT_EQ(send_without_delay_to({listener.port()}), 1);
    EXPECT_TRUE(sends_at_once(wanted));
    EXPECT_FALSE(sends_at_once(not_wanted));
    EXPECT_FALSE(sends_at_once(listener.fd));
    close(wanted);
    close(not_wanted);
}

TEST(SocketDelay, FindsTheServersPorts) {
    setenv("PMIX_SERVER_URI41", "job-1.0;tcp4://127.0.0.1:34567", 1);
    setenv("PMIX_SERVER_URI2", "job-1.0;tcp4://127.0.0.1:4000", 1);
    setenv("PMIX_SERVER_URI3", "job:1.0;usock:77", 1);
    EXPECT_EQ(pmix_server_ports(), (std::set<std::uint16_t>{34567, 4000}));
}

} // namespace
} // namespace patchbay
