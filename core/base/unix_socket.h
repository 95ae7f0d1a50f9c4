// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace [[gnu::visibility("default")]] patchbay {

// The address of a Unix socket in the abstract namespace: "patchbay-<kind>-" and 128 bits in hexadecimal. The name
// begins with '\0', so that it is no file's.
class AbstractAddress {
public:
    AbstractAddress(const char* kind, std::uint64_t first, std::uint64_t second) noexcept {
        _address.sun_family = AF_UNIX;
        const int written =
            std::snprintf(_address.sun_path + 1, sizeof _address.sun_path - 1, "patchbay-%s-%016llx%016llx", kind,
                static_cast<unsigned long long>(first), static_cast<unsigned long long>(second));
        _length = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + std::size_t(written));
    }
    const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&_address); }
    socklen_t length() const noexcept { return _length; }

private:
    sockaddr_un _address{};
    socklen_t _length;
};

// Whether the other end of a connected Unix socket belongs to the user of this process: the kernel stores the
// credentials of the process that called connect() or listen().
inline bool is_of_this_user(int fd) noexcept {
    ucred peer{};
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

} // namespace patchbay
