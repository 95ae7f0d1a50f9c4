// SPDX-License-Identifier: BSD-3-Clause
#include "launch/output_sink.h"

#include "launch/report.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>

namespace patchbay::launch {

namespace {

bool may_block(int fd) {
    struct stat status;
    if (::fstat(fd, &status) != 0) {
        return false; // the first write will return the error
    }
    return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || (S_ISCHR(status.st_mode) && ::isatty(fd) == 1);
}

// A terminal whose reader does not read blocks a write of fewer bytes than PIPE_BUF although poll(2) reports it as
// writable. Another open description of it can be without blocking.
FileDescriptor opened_anew(int terminal) {
    const std::string link = "/proc/self/fd/" + std::to_string(terminal);
    return FileDescriptor(::open(link.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

bool writable_now(int fd) {
    pollfd poll{fd, POLLOUT, 0};
    return ::poll(&poll, 1, 0) == 1;
}

} // namespace

OutputSink::OutputSink(EventLoop& loop, int fd, FileDescriptor owned, std::string name)
    : _loop(loop),
      _owned(std::move(owned)),
      _fd(fd),
      _name(std::move(name)),
      _may_block(may_block(fd)) {
    if (_may_block && ::isatty(fd) == 1) {
        if (FileDescriptor anew = opened_anew(fd)) { // it may be the terminal of another user
            _owned = std::move(anew);
            _fd = _owned.get();
        }
    }
}

OutputSink::~OutputSink() {
    if (_watching) {
        _loop.unwatch(_fd);
    }
}

void OutputSink::append(std::string_view text) {
    if (text.empty() || _broken) {
        return;
    }
    _at_line_start = text.back() == '\n';
    _pending += text;
    if (!_watching) {
        flush();
    }
}

void OutputSink::flush() {
    while (!empty() && !_broken) {
        if ((_may_block && !writable_now(_fd)) || !write_some()) {
            if (!_watching) {
                _watching = true;
                _loop.watch(_fd, EPOLLOUT, [this] { flush(); });
            }
            return;
        }
    }
    _pending.clear();
    _written = 0;
    if (_watching) {
        _watching = false;
        _loop.unwatch(_fd);
        if (on_change && !_broken) {
            on_change("");
        }
    }
}

// A pipe that is writable according to poll(2) takes PIPE_BUF bytes without blocking, but perhaps no more.
bool OutputSink::write_some() {
    std::size_t size = _may_block ? std::min<std::size_t>(backlog(), PIPE_BUF) : backlog();
    ssize_t written = ::write(_fd, _pending.data() + _written, size);
    if (written >= 0) {
        _written += static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
        return !_may_block; // a file cannot be watched
    } else if (errno != EINTR) {
        break_off(errno);
    }
    return true;
}

void OutputSink::break_off(int error) {
    _broken = true;
    _pending.clear();
    _written = 0;
    if (on_change) {
        on_change(error == EPIPE ? "" : "cannot write to " + _name + ": " + errno_text(error));
    }
}

} // namespace patchbay::launch
