// SPDX-License-Identifier: BSD-3-Clause
#include "launch/link.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace patchbay::launch {

namespace {

// A message is its size and its bytes.
using Size = std::uint32_t;
constexpr Size largest = 1u << 30;
constexpr std::size_t read_size = 64 * 1024;

} // namespace

std::pair<FileDescriptor, FileDescriptor> Link::make_pair() {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
        return {};
    }
    return {FileDescriptor(fds[0]), FileDescriptor(fds[1])};
}

Link::Link(EventLoop& loop, FileDescriptor socket, std::function<void(std::string_view)> received,
    std::function<void()> closed)
    : _loop(loop),
      _socket(std::move(socket)),
      _received(std::move(received)),
      _closed(std::move(closed)) {
    ::fcntl(_socket.get(), F_SETFL, O_NONBLOCK);
    watch(false);
}

Link::~Link() {
    if (_socket) {
        _loop.unwatch(_socket.get());
    }
}

void Link::watch(bool for_writing) {
    if (_writing != for_writing) {
        _loop.unwatch(_socket.get());
    }
    _writing = for_writing;
    _loop.watch(_socket.get(), EPOLLIN | (for_writing ? EPOLLOUT : 0u), [this] { ready(); });
}

void Link::send(std::string_view message) {
    if (!_socket) {
        return; // `closed` has been called
    }
    const Size size = static_cast<Size>(message.size());
    _out.append(reinterpret_cast<const char*>(&size), sizeof size);
    _out += message;
    if (!_writing) {
        write_some();
    }
}

void Link::write_some() {
    std::size_t written = 0;
    while (written < _out.size()) {
        const ssize_t size = ::send(_socket.get(), _out.data() + written, _out.size() - written, MSG_NOSIGNAL);
        if (size <= 0 && errno != EINTR) {
            break; // no room; or the other end has gone, which reading will show
        }
        written += static_cast<std::size_t>(std::max<ssize_t>(size, 0));
    }
    _out.erase(0, written);
    if (_writing != !_out.empty()) {
        watch(!_out.empty());
    }
}

void Link::ready() {
    const bool open = read_some();
    deliver();
    if (_socket && !open) {
        close();
    }
    if (_socket && !_out.empty()) {
        write_some();
    }
}

// false: the other end has gone.
bool Link::read_some() {
    char part[read_size]; // not _in itself, which writes zeros wherever it grows
    for (;;) {
        const ssize_t size = ::recv(_socket.get(), part, sizeof part, 0);
        _in.append(part, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
        if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) {
            return false;
        }
        if (size < 0 && errno == EAGAIN) {
            return true;
        }
    }
}

void Link::deliver() {
    std::size_t begin = 0;
    Size size = 0;
    while (_socket && _in.size() - begin >= sizeof size) {
        std::memcpy(&size, _in.data() + begin, sizeof size);
        if (size > largest) {
            close();
            return;
        }
        if (_in.size() - begin - sizeof size < size) {
            break;
        }
        begin += sizeof size;
        _received(std::string_view(_in).substr(begin, size));
        begin += size;
    }
    _in.erase(0, begin);
}

void Link::close() {
    _loop.unwatch(_socket.get());
    _socket.reset();
    _closed();
}

} // namespace patchbay::launch
