// SPDX-License-Identifier: BSD-3-Clause
// How the processes of a node find their common segment.
#include "core/base/random.h"
#include "core/memory/node_segment.h"
#include "core/memory/shared_file.h"
#include "core/runtime/launch_environment.h"
#include "core/runtime/runtime.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay {

namespace {
constexpr char segment_key[] = "patchbay.shm";

// A pid means something only inside its pid namespace.
std::uint64_t pid_namespace() {
    struct stat space {};
    return stat("/proc/self/ns/pid", &space) == 0 ? std::uint64_t(space.st_ino) : 0;
}

// The random digits distinguish processes of containers that share the directory and may have the same pid. Nothing of
// the job's namespace may be part of the name: every user can read it.
std::string begin_of_names() {
    return "patchbay." + std::to_string(getuid()) + ".";
}
std::string file_path(const std::string& directory) {
    return directory + "/" + begin_of_names() + random_hex(16) + "." + std::to_string(getpid());
}
// A process that is about to open its file has it by then.
constexpr std::chrono::seconds longest_start{600};

// What local rank 0 publishes: "memfd <pid> <fd> <pid namespace>" or "file <path>".
struct Address {
    std::string text;
    int fd;
};

Result<Address> make_memfd() {
    Result<int> fd = shared_file::make_memfd("patchbay-node");
    if (!fd) {
        return fd.error();
    }
    return Address{
        "memfd " + std::to_string(getpid()) + " " + std::to_string(*fd) + " " + std::to_string(pid_namespace()), *fd};
}

Result<Address> make_file(const std::string& directory) {
    shared_file::remove_abandoned(directory, begin_of_names(), longest_start);
    std::string path = file_path(directory);
    Result<int> fd = shared_file::make_named(path);
    if (!fd) {
        return fd.error();
    }
    return Address{"file " + path, *fd};
}

Result<int> make(Runtime& runtime, const NodeSegmentOptions& options) {
    Result<Address> made = options.backing == ShmBacking::file ? make_file(options.directory) : make_memfd();
    if (!made && options.backing == ShmBacking::automatic) {
        made = make_file(options.directory);
    }
    if (!made) {
        return made.error();
    }
    Status published = runtime.put(segment_key, std::as_bytes(std::span(made->text)));
    if (published) {
        published = runtime.commit();
    }
    if (!published) {
        close(made->fd);
        return published.error();
    }
    return made->fd;
}

Result<int> open_memfd_of(const std::string& pid, const std::string& fd, const std::string& space) {
    const std::string remedy = "; use --mca shm_backing file";
    if (space != std::to_string(pid_namespace())) {
        return Error{Errc::system,
            "shared memory: this process and local rank 0 live in different pid namespaces "
            "(containers), so it cannot open that rank's memfd" +
                remedy};
    }
    Result<int> opened = shared_file::open_existing("/proc/" + pid + "/fd/" + fd);
    return opened ? opened : Result<int>(Error{Errc::system, opened.error().text + remedy});
}

Result<int> find(const Runtime& runtime) {
    Result<std::vector<std::byte>> published = runtime.get({own_job, runtime.local_peers()[0]}, segment_key);
    if (!published) {
        return Error{published.error().code,
            "shared memory: local rank 0 has not announced the node's segment: " + published.error().text};
    }
    std::string text(reinterpret_cast<const char*>(published->data()), published->size());
    std::size_t kind_end = text.find(' ');
    if (text.substr(0, kind_end) == "file") {
        return shared_file::open_existing(text.substr(kind_end + 1));
    }
    std::size_t pid_end = text.find(' ', kind_end + 1);
    std::size_t fd_end = text.find(' ', pid_end + 1);
    return open_memfd_of(text.substr(kind_end + 1, pid_end - kind_end - 1),
        text.substr(pid_end + 1, fd_end - pid_end - 1), text.substr(fd_end + 1));
}

// A named file is needed only until the last local rank has it; the last one to come takes the name away. Every rank
// writes its pid before it reads the others', so at least one of two that come at once sees all.
void unlink_when_complete(NodeSegment& segment, int fd) {
    if (segment.arrived() < segment.expected()) {
        return;
    }
    char path[512];
    ssize_t length = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof path - 1);
    struct stat named {};
    struct stat opened {};
    if (length <= 0) {
        return;
    }
    path[length] = '\0';
    if (stat(path, &named) == 0 && fstat(fd, &opened) == 0 && named.st_ino == opened.st_ino &&
        named.st_dev == opened.st_dev) {
        unlink(path);
    }
}
} // namespace

Result<std::unique_ptr<NodeSegment>> NodeSegment::attach(Runtime& runtime, const NodeSegmentOptions& options) {
    LaunchEnvironment& environment = LaunchEnvironment::of_process();
    // mpirun gives the same segment to the ranks of all jobs.
    const bool for_all_jobs = environment.segment_is_inherited() && options.backing != ShmBacking::file;
    if (runtime.local_size() == 1 && !for_all_jobs) {
        return create_private();
    }
    int fd = environment.segment_fd();
    if (fd < 0 && runtime.own_launcher() && options.backing != ShmBacking::file) {
        return Error{Errc::system,
            "shared memory: mpirun announced the node's segment as " + environment.value(node_segment_variable) +
                ", but this process does not have that descriptor: a program between mpirun "
                "and this one has closed it; use --mca shm_backing file"};
    }
    if (fd < 0 || (environment.segment_is_inherited() && options.backing == ShmBacking::file)) {
        Result<int> found = runtime.local_rank() == 0 ? make(runtime, options) : find(runtime);
        if (!found) {
            return found.error();
        }
        fd = *found;
        environment.keep_segment_fd(fd);
    }
    Result<std::unique_ptr<NodeSegment>> segment =
        attach_fd(fd, SlotKey{runtime.jobs().nonce_of(own_job), runtime.rank()}, runtime.local_size(), for_all_jobs);
    if (segment) {
        unlink_when_complete(**segment, fd);
    }
    return segment;
}

} // namespace patchbay
