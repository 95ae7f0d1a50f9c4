// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/install_prefix.h"

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <link.h>
#include <span>
#include <string_view>

namespace patchbay {

namespace {

// What was loaded at an address, by the name that the loader has for it.
struct LoadedFile {
    std::uintptr_t address;
    const char* name = nullptr;
};

// For dl_iterate_phdr, which calls it for each loaded file until the result is not 0.
int compare(dl_phdr_info* loaded, std::size_t, void* wanted) noexcept {
    auto& file = *static_cast<LoadedFile*>(wanted);
    for (const ElfW(Phdr) & part : std::span(loaded->dlpi_phdr, loaded->dlpi_phnum)) {
        if (part.p_type == PT_LOAD && file.address - loaded->dlpi_addr - part.p_vaddr < part.p_memsz) {
            file.name = loaded->dlpi_name;
            return 1;
        }
    }
    return 0;
}

// The real path of the library or program that holds this function. dladdr finds it too, but looks through all
// symbols of the file for the nearest one.
std::string find_own_file() {
    LoadedFile own{reinterpret_cast<std::uintptr_t>(&find_own_file)};
    if (dl_iterate_phdr(compare, &own) == 0) {
        return {};
    }
    // The loader has the main program under the name by which it was called, which need not be a path of the file.
    const bool is_program = own.name == nullptr || *own.name == '\0';
    char resolved[PATH_MAX];
    return realpath(is_program ? "/proc/self/exe" : own.name, resolved) == nullptr ? std::string() : resolved;
}

// A process stays with the installation that it was started from. Never destroyed: a program may call MPI in its static
// destructors.
const std::string& own_file() {
    static const auto& file = *new std::string(find_own_file());
    return file;
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
