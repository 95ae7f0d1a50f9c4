// SPDX-License-Identifier: BSD-3-Clause
#include "core/component/plugin_file.h"

#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay {

namespace {

// What is behind the end of the file reads as an empty segment.
template <class T>
T read_at(int descriptor, std::uint64_t place) noexcept {
    T value{};
    const ssize_t size = ::pread(descriptor, &value, sizeof value, off_t(place));
    return size == ssize_t(sizeof value) ? value : T{};
}

// Whether all segments of an ELF file are in its `size` bytes.
bool is_whole(int descriptor, std::uint64_t size) noexcept {
    const auto header = read_at<ElfW(Ehdr)>(descriptor, 0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
        return true;
    }
    for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
        const std::uint64_t place = header.e_phoff + i * sizeof(ElfW(Phdr));
        const auto segment = read_at<ElfW(Phdr)>(descriptor, place);
        if (place + sizeof segment > size || segment.p_offset + segment.p_filesz > size) {
            return false;
        }
    }
    return true;
}

} // namespace

const char* fault_of_plugin_file(const std::string& file) noexcept {
    struct stat status {};
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) {
        return nullptr;
    }
    const char* fault = nullptr;
    if (::fstat(descriptor, &status) == 0 && !S_ISREG(status.st_mode)) {
        fault = "it is no regular file";
    } else if (!is_whole(descriptor, std::uint64_t(status.st_size))) {
        fault = "it is shorter than its headers say; copy it again";
    }
    ::close(descriptor);
    return fault;
}

} // namespace patchbay
