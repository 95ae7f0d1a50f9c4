// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/library/info_env.h"

#include "core/base/strings.h"
#include "core/runtime/runtime.h"
#include "mpi/instance/thread_levels.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/utsname.h>
#include <unistd.h>

namespace patchbay {

namespace {

std::vector<std::string> own_arguments() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
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
    std::error_code failed;
    const auto directory = std::filesystem::current_path(failed);
    if (!failed) {
        set(info, "wdir", directory.string());
    }
}

void fill_info_env(Info& info, const Runtime& runtime, int thread_level) {
    set(info, "maxprocs", std::to_string(runtime.size()));
    set(info, "thread_level", thread_level_name(thread_level));
}

} // namespace patchbay
