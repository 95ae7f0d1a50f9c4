// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/library/info_env.h"

#include "core/base/read_file.h"
#include "core/base/strings.h"
#include "core/runtime/runtime.h"
#include "mpi/instance/thread_levels.h"

#include <cstdlib>
#include <memory>
#include <sys/utsname.h>
#include <unistd.h>

namespace patchbay {

namespace {

std::vector<std::string> own_arguments() {
    auto read = read_file("/proc/self/cmdline");
    const std::string text = read ? std::move(*read) : std::string();
    std::vector<std::string> arguments;
    for (std::size_t at = 0; at < text.size();) {
        arguments.emplace_back(text.c_str() + at);
        at += arguments.back().size() + 1;
    }
    return arguments;
}

// A value that is too long for an info object is truncated, because people read it, not programs.
void set(Info& info, const char* key, const std::string& value) {
    info.set(key, std::string_view(value).substr(0, MPI_MAX_INFO_VAL - 1));
}

} // namespace

void fill_info_env(Info& info, const std::vector<std::string>& arguments) {
    std::vector<std::string> command = arguments.empty() ? own_arguments() : arguments;
    if (!command.empty()) {
        set(info, "command", command.front());
        command.erase(command.begin());
        set(info, "argv", join(command, " "));
    }
    char host[MPI_MAX_PROCESSOR_NAME] = {};
    if (gethostname(host, sizeof host - 1) == 0) {
        set(info, "host", host);
    }
    utsname machine{};
    if (uname(&machine) == 0) {
        set(info, "arch", machine.machine);
    }
    const std::unique_ptr<char, void (*)(void*)> directory(getcwd(nullptr, 0), std::free);
    if (directory != nullptr) {
        set(info, "wdir", directory.get());
    }
}

void fill_info_env(Info& info, const Runtime& runtime, int thread_level) {
    set(info, "maxprocs", std::to_string(runtime.size()));
    set(info, "thread_level", thread_level_name(thread_level));
}

} // namespace patchbay
