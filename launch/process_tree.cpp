// SPDX-License-Identifier: BSD-3-Clause
#include "launch/process_tree.h"

#include "launch/file_descriptor.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace patchbay::launch {

namespace {

// The id of the parent, from /proc/PID/stat; 0 if the process no longer exists.
pid_t parent_of(const char* pid) {
    std::string path = std::string("/proc/") + pid + "/stat";
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char text[512];
    ssize_t size = file ? ::read(file.get(), text, sizeof text - 1) : -1;
    if (size <= 0) {
        return 0;
    }
    text[size] = '\0';
    // PID (NAME) STATE PARENT ...; the name may hold parentheses and spaces itself.
    const char* name_end = std::strrchr(text, ')');
    if (name_end == nullptr || std::strlen(name_end) < 5) {
        return 0;
    }
    pid_t parent = 0;
    std::from_chars(name_end + 4, text + size, parent);
    return parent;
}

std::multimap<pid_t, pid_t> children_by_parent() {
    std::multimap<pid_t, pid_t> children;
    DIR* proc = ::opendir("/proc");
    if (proc == nullptr) {
        return children;
    }
    while (dirent* entry = ::readdir(proc)) {
        pid_t pid = 0;
        const char* name = entry->d_name;
        auto [end, error] = std::from_chars(name, name + std::strlen(name), pid);
        if (error != std::errc() || *end != '\0') {
            continue;
        }
        if (pid_t parent = parent_of(name); parent > 0) {
            children.emplace(parent, pid);
        }
    }
    ::closedir(proc);
    return children;
}

} // namespace

bool sees_processes() {
    char self[32];
    const ssize_t size = ::readlink("/proc/self", self, sizeof self);
    return size > 0 && std::string_view(self, static_cast<std::size_t>(size)) == std::to_string(::getpid());
}

std::vector<pid_t> descendants(std::span<const pid_t> without) {
    if (!sees_processes()) {
        return {};
    }
    std::multimap<pid_t, pid_t> children = children_by_parent();
    std::vector<pid_t> found = {::getpid()};
    for (std::size_t next = 0; next < found.size(); ++next) {
        auto [begin, end] = children.equal_range(found[next]);
        for (auto child = begin; child != end; ++child) {
            if (std::ranges::find(without, child->second) == without.end()) {
                found.push_back(child->second);
            }
        }
    }
    found.erase(found.begin());
    return found;
}

void signal_descendants(int signal) {
    for (pid_t pid : descendants()) {
        ::kill(pid, signal);
    }
}

bool has_children() {
    siginfo_t info;
    return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

} // namespace patchbay::launch
