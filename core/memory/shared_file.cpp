// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/shared_file.h"

#include "core/base/strings.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace patchbay::shared_file {

namespace {
// Where the descriptor leads, for error texts: "/memfd:patchbay-node (deleted)", "/dev/shm/patchbay...".
std::string place_of(int fd) {
    char path[512];
    ssize_t length = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof path);
    return length > 0 ? std::string(path, std::size_t(length)) : "descriptor " + std::to_string(fd);
}

std::string remedy(int fd, int cause) {
    bool memfd = place_of(fd).starts_with("/memfd:");
    if (cause == ENOSPC && !memfd) {
        struct statvfs system {};
        std::string sizes;
        if (fstatvfs(fd, &system) == 0) {
            sizes = "; its file system has " + format_size(std::uint64_t(system.f_blocks) * system.f_frsize) +
                ", of which " + format_size(std::uint64_t(system.f_bavail) * system.f_frsize) + " are free";
        }
        return sizes +
            "; enlarge it (mount -o remount,size=..., docker run --shm-size=...), point shm_directory to a "
            "larger one, use --mca shm_backing memfd, or run fewer ranks per node";
    }
    if (cause == ENOSPC || cause == ENOMEM) {
        return "; raise the memory limit of the job (cgroup, container), run fewer ranks per node, or lower the sizes "
               "that the parameters of the shared-memory components ask for";
    }
    if (cause == EOPNOTSUPP) {
        return "; point shm_directory to a memory file system, or use --mca shm_backing memfd";
    }
    return "";
}

Error failure(int fd, std::uint64_t need, int cause) {
    Errc code = cause == ENOSPC || cause == ENOMEM || cause == EFBIG ? Errc::out_of_memory : Errc::system;
    return Error{code,
        "shared memory: cannot get " + format_size(need) + " in " + place_of(fd) + ": " + std::strerror(cause) +
            remedy(fd, cause)};
}

// Growing a file beyond RLIMIT_FSIZE raises SIGXFSZ, whose default is the end of the process; so look first.
Status check_file_limit(int fd, std::uint64_t bytes) {
    rlimit limit{};
    struct stat file {};
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur) {
        return {};
    }
    if (fstat(fd, &file) == 0 && std::uint64_t(file.st_size) >= bytes) {
        return {};
    }
    return Error{Errc::out_of_memory,
        "shared memory: " + place_of(fd) + " must grow to " + format_size(bytes) + ", but the limit of file sizes is " +
            format_size(limit.rlim_cur) + "; raise it (ulimit -f)"};
}
} // namespace

Result<int> make_memfd(const std::string& name) {
    int fd = memfd_create(name.c_str(), MFD_CLOEXEC);
    if (fd < 0) {
        return Error{Errc::system,
            std::string("shared memory: memfd_create failed: ") + std::strerror(errno) +
                "; use --mca shm_backing file"};
    }
    return fd;
}

Result<int> make_named(const std::string& path) {
    int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return Error{Errc::system,
            "shared memory: cannot make the file " + path + ": " + std::strerror(errno) +
                "; point shm_directory to a directory that this user can write, or use --mca "
                "shm_backing memfd"};
    }
    flock(fd, LOCK_SH | LOCK_NB);
    return fd;
}

Result<int> open_existing(const std::string& path) {
    int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return Error{Errc::system, "shared memory: cannot open " + path + ": " + std::strerror(errno)};
    }
    flock(fd, LOCK_SH | LOCK_NB);
    return fd;
}

namespace {
bool is_old(const struct stat& file, std::chrono::seconds age) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec - file.st_mtim.tv_sec >= age.count();
}

void remove_if_abandoned(int directory, const char* name, std::chrono::seconds age) noexcept {
    const int fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat file {};
    if (fd >= 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == geteuid() && is_old(file, age) &&
        flock(fd, LOCK_EX | LOCK_NB) == 0) {
        unlinkat(directory, name, 0);
    }
    if (fd >= 0) {
        close(fd);
    }
}
} // namespace

void remove_abandoned(const std::string& directory, std::string_view begin, std::chrono::seconds age) noexcept {
    const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(directory.c_str()), closedir);
    for (const dirent* entry = nullptr; open != nullptr && (entry = readdir(open.get())) != nullptr;) {
        if (std::string_view(entry->d_name).starts_with(begin)) {
            remove_if_abandoned(dirfd(open.get()), entry->d_name, age);
        }
    }
}

Status grow(int fd, std::uint64_t bytes) {
    if (Status allowed = check_file_limit(fd, bytes); !allowed) {
        return allowed;
    }
    struct stat file {};
    if (fstat(fd, &file) != 0) {
        return failure(fd, bytes, errno);
    }
    if (std::uint64_t(file.st_size) < bytes && ftruncate(fd, off_t(bytes)) != 0) {
        return failure(fd, bytes, errno);
    }
    return {};
}

Status allocate(int fd, std::uint64_t offset, std::uint64_t length) {
    if (length == 0) {
        return {};
    }
    if (Status allowed = check_file_limit(fd, offset + length); !allowed) {
        return allowed;
    }
    // On some kernels a signal undoes the whole call, so that with a timer a long one would never end: the pieces
    // become shorter then.
    constexpr std::uint64_t shortest_piece = 4096;
    std::uint64_t piece = length;
    for (std::uint64_t done = 0; done < length;) {
        const std::uint64_t next = std::min(piece, length - done);
        if (fallocate(fd, 0, off_t(offset + done), off_t(next)) == 0) {
            done += next;
        } else if (errno == EINTR) {
            piece = std::max(shortest_piece, next / 2);
        } else {
            return failure(fd, length, errno);
        }
    }
    return {};
}

bool discard(int fd, std::uint64_t offset, std::uint64_t length) noexcept {
    int result = 0;
    do {
        result = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, off_t(offset), off_t(length));
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

} // namespace patchbay::shared_file
