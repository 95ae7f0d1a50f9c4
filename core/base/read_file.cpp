// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/read_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace patchbay {

Result<std::string> read_file(const std::string& file) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        const bool absent = errno == ENOENT || errno == ENOTDIR;
        const bool refused = errno == EACCES || errno == EPERM;
        return Error{absent ? Errc::not_found : refused ? Errc::not_available : Errc::system, std::strerror(errno)};
    }
    std::string text;
    char buffer[4096];
    ssize_t got = 0;
    while ((got = ::read(fd, buffer, sizeof(buffer))) > 0 || (got < 0 && errno == EINTR)) {
        text.append(buffer, got > 0 ? std::size_t(got) : 0);
    }
    const int read_errno = errno;
    ::close(fd);
    if (got < 0) {
        return Error{Errc::system, std::strerror(read_errno)};
    }
    return text;
}

} // namespace patchbay
