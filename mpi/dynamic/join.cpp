// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_join: the two processes exchange over the socket who they are; one opens a port and sends its name, to which
// the other one connects. The namespaces of their jobs, which are secrets, do not go over the socket.
#include "core/base/out_of_memory.h"
#include "core/base/random.h"
#include "core/progress/progress.h"
#include "core/runtime/runtime.h"
#include "mpi/dynamic/ports.h"
#include "mpi/instance/instance.h"
#include "object/error_cause.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace patchbay {

namespace {

constexpr char magic[8] = {'p', 'a', 't', 'c', 'h', 'b', 'a', 'y'};
constexpr int poll_milliseconds = 1; // how long this process may sleep without making MPI progress
constexpr char closed_by_other[] = "the other end has closed the socket";

// What each end sends first. The numbers are random: the end with the smaller one opens the port.
struct Greeting {
    char magic[8];
    std::uint64_t number;
};

// A stream socket that may be in either mode, and stays in its mode.
class Socket {
public:
    Socket(int fd, Progress& progress) noexcept
        : _fd(fd),
          _progress(progress) {}

    int send(const void* bytes, std::size_t size) {
        const auto* at = static_cast<const char*>(bytes);
        return transfer(size, POLLOUT,
            [&](std::size_t done) { return ::send(_fd, at + done, size - done, MSG_DONTWAIT | MSG_NOSIGNAL); });
    }
    int receive(void* bytes, std::size_t size) {
        auto* at = static_cast<char*>(bytes);
        return transfer(
            size, POLLIN, [&](std::size_t done) { return ::recv(_fd, at + done, size - done, MSG_DONTWAIT); });
    }

private:
    template <class Step>
    int transfer(std::size_t size, short events, Step&& step) {
        for (std::size_t done = 0; done < size;) {
            const ssize_t moved = step(done);
            if (moved > 0) {
                done += std::size_t(moved);
            } else if (moved == 0 || errno == EPIPE || errno == ECONNRESET) {
                return note_cause(MPI_ERR_OTHER, closed_by_other);
            } else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
                _progress.poll();
                pollfd watched{_fd, events, 0};
                ::poll(&watched, 1, poll_milliseconds);
            } else {
                return note_cause(MPI_ERR_ARG, std::string("the argument fd: ") + std::strerror(errno));
            }
        }
        return MPI_SUCCESS;
    }

    int _fd;
    Progress& _progress;
};

// While this process waits at its port: closes the port, which ends the wait, when the other end closes the socket.
class PortOfSocket {
public:
    PortOfSocket(int fd, Instance& instance, const std::string& name)
        : _fd(fd),
          _progress(instance.progress()),
          _services(instance.runtime()),
          _name(name),
          _poller(_progress.add_poller(&PortOfSocket::poll, this, between_looks)) {}
    PortOfSocket(const PortOfSocket&) = delete;
    PortOfSocket& operator=(const PortOfSocket&) = delete;
    ~PortOfSocket() {
        _poller.reset();
        _progress.quiesce(); // another thread may be in it
    }
    bool is_closed() const noexcept { return _is_closed; }

private:
    static constexpr std::chrono::milliseconds between_looks{5};

    static int poll(void* self) noexcept {
        auto& port = *static_cast<PortOfSocket*>(self);
        pollfd watched{port._fd, POLLRDHUP, 0};
        if (!port._is_closed && ::poll(&watched, 1, 0) == 1) {
            port._is_closed = true;
            static_cast<void>(unless_out_of_memory(MPI_ERR_NO_MEM, [&port] {
                static_cast<void>(port._services.close_port(port._name));
                return MPI_SUCCESS;
            }));
        }
        return 0;
    }

    const int _fd;
    Progress& _progress;
    LauncherServices _services;
    const std::string& _name;
    std::atomic<bool> _is_closed{false};
    PollerHandle _poller; // last: it begins to look
};

int greet(Socket& socket, bool* opens) {
    for (;;) {
        Greeting own{{}, random_bits()};
        Greeting other{};
        std::memcpy(own.magic, magic, sizeof magic);
        if (const int code = socket.send(&own, sizeof own); code != MPI_SUCCESS) {
            return code;
        }
        if (const int code = socket.receive(&other, sizeof other); code != MPI_SUCCESS) {
            return code;
        }
        if (std::memcmp(other.magic, magic, sizeof magic) != 0) {
            return note_cause(MPI_ERR_OTHER, "the other end of the socket does not use Patchbay MPI");
        }
        *opens = own.number < other.number;
        if (own.number != other.number) {
            return MPI_SUCCESS;
        }
    }
}

using PortName = std::array<char, MPI_MAX_PORT_NAME>;

// An empty name: the process can open no port. Nothing is under way on the socket then.
int send_port(Socket& socket, Instance& instance, std::string* name) {
    PortName text{};
    if (open_port(instance, name) != MPI_SUCCESS) {
        name->clear();
        forget_cause();
    }
    name->copy(text.data(), text.size() - 1);
    return socket.send(text.data(), text.size());
}

int receive_port(Socket& socket, std::string* name) {
    PortName text{};
    const int code = socket.receive(text.data(), text.size());
    text.back() = '\0';
    *name = text.data();
    return code;
}

int accept_from(int fd, Instance& instance, const std::string& name, std::chrono::milliseconds limit,
    Communicator& self, Communicator** made, std::string* problem) {
    int code = MPI_SUCCESS;
    bool is_closed = false;
    {
        const PortOfSocket port(fd, instance, name);
        code = connect_at_port(PortSide::accept, name, limit, 0, self, MPI_SUCCESS, made, problem);
        is_closed = port.is_closed();
    }
    static_cast<void>(close_port(instance, name));
    if (code != MPI_SUCCESS && is_closed) {
        problem->clear();
        return note_cause(MPI_ERR_OTHER, closed_by_other);
    }
    return code;
}

} // namespace

int join(int fd, Communicator& self, Communicator** made, std::string* problem) {
    *made = nullptr;
    Instance& instance = *self.instance;
    Socket socket(fd, instance.progress());
    bool opens = false;
    if (const int code = greet(socket, &opens); code != MPI_SUCCESS) {
        return code;
    }
    std::string name;
    const int code = opens ? send_port(socket, instance, &name) : receive_port(socket, &name);
    if (code != MPI_SUCCESS) {
        if (opens && !name.empty()) {
            close_port(instance, name);
        }
        return code;
    }
    if (name.empty()) {
        return MPI_SUCCESS; // MPI_COMM_NULL: processes that cannot connect (MPI-5.0, 11.10.4)
    }
    const std::chrono::milliseconds limit = connect_limit(instance);
    return opens ? accept_from(fd, instance, name, limit, self, made, problem)
                 : connect_at_port(PortSide::connect, name, limit, 0, self, MPI_SUCCESS, made, problem);
}

} // namespace patchbay
