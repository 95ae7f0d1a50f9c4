// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <unistd.h>
#include <utility>

namespace patchbay::launch {

// Owns one descriptor.
class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int fd)
        : _fd(fd) {}
    FileDescriptor(FileDescriptor&& other) noexcept
        : _fd(std::exchange(other._fd, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        if (this != &other) {
            reset();
            _fd = std::exchange(other._fd, -1);
        }
        return *this;
    }
    ~FileDescriptor() { reset(); }

    int get() const { return _fd; }
    explicit operator bool() const { return _fd >= 0; }
    int release() { return std::exchange(_fd, -1); }
    void reset() {
        if (_fd >= 0) {
            ::close(_fd);
            _fd = -1;
        }
    }

private:
    int _fd = -1;
};

} // namespace patchbay::launch
