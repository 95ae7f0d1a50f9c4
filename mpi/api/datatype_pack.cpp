// SPDX-License-Identifier: BSD-3-Clause
// Packing and unpacking in the native representation and in external32 (MPI-5.0, 5.2 and 5.3).
#include "mpi/api/args.h"
#include "object/convertor.h"
#include "object/external32.h"

#include <fmt/core.h>

#include <cstring>
#include <limits>
#include <new>

namespace patchbay::api {
namespace {

// Checks a packed buffer: its size, and the position of the next byte in it.
template <class Size>
bool packed_buffer(Arguments& args, const char* name, const void* buffer, const char* size_name, Size size,
    const Size* position) noexcept {
    return args.require(size >= 0, MPI_ERR_ARG, size_name, size, "must not be negative") &&
        args.buffer(name, buffer, size, MPI_BYTE) && args.pointer("position", position) &&
        args.require(*position >= 0 && *position <= size, MPI_ERR_ARG, "position", *position,
            "must lie inside the packed buffer");
}

// The number of bytes of `count` elements of `size` bytes; false: the number does not fit.
bool multiply(MPI_Count count, std::uint64_t size, std::uint64_t* bytes) noexcept {
    return !__builtin_mul_overflow(static_cast<std::uint64_t>(count), size, bytes) &&
        *bytes <= static_cast<std::uint64_t>(std::numeric_limits<MPI_Count>::max());
}

int too_small(const Arguments& args, bool packing) noexcept {
    return args.fail(MPI_ERR_TRUNCATE,
        packing ? "the packed data does not fit into the rest of the output buffer"
                : "the rest of the input buffer holds less than the datatype needs");
}

template <class Count>
int pack(const char* function, const void* in, Count count, MPI_Datatype datatype, void* out, Count out_size,
    Count* position, MPI_Comm comm) noexcept {
    Arguments args(function, comm);
    if (checking() &&
        !(args.communicator() && args.count("incount", count) && args.datatype("datatype", datatype) &&
            args.buffer("inbuf", in, count, datatype) &&
            packed_buffer(args, "outbuf", out, "outsize", out_size, position))) {
        return args.code();
    }
    const Datatype& type = *to_object<Datatype>(datatype);
    std::uint64_t bytes = 0;
    if (!multiply(count, static_cast<std::uint64_t>(type.size), &bytes) ||
        bytes > static_cast<std::uint64_t>(out_size - *position)) {
        return too_small(args, true);
    }
    Convertor convertor(type, count, in);
    convertor.pack(static_cast<std::byte*>(out) + *position, bytes);
    *position += static_cast<Count>(bytes);
    return MPI_SUCCESS;
}

template <class Count>
int unpack(const char* function, const void* in, Count in_size, Count* position, void* out, Count count,
    MPI_Datatype datatype, MPI_Comm comm) noexcept {
    Arguments args(function, comm);
    if (checking() &&
        !(args.communicator() && args.count("outcount", count) && args.datatype("datatype", datatype) &&
            args.buffer("outbuf", out, count, datatype) &&
            packed_buffer(args, "inbuf", in, "insize", in_size, position))) {
        return args.code();
    }
    const Datatype& type = *to_object<Datatype>(datatype);
    std::uint64_t bytes = 0;
    if (!multiply(count, static_cast<std::uint64_t>(type.size), &bytes) ||
        bytes > static_cast<std::uint64_t>(in_size - *position)) {
        return too_small(args, false);
    }
    Convertor convertor(type, count, out);
    convertor.unpack(static_cast<const std::byte*>(in) + *position, bytes);
    *position += static_cast<Count>(bytes);
    return MPI_SUCCESS;
}

// A size that does not fit is MPI_UNDEFINED (MPI-5.0, 5.2).
template <class Count>
int pack_size(const char* function, Count count, MPI_Datatype datatype, MPI_Comm comm, Count* size) noexcept {
    Arguments args(function, comm);
    if (checking() &&
        !(args.communicator() && args.count("incount", count) && args.datatype("datatype", datatype) &&
            args.pointer("size", size))) {
        return args.code();
    }
    std::uint64_t bytes = 0;
    const bool fits = multiply(count, static_cast<std::uint64_t>(to_object<Datatype>(datatype)->size), &bytes) &&
        bytes <= static_cast<std::uint64_t>(std::numeric_limits<Count>::max());
    *size = fits ? static_cast<Count>(bytes) : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

// "external32" is the only representation that is supported.
bool representation(Arguments& args, const char* name) noexcept {
    if (!args.pointer("datarep", name)) {
        return false;
    }
    const bool known = std::strcmp(name, "external32") == 0;
    return known || args.refuse(MPI_ERR_ARG, fmt::format("datarep is \"{:.40}\", but must be \"external32\"", name));
}

// `Size` is the type of numbers of bytes, and `Count` that of numbers of elements; they differ in the plain form.
template <class Count, class Size>
int pack_external(const char* function, const char* name, const void* in, Count count, MPI_Datatype datatype, void* out,
    Size out_size, Size* position) noexcept {
    Arguments args(function);
    if (checking() &&
        !(representation(args, name) && args.count("incount", count) && args.datatype("datatype", datatype) &&
            args.buffer("inbuf", in, count, datatype) &&
            packed_buffer(args, "outbuf", out, "outsize", out_size, position))) {
        return args.code();
    }
    try {
        const Datatype& type = *to_object<Datatype>(datatype);
        std::uint64_t bytes = 0;
        if (!multiply(count, external32_size(type), &bytes) ||
            bytes > static_cast<std::uint64_t>(out_size - *position)) {
            return too_small(args, true);
        }
        const int code = external32_pack(in, count, type, static_cast<std::byte*>(out) + *position);
        if (code == MPI_ERR_CONVERSION) {
            return args.fail(code, "a value is too large for its external32 form");
        }
        *position += static_cast<Size>(bytes);
        return args.result(code);
    } catch (const std::bad_alloc&) {
        return args.result(MPI_ERR_NO_MEM);
    }
}

template <class Count, class Size>
int unpack_external(const char* function, const char* name, const void* in, Size in_size, Size* position, void* out,
    Count count, MPI_Datatype datatype) noexcept {
    Arguments args(function);
    if (checking() &&
        !(representation(args, name) && args.count("outcount", count) && args.datatype("datatype", datatype) &&
            args.buffer("outbuf", out, count, datatype) &&
            packed_buffer(args, "inbuf", in, "insize", in_size, position))) {
        return args.code();
    }
    try {
        const Datatype& type = *to_object<Datatype>(datatype);
        std::uint64_t bytes = 0;
        if (!multiply(count, external32_size(type), &bytes) ||
            bytes > static_cast<std::uint64_t>(in_size - *position)) {
            return too_small(args, false);
        }
        const int code = external32_unpack(static_cast<const std::byte*>(in) + *position, out, count, type);
        *position += static_cast<Size>(bytes);
        return args.result(code);
    } catch (const std::bad_alloc&) {
        return args.result(MPI_ERR_NO_MEM);
    }
}

template <class Count, class Size>
int pack_external_size(
    const char* function, const char* name, Count count, MPI_Datatype datatype, Size* size) noexcept {
    Arguments args(function);
    if (checking() &&
        !(representation(args, name) && args.count("incount", count) && args.datatype("datatype", datatype) &&
            args.pointer("size", size))) {
        return args.code();
    }
    try {
        std::uint64_t bytes = 0;
        const bool fits = multiply(count, external32_size(*to_object<Datatype>(datatype)), &bytes);
        *size = fits ? static_cast<Size>(bytes) : MPI_UNDEFINED;
        return MPI_SUCCESS;
    } catch (const std::bad_alloc&) {
        return args.result(MPI_ERR_NO_MEM);
    }
}

} // namespace
} // namespace patchbay::api

namespace api = patchbay::api;

int PMPI_Pack(
    const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf, int outsize, int* position, MPI_Comm comm) {
    return api::pack("MPI_Pack", inbuf, incount, datatype, outbuf, outsize, position, comm);
}
int PMPI_Pack_c(const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf, MPI_Count outsize,
    MPI_Count* position, MPI_Comm comm) {
    return api::pack("MPI_Pack_c", inbuf, incount, datatype, outbuf, outsize, position, comm);
}

int PMPI_Unpack(
    const void* inbuf, int insize, int* position, void* outbuf, int outcount, MPI_Datatype datatype, MPI_Comm comm) {
    return api::unpack("MPI_Unpack", inbuf, insize, position, outbuf, outcount, datatype, comm);
}
int PMPI_Unpack_c(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf, MPI_Count outcount,
    MPI_Datatype datatype, MPI_Comm comm) {
    return api::unpack("MPI_Unpack_c", inbuf, insize, position, outbuf, outcount, datatype, comm);
}

int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int* size) {
    return api::pack_size("MPI_Pack_size", incount, datatype, comm, size);
}
int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count* size) {
    return api::pack_size("MPI_Pack_size_c", incount, datatype, comm, size);
}

