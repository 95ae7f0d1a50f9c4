// SPDX-License-Identifier: BSD-3-Clause
#include "launch/user_socket.h"

#include "core/base/random.h"
#include "core/base/unix_socket.h"
#include "launch/report.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <memory>
#include <optional>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace patchbay::launch {

namespace {

constexpr std::string_view protocol = "2-"; // begins the name of a socket; the version of what is sent there
constexpr std::size_t random_digits = 32;
constexpr std::string_view unfinished = "."; // begins the name of a socket that does not listen yet
constexpr int attempts = 20;                 // another mpirun may remove the directory when that has become empty

bool is_private(const std::string& directory, mode_t forbidden) {
    struct stat status;
    return ::lstat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
        (status.st_mode & forbidden) == 0;
}

std::string directory_name() {
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    if (runtime != nullptr && *runtime == '/' && is_private(runtime, S_IWGRP | S_IWOTH)) {
        return std::string(runtime) + "/patchbay-names";
    }
    return "/tmp/patchbay-names-" + std::to_string(::geteuid());
}

// nullopt: the path is longer than the address of a socket may be.
std::optional<sockaddr_un> address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        return std::nullopt;
    }
    path.copy(address.sun_path, path.size());
    return address;
}

FileDescriptor make_socket() {
    return FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// The name is the final one only when the socket listens: to others a socket that does not listen is one whose process
// has ended. 0 or an errno value.
int bind_in(const std::string& directory, const std::string& file, int socket) {
    const std::string first = directory + '/' + std::string(unfinished) + file;
    const std::optional<sockaddr_un> address = address_of(first);
    if (!address) {
        return ENAMETOOLONG;
    }
    if (::bind(socket, reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
        ::listen(socket, SOMAXCONN) != 0 || ::rename(first.c_str(), (directory + '/' + file).c_str()) != 0) {
        return errno;
    }
    return 0;
}

std::vector<std::string> files_in(const std::string& directory) {
    std::vector<std::string> files;
    const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), ::closedir);
    for (const dirent* entry = nullptr; open && (entry = ::readdir(open.get())) != nullptr;) {
        if (std::string_view(entry->d_name).starts_with(protocol)) {
            files.emplace_back(entry->d_name);
        }
    }
    return files;
}

void remove_file(const std::string& path) noexcept {
    if (::unlink(path.c_str()) == 0) {
        ::rmdir(directory_name().c_str()); // if it was the last one; listen_for_user() makes it again
    }
}

// Never waits.
FileDescriptor connect_to(const std::string& path) {
    const std::optional<sockaddr_un> address = address_of(path);
    FileDescriptor socket = make_socket();
    if (!address || !socket) {
        return {};
    }
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) {
        if (errno == ECONNREFUSED) { // of a run that was killed
            remove_file(path);
        }
        return {};
    }
    return is_of_this_user(socket.get()) ? std::move(socket) : FileDescriptor();
}

} // namespace

std::string make_socket_file() {
    return std::string(protocol) + random_hex(random_digits);
}

Result<FileDescriptor> listen_for_user(const std::string& file) {
    const std::string directory = directory_name();
    int error = 0;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        if (::mkdir(directory.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
            return Error{Errc::system, "the directory " + directory + " cannot be made: " + errno_text(errno)};
        }
        FileDescriptor socket = make_socket();
        if (!is_private(directory, S_IRWXG | S_IRWXO)) {
            error = EPERM;
            continue;
        }
        error = socket ? bind_in(directory, file, socket.get()) : errno;
        if (error == 0) {
            return socket;
        }
        if (error != ENOENT) {
            break;
        }
    }
    return Error{Errc::system, "there can be no socket in the directory " + directory + ": " + errno_text(error)};
}

void remove_user_socket(const std::string& file) noexcept {
    const std::string directory = directory_name() + '/';
    remove_file(directory + file);
    remove_file(directory + std::string(unfinished) + file);
}

std::vector<FileDescriptor> connect_to_user(const std::string& own) {
    const std::string directory = directory_name();
    std::vector<FileDescriptor> sockets;
    if (!is_private(directory, S_IRWXG | S_IRWXO)) {
        return sockets;
    }
    for (const std::string& file : files_in(directory)) {
        if (file == own) {
            continue;
        }
        if (FileDescriptor socket = connect_to(directory + '/' + file)) {
            sockets.push_back(std::move(socket));
        }
    }
    return sockets;
}

FileDescriptor connect_to_user_at(const std::string& file) {
    const std::string directory = directory_name();
    if (!file.starts_with(protocol) || file.find('/') != std::string::npos ||
        !is_private(directory, S_IRWXG | S_IRWXO)) {
        return {};
    }
    return connect_to(directory + '/' + file);
}

FileDescriptor accept_from_user(int listener) {
    FileDescriptor socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    return socket && is_of_this_user(socket.get()) ? std::move(socket) : FileDescriptor();
}

} // namespace patchbay::launch
