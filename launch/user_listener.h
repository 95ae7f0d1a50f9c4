// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "launch/event_loop.h"
#include "launch/file_descriptor.h"
#include "launch/link.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace patchbay::launch {

// The socket at which the other mpirun of the user reach this one (user_socket.h), and the connections that they have
// made. What is sent there is for one of several services, by its first character. Used in the event loop's thread
// only; no function waits.
class UserListener {
public:
    // `file`: the name of the socket, which no other mpirun has.
    UserListener(EventLoop& loop, std::string file)
        : _loop(loop),
          _file(std::move(file)) {}

    const std::string& file() const { return _file; }
    // Makes the socket, unless it exists. Errc::system with the reason.
    Status listen();

    using Connection = std::uint64_t; // no other one of this process has the number
    // `received` and `closed` are called from within a call of the connection's link. `closed` is called for all
    // connections that the other end has closed, also those that have sent nothing to this service.
    struct Service {
        std::function<void(Connection, std::string_view)> received;
        std::function<void(Connection)> closed;
    };
    void serve(char kind, Service service) { _services[kind] = std::move(service); }
    void send(Connection to, std::string_view message);
    // Nothing that has arrived and has not been received reaches a service any more. The connection is closed soon, but
    // not within the call.
    void close(Connection connection);

private:
    struct Accepted {
        std::unique_ptr<Link> link;
        bool closing = false;
    };

    void accept();
    void received(Connection from, std::string_view message);
    void closed(Connection connection);

    EventLoop& _loop;
    std::string _file;
    FileDescriptor _listener;
    std::map<Connection, Accepted> _connections;
    Connection _next = 1;
    std::map<char, Service> _services;
};

} // namespace patchbay::launch
