// SPDX-License-Identifier: BSD-3-Clause
#include "launch/user_listener.h"

#include "launch/user_socket.h"

#include <sys/epoll.h>

namespace patchbay::launch {

Status UserListener::listen() {
    if (_listener) {
        return {};
    }
    Result<FileDescriptor> listener = listen_for_user(_file);
    if (!listener) {
        return listener.error();
    }
    _listener = std::move(*listener);
    _loop.watch(_listener.get(), EPOLLIN, [this] { accept(); });
    return {};
}

void UserListener::accept() {
    FileDescriptor socket = accept_from_user(_listener.get());
    if (!socket) {
        return;
    }
    const Connection number = _next++;
    _connections[number].link = std::make_unique<Link>(
        _loop, std::move(socket), [this, number](std::string_view message) { received(number, message); },
        [this, number] { closed(number); });
}

void UserListener::received(Connection from, std::string_view message) {
    if (_connections[from].closing) {
        return;
    }
    const auto service = message.empty() ? _services.end() : _services.find(message.front());
    if (service == _services.end()) {
        send(from, ""); // the answer to a question that is none
        return;
    }
    service->second.received(from, message);
}

void UserListener::closed(Connection connection) {
    if (_connections[connection].closing) {
        return;
    }
    for (const auto& [kind, service] : _services) {
        if (service.closed) {
            service.closed(connection);
        }
    }
    close(connection);
}

void UserListener::close(Connection connection) {
    if (const auto found = _connections.find(connection); found != _connections.end()) {
        found->second.closing = true;
    }
    _loop.post([this, connection] { _connections.erase(connection); });
}

void UserListener::send(Connection to, std::string_view message) {
    if (const auto found = _connections.find(to); found != _connections.end()) {
        found->second.link->send(message);
    }
}

} // namespace patchbay::launch
