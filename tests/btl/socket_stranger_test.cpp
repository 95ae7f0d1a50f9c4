// SPDX-License-Identifier: BSD-3-Clause
// Who is refused at the address of a process with btl/socket.
#include "tests/btl/few_descriptors.h"
#include "tests/btl/socket_node.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <grp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>

namespace patchbay {
namespace {
using btl::SendCode;
using btl::socket::Address;
using btl::socket::Hello;

constexpr uid_t nobody = 65534;

// Runs `body` in a process of another user. Its exit status: 0 if it returned true.
int as_nobody(const std::function<bool()>& body) {
    const pid_t child = fork();
    if (child == 0) {
        const bool changed = setgroups(0, nullptr) == 0 && setresgid(nobody, nobody, nobody) == 0 &&
            setresuid(nobody, nobody, nobody) == 0;
        _exit(!changed ? 2 : body() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool can_become_nobody() {
    return as_nobody([] { return true; }) == 0;
}

// connect_to() without a look at who listens.
int connection_to(const Address& address) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const int letters = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "patchbay-btl-%016llx%016llx",
        static_cast<unsigned long long>(address.name[0]), static_cast<unsigned long long>(address.name[1]));
    const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
    const auto length = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + std::size_t(letters));
    return connect(fd, reinterpret_cast<const sockaddr*>(&name), length) == 0 ? fd : -1;
}

// What a process that is not one of ours does at the address of rank 0.
class SocketStrangers : public test::SocketNodes {
protected:
    Hello hello_of(std::uint32_t rank) {
        Hello hello;
        hello.rank = rank;
        hello.secret = node(0).socket->address().secret;
        hello.nonce = 1;
        return hello;
    }
    // Sends `size` bytes of it and then a packet. Whether the connection has been closed, and nothing was delivered.
    bool is_refused(const Hello& hello, std::size_t size = sizeof(Hello)) {
        const std::uint64_t before = node(0).total;
        const int fd = btl::socket::connect_to(node(0).socket->address(), 1 << 20);
        EXPECT_GE(fd, 0);
        EXPECT_EQ(::send(fd, &hello, size, MSG_NOSIGNAL), ssize_t(size));
        send_packet(fd);
        poll_all();
        send_packet(fd);
        poll_all();
        char byte;
        const bool closed = recv(fd, &byte, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET;
        ::close(fd);
        poll_all();
        return closed && node(0).total == before;
    }
    static void send_packet(int fd) {
        struct {
            btl::socket::Prefix prefix{sizeof(test::Number), 0};
            test::Number number{1, 0, 0};
        } packet;
        ::send(fd, &packet, sizeof packet, MSG_NOSIGNAL);
    }
};

TEST_F(SocketStrangers, OnlyAProcessThatKnowsTheSecretIsBelieved) {
    make(2);
    ASSERT_TRUE(node(0).socket->open());
    Hello hello = hello_of(1);
    hello.secret[0] ^= 1;
    EXPECT_TRUE(is_refused(hello));
    hello = hello_of(1);
    hello.secret[1] = 0;
    EXPECT_TRUE(is_refused(hello));
    hello = hello_of(1);
    hello.version += 1;
    EXPECT_TRUE(is_refused(hello));
    EXPECT_TRUE(is_refused(hello_of(1), sizeof(Hello) - 1));
    EXPECT_TRUE(is_refused(hello_of(1), 1));
    EXPECT_TRUE(is_refused(hello_of(2))) << "the job has no such rank";
    EXPECT_TRUE(is_refused(hello_of(0))) << "the receiver itself";
    hello = hello_of(1);
    hello.nonce = 0;
    EXPECT_TRUE(is_refused(hello)) << "no job";
    EXPECT_EQ(node(0).socket->inbound_connections(), 0u);
    // The packet that is_refused() sends would be delivered if the process were believed.
    EXPECT_FALSE(is_refused(hello_of(1)));
    EXPECT_EQ(node(0).received[1], 1u);
}

TEST_F(SocketStrangers, ASecondConnectionOfAProcessIsRefused) {
    connect_pair();
    EXPECT_TRUE(is_refused(hello_of(1)));
    EXPECT_EQ(node(0).socket->inbound_connections(), 1u);
    EXPECT_EQ(node(1).send(0), SendCode::ok);
    poll_all();
    EXPECT_EQ(node(0).received[1], 2u) << "the first one stays";
}

// A packet whose sizes do not add up to that of the message is not given to the receiver.
TEST_F(SocketStrangers, ABadPacketEndsItsConnection) {
    make(2);
    ASSERT_TRUE(node(0).socket->open());
    const btl::socket::Prefix bad[] = {{24, 0}, {16, 4}, {1 << 20, 0}, {0xffffffff, 17}, {65, 0}};
    for (const btl::socket::Prefix& prefix : bad) {
        const int fd = btl::socket::connect_to(node(0).socket->address(), 1 << 20);
        const Hello hello = hello_of(1);
        ASSERT_EQ(::send(fd, &hello, sizeof hello, MSG_NOSIGNAL), ssize_t(sizeof hello));
        poll_all();
        ASSERT_EQ(node(0).socket->inbound_connections(), 1u);
        std::byte message[sizeof prefix + 16]{};
        std::memcpy(message, &prefix, sizeof prefix);
        ASSERT_EQ(::send(fd, message, sizeof message, MSG_NOSIGNAL), ssize_t(sizeof message));
        poll_all();
        EXPECT_EQ(node(0).socket->inbound_connections(), 0u);
        ::close(fd);
    }
    EXPECT_EQ(node(0).total, 0u);
}

TEST_F(SocketStrangers, AProcessOfAnotherUserIsRefused) {
    if (!can_become_nobody()) {
        GTEST_SKIP() << "this process cannot become another user";
    }
    make(2);
    ASSERT_TRUE(node(0).socket->open());
    const Hello hello = hello_of(1); // it has even learned the secret
    const Address address = node(0).socket->address();
    EXPECT_EQ(as_nobody([&] {
        // The other half of the rule: a process does not send to a listener of another user.
        return btl::socket::connect_to(address, 1 << 20) < 0 && errno == EACCES;
    }),
        0);
    auto* has_sent = test::shared_memory<std::atomic<bool>>();
    std::thread receiver([&] {
        while (!*has_sent) {
            std::this_thread::yield();
        }
        poll_all();
    });
    const int status = as_nobody([&] {
        const int fd = connection_to(address);
        const bool sent = ::send(fd, &hello, sizeof hello, MSG_NOSIGNAL) == ssize_t(sizeof hello);
        send_packet(fd);
        *has_sent = true;
        pollfd closed{fd, POLLIN, 0};
        char byte;
        return sent && ::poll(&closed, 1, 20'000) == 1 && recv(fd, &byte, 1, 0) <= 0;
    });
    *has_sent = true;
    receiver.join();
    EXPECT_EQ(status, 0);
    EXPECT_EQ(node(0).total, 0u);
    EXPECT_EQ(node(0).socket->inbound_connections(), 0u);
    EXPECT_FALSE(is_refused(hello)) << "the same message of a process of this user";
}

// A process without descriptors ends its job because of a connection, but not because of that of another user.
TEST_F(SocketStrangers, AProcessOfAnotherUserDoesNotEndTheJob) {
    if (!can_become_nobody()) {
        GTEST_SKIP() << "this process cannot become another user";
    }
    btl::socket::Settings settings;
    settings.shortage_wait = std::chrono::nanoseconds(0);
    make(2, settings);
    ASSERT_TRUE(node(0).socket->open());
    const Address address = node(0).socket->address();
    auto* connected = test::shared_memory<std::atomic<bool>>();
    std::thread other_user([&] {
        EXPECT_EQ(as_nobody([&] {
            pollfd closed{connection_to(address), POLLIN, 0};
            *connected = true;
            return closed.fd >= 0 && ::poll(&closed, 1, 20'000) == 1;
        }),
            0);
    });
    while (!*connected) {
        std::this_thread::yield();
    }
    {
        const test::NoFreeDescriptor shortage;
        for (int i = 0; i < 1000; ++i) {
            node(0).socket->poll();
        }
    }
    other_user.join();
    EXPECT_EQ(node(0).aborted, "");
    EXPECT_EQ(node(1).send(0), SendCode::ok);
    poll_all();
    EXPECT_EQ(node(0).received[1], 1u);
}

} // namespace
} // namespace patchbay