int PMPI_Pack_external(const char datarep[], const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf,
    MPI_Aint outsize, MPI_Aint* position) {
    return api::pack_external("MPI_Pack_external", datarep, inbuf, incount, datatype, outbuf, outsize, position);
}
int PMPI_Pack_external_c(const char datarep[], const void* inbuf, MPI_Count incount, MPI_Datatype datatype,
    void* outbuf, MPI_Count outsize, MPI_Count* position) {
    return api::pack_external("MPI_Pack_external_c", datarep, inbuf, incount, datatype, outbuf, outsize, position);
}

int PMPI_Unpack_external(const char datarep[], const void* inbuf, MPI_Aint insize, MPI_Aint* position, void* outbuf,
    int outcount, MPI_Datatype datatype) {
    return api::unpack_external("MPI_Unpack_external", datarep, inbuf, insize, position, outbuf, outcount, datatype);
}
int PMPI_Unpack_external_c(const char datarep[], const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
    MPI_Count outcount, MPI_Datatype datatype) {
    return api::unpack_external("MPI_Unpack_external_c", datarep, inbuf, insize, position, outbuf, outcount, datatype);
}

int PMPI_Pack_external_size(const char datarep[], int incount, MPI_Datatype datatype, MPI_Aint* size) {
    return api::pack_external_size("MPI_Pack_external_size", datarep, incount, datatype, size);
}
int PMPI_Pack_external_size_c(const char datarep[], MPI_Count incount, MPI_Datatype datatype, MPI_Count* size) {
    return api::pack_external_size("MPI_Pack_external_size_c", datarep, incount, datatype, size);
}
