// SPDX-License-Identifier: BSD-3-Clause
// Inquiries about the library and the machine, time, memory and addresses (MPI-5.0, 9.1, 9.2, 9.6, 5.1.5). Except for
// those on memory and addresses, these functions may be called before MPI_Init and after MPI_Finalize, by any thread.
#include "core/memory/node_allocations.h"
#include "mpi/api/args.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <unistd.h>

namespace patchbay::api {

namespace {

// Copies a text and a terminator to a buffer of `room` characters; *length does not include the terminator.
void copy_text(std::string_view text, char* target, std::size_t room, int* length) noexcept {
    const std::size_t copied = std::min(text.size(), room - 1);
    std::memcpy(target, text.data(), copied);
    target[copied] = '\0';
    *length = static_cast<int>(copied);
}

// A cache line, so that no other allocation shares a line with the buffer.
constexpr std::size_t default_alignment = 64;

// The alignment that info key mpi_minimum_memory_alignment requests (MPI-5.0, 9.2); nullopt: the value is not a power
// of two.
std::optional<std::size_t> requested_alignment(const Info* info) {
    const auto text = info != nullptr ? info->get("mpi_minimum_memory_alignment") : std::nullopt;
    if (!text) {
        return default_alignment;
    }
    std::size_t alignment = 0;
    const char* end = text->data() + text->size();
    const auto parsed = std::from_chars(text->data(), end, alignment);
    if (parsed.ec != std::errc() || parsed.ptr != end || alignment == 0 || (alignment & (alignment - 1)) != 0) {
        return std::nullopt;
    }
    return std::max(alignment, default_alignment);
}

int allocate(const Arguments& args, MPI_Aint size, const Info* info, void* baseptr) {
    const std::optional<std::size_t> alignment = requested_alignment(info);
    if (!alignment) {
        return args.fail(
            MPI_ERR_INFO_VALUE, "the info key mpi_minimum_memory_alignment has a value that is not a power of two");
    }
    void* memory = NodeAllocations::get().allocate(std::size_t(size), *alignment);
    // At least one byte, so that every allocation has an address of its own.
    const int error =
        memory != nullptr ? 0 : posix_memalign(&memory, *alignment, std::max<std::size_t>(std::size_t(size), 1));
    if (error != 0) {
        return args.fail(
            MPI_ERR_NO_MEM, fmt::format("{} bytes with alignment {}: {}", size, *alignment, std::strerror(error)));
    }
    // baseptr is the address of the program's pointer, which may be of any type.
    std::memcpy(baseptr, &memory, sizeof memory);
    return MPI_SUCCESS;
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Get_version(int* version, int* subversion) {
    api::Arguments args("MPI_Get_version");
    if (api::checking() && !(args.pointer("version", version) && args.pointer("subversion", subversion))) {
        return args.code();
    }
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

int PMPI_Get_library_version(char* version, int* resultlen) {
    api::Arguments args("MPI_Get_library_version");
    if (api::checking() && !(args.pointer("version", version) && args.pointer("resultlen", resultlen))) {
        return args.code();
    }
    api::copy_text(fmt::format("Patchbay MPI {}, MPI {}.{}, standard ABI {}.{}", PATCHBAY_VERSION, MPI_VERSION,
                       MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION),
        version, MPI_MAX_LIBRARY_VERSION_STRING, resultlen);
    return MPI_SUCCESS;
}

int PMPI_Get_processor_name(char* name, int* resultlen) {
    api::Arguments args("MPI_Get_processor_name");
    if (api::checking() && !(args.pointer("name", name) && args.pointer("resultlen", resultlen))) {
        return args.code();
    }
    char host[MPI_MAX_PROCESSOR_NAME];
    if (gethostname(host, sizeof host) != 0) {
        return args.fail(MPI_ERR_OTHER, fmt::format("gethostname: {}", std::strerror(errno)));
    }
    // gethostname() does not terminate a name that it truncates.
    api::copy_text({host, strnlen(host, sizeof host)}, name, MPI_MAX_PROCESSOR_NAME, resultlen);
    return MPI_SUCCESS;
}

// CLOCK_MONOTONIC never decreases, and is read without a system call.
double PMPI_Wtime() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

double PMPI_Wtick() {
    timespec resolution;
    clock_getres(CLOCK_MONOTONIC, &resolution);
    return double(resolution.tv_sec) + double(resolution.tv_nsec) * 1e-9;
}

int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) {
    api::Arguments args("MPI_Alloc_mem");
    if (api::checking() &&
        !(args.require(size >= 0, MPI_ERR_SIZE, "size", size, "must not be negative") &&
            args.info_or_null("info", info) && args.pointer("baseptr", baseptr))) {
        return args.code();
    }
    return api::allocate(args, size, to_object<Info>(info), baseptr);
}

int PMPI_Free_mem(void* base) {
    if (!NodeAllocations::get().free(base)) {
        std::free(base);
    }
    return MPI_SUCCESS;
}

int PMPI_Get_address(const void* location, MPI_Aint* address) {
    api::Arguments args("MPI_Get_address");
    if (api::checking() && !args.pointer("address", address)) {
        return args.code();
    }
    *address = reinterpret_cast<MPI_Aint>(location);
    return MPI_SUCCESS;
}

// The addresses are added as unsigned numbers, because a signed overflow would be undefined.
MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp) {
    return MPI_Aint(std::uintptr_t(base) + std::uintptr_t(disp));
}

MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
    return MPI_Aint(std::uintptr_t(addr1) - std::uintptr_t(addr2));
}

// MPI_Pcontrol is for tools that intercept it. The library does nothing in it.
int PMPI_Pcontrol(const int, ...) {
    return MPI_SUCCESS;
}
