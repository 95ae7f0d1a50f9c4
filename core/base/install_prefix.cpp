// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/install_prefix.h"

#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <string_view>

namespace patchbay {

namespace {

// The real path of the library or program that holds this function.
std::string own_file() {
    Dl_info info = {};
    void* extra = nullptr;
    if (dladdr1(reinterpret_cast<const void*>(&own_file), &info, &extra, RTLD_DL_LINKMAP) == 0) {
        return {};
    }
    // The loader has the main program under the name by which it was called, which need not be a path of the file.
    const char* mapped_from = static_cast<const link_map*>(extra)->l_name;
    const bool is_program = mapped_from == nullptr || *mapped_from == '\0';
    char resolved[PATH_MAX];
    return realpath(is_program ? "/proc/self/exe" : mapped_from, resolved) == nullptr ? std::string() : resolved;
}

std::string parent(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string_view last_part(const std::string& path) {
    return std::string_view(path).substr(path.rfind('/') + 1);
}

} // namespace

std::string install_prefix() {
    std::string directory = parent(own_file());
    // lib/x86_64-linux-gnu is one level deeper than lib and bin.
    if (last_part(parent(directory)) == "lib") {
        directory = parent(directory);
    }
    return parent(directory);
}

std::string install_component_directory() {
    const std::string directory = parent(own_file());
    if (directory.empty()) {
        return {};
    }
    return (last_part(directory) == "bin" ? parent(directory) + "/lib" : directory) + "/patchbay";
}

} // namespace patchbay
