// SPDX-License-Identifier: BSD-3-Clause
// Constructors of datatypes, and packing and unpacking in pieces, against typemaps that are written out: sizes, bounds,
// bytes, external32, and the same type made once more from what MPI_Type_get_contents returns.
#include "object/convertor.h"
#include "object/external32.h"
#include "tests/fuzz/described_type.h"

#include <algorithm>

using namespace patchbay;
using fuzz::Bytes;
using fuzz::DescribedType;
using test::Typemap;

namespace {

// Memory that holds `count` elements, and what packing them gives.
struct Memory {
    Memory(const Typemap& map, MPI_Count count)
        : offsets(map.byte_offsets(count)) {
        MPI_Aint low = 0;
        MPI_Aint high = 0;
        for (MPI_Aint offset : offsets) {
            low = std::min(low, offset);
            high = std::max(high, offset + 1);
        }
        base = -low;
        for (MPI_Aint i = 0; i < high - low; ++i) {
            bytes.push_back(static_cast<unsigned char>(i * 131 + i / 251));
        }
        for (MPI_Aint offset : offsets) {
            packed.push_back(bytes[static_cast<std::size_t>(base + offset)]);
        }
    }
    unsigned char* buffer() { return bytes.data() + base; }

    std::vector<MPI_Aint> offsets;
    std::vector<unsigned char> bytes;
    std::vector<unsigned char> packed;
    MPI_Aint base = 0;
};

void check_bounds(MPI_Datatype type, const Typemap& map) {
    MPI_Count size, low, extent;
    REQUIRE(MPI_Type_size_c(type, &size) == MPI_SUCCESS && size == map.size());
    REQUIRE(MPI_Type_get_extent_c(type, &low, &extent) == MPI_SUCCESS);
    REQUIRE(low == map.lower_bound() && extent == map.extent());
    REQUIRE(MPI_Type_get_true_extent_c(type, &low, &extent) == MPI_SUCCESS);
    REQUIRE(low == map.true_lower_bound() && extent == map.true_upper_bound() - map.true_lower_bound());
    REQUIRE(to_object<Datatype>(type)->dense == map.dense());
}

void check_pack(const Datatype& type, MPI_Count count, Memory& memory, Bytes& bytes) {
    Convertor convertor(type, count, memory.buffer());
    REQUIRE(convertor.total() == memory.packed.size());
    std::vector<unsigned char> out(memory.packed.size());
    while (convertor.remaining() > 0) {
        const std::size_t at = convertor.position();
        const std::size_t got =
            convertor.pack(out.data() + at, std::min<std::size_t>(1 + bytes.byte(), out.size() - at));
        REQUIRE(got > 0 && convertor.position() == at + got);
    }
    REQUIRE(out == memory.packed);
    for (int i = 0; i < 4 && !out.empty(); ++i) {
        const std::size_t at = std::size_t(bytes.word() % out.size());
        unsigned char part[64];
        convertor.seek(at);
        const std::size_t got = convertor.pack(part, std::size_t(bytes.number(0, sizeof part)));
        REQUIRE(std::equal(part, part + got, out.begin() + std::ptrdiff_t(at)));
    }
}

void check_blocks(const Datatype& type, MPI_Count count, Memory& memory, Bytes& bytes) {
    Convertor convertor(type, count, memory.buffer());
    std::vector<unsigned char> out;
    while (convertor.remaining() > 0) {
        iovec vectors[3];
        const auto limit = std::size_t(1 + bytes.byte());
        const std::size_t used = convertor.next_blocks(std::span(vectors, std::size_t(bytes.number(1, 3))), limit);
        REQUIRE(used >= 1 && used <= 3);
        for (const iovec& vector : std::span(vectors, used)) {
            const auto* from = static_cast<const unsigned char*>(vector.iov_base);
            out.insert(out.end(), from, from + vector.iov_len);
        }
    }
    REQUIRE(out == memory.packed);
}

void check_unpack(const Datatype& type, MPI_Count count, const Memory& memory, Bytes& bytes) {
    std::vector<unsigned char> wanted(memory.bytes.size(), 0x55);
    for (std::size_t i = 0; i < memory.offsets.size(); ++i) {
        wanted[std::size_t(memory.base + memory.offsets[i])] = memory.packed[i];
    }
    std::vector<unsigned char> got(memory.bytes.size(), 0x55);
    Convertor convertor(type, count, got.data() + memory.base);
    while (convertor.remaining() > 0) {
        const std::size_t at = convertor.position();
        convertor.unpack(memory.packed.data() + at, std::min<std::size_t>(1 + bytes.byte(), memory.packed.size() - at));
        REQUIRE(convertor.position() > at);
    }
    REQUIRE(got == wanted);
}

bool only_reversed(BasicIndex basic) {
    const BasicType& type = basic_type(basic);
    return type.machine != Machine::f80 && type.machine != Machine::c80 && type.size == type.external_size;
}

// Big-endian: each value has the bytes of memory the other way round, a complex one in its two parts.
bool is_integer(BasicIndex basic) {
    const BasicType& type = basic_type(basic);
    return type.machine >= Machine::i8 && type.machine <= Machine::f64;
}

void check_external32(MPI_Datatype type, const Typemap& map, MPI_Count count, Memory& memory) {
    MPI_Count size = 0;
    REQUIRE(MPI_Pack_external_size_c("external32", count, type, &size) == MPI_SUCCESS);
    MPI_Count wanted = 0;
    bool same_sizes = true;
    bool integers = true;
    for (const Typemap::Entry& entry : map.entries()) {
        wanted += basic_type(entry.basic).external_size;
        same_sizes = same_sizes && only_reversed(entry.basic);
        integers = integers && is_integer(entry.basic) && only_reversed(entry.basic);
    }
    REQUIRE(size == wanted * count);
    std::vector<unsigned char> stream(std::size_t(size), 0xee);
    MPI_Count position = 0;
    const int packed = MPI_Pack_external_c("external32", memory.buffer(), count, type, stream.data(), size, &position);
    REQUIRE((packed == MPI_SUCCESS || (packed == MPI_ERR_CONVERSION && !same_sizes)));
    if (packed != MPI_SUCCESS) {
        return;
    }
    REQUIRE(position == size);
    std::size_t at = 0;
    for (MPI_Count i = 0; i < count && integers; ++i) {
        for (const Typemap::Entry& entry : map.entries()) {
            const std::size_t bytes = basic_type(entry.basic).size;
            REQUIRE(std::equal(stream.begin() + std::ptrdiff_t(at), stream.begin() + std::ptrdiff_t(at + bytes),
                std::make_reverse_iterator(memory.packed.begin() + std::ptrdiff_t(at + bytes))));
            at += bytes;
        }
    }
    std::vector<unsigned char> back(memory.bytes.size(), 0x55);
    position = 0;
    REQUIRE(MPI_Unpack_external_c(
                "external32", stream.data(), size, &position, back.data() + memory.base, count, type) == MPI_SUCCESS);
    for (std::size_t i = 0; i < memory.offsets.size() && same_sizes; ++i) {
        const auto place = std::size_t(memory.base + memory.offsets[i]);
        REQUIRE(back[place] == memory.bytes[place]);
    }
}

// What MPI_Type_get_envelope_c and MPI_Type_get_contents_c return.
struct Contents {
    MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
    int combiner = 0;
    std::vector<int> i;
    std::vector<MPI_Aint> a;
    std::vector<MPI_Count> c;
    std::vector<MPI_Datatype> t;

    explicit Contents(MPI_Datatype type) {
        REQUIRE(MPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &combiner) == MPI_SUCCESS);
        if (combiner == MPI_COMBINER_NAMED) {
            return;
        }
        i.resize(std::size_t(integers) + 1);
        a.resize(std::size_t(addresses) + 1);
        c.resize(std::size_t(counts) + 1);
        t.resize(std::size_t(types) + 1);
        REQUIRE(MPI_Type_get_contents_c(
                    type, integers, addresses, counts, types, i.data(), a.data(), c.data(), t.data()) == MPI_SUCCESS);
    }
    ~Contents() {
        for (std::size_t n = 0; n < std::size_t(types); ++n) {
            if (!to_object<Datatype>(t[n])->is_predefined()) {
                REQUIRE(MPI_Type_free(&t[n]) == MPI_SUCCESS);
            }
        }
    }
    Contents(const Contents&) = delete;
    Contents& operator=(const Contents&) = delete;

    // With the constructor that takes int and MPI_Aint.
    int rebuild_small(MPI_Datatype* made) const;
    // With the one that takes MPI_Count.
    int rebuild_large(MPI_Datatype* made) const;
};

int Contents::rebuild_small(MPI_Datatype* made) const {
    const int n = i[0];
    switch (combiner) {
    case MPI_COMBINER_DUP:
        return MPI_Type_dup(t[0], made);
    case MPI_COMBINER_CONTIGUOUS:
        return MPI_Type_contiguous(n, t[0], made);
    case MPI_COMBINER_VECTOR:
        return MPI_Type_vector(n, i[1], i[2], t[0], made);
    case MPI_COMBINER_HVECTOR:
        return MPI_Type_create_hvector(n, i[1], a[0], t[0], made);
    case MPI_COMBINER_INDEXED:
        return MPI_Type_indexed(n, &i[1], &i[std::size_t(1 + n)], t[0], made);
    case MPI_COMBINER_HINDEXED:
        return MPI_Type_create_hindexed(n, &i[1], a.data(), t[0], made);
    case MPI_COMBINER_INDEXED_BLOCK:
        return MPI_Type_create_indexed_block(n, i[1], &i[2], t[0], made);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return MPI_Type_create_hindexed_block(n, i[1], a.data(), t[0], made);
    case MPI_COMBINER_STRUCT:
        return MPI_Type_create_struct(n, &i[1], a.data(), t.data(), made);
    case MPI_COMBINER_RESIZED:
        return MPI_Type_create_resized(t[0], a[0], a[1], made);
    case MPI_COMBINER_SUBARRAY:
        return MPI_Type_create_subarray(2, &i[1], &i[3], &i[5], i[7], t[0], made);
    case MPI_COMBINER_DARRAY:
        return MPI_Type_create_darray(n, i[1], 2, &i[3], &i[5], &i[7], &i[9], i[11], t[0], made);
    default:
        return MPI_ERR_OTHER;
    }
}

int Contents::rebuild_large(MPI_Datatype* made) const {
    const MPI_Count n = c[0];
    switch (combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        return MPI_Type_contiguous_c(n, t[0], made);
    case MPI_COMBINER_VECTOR:
        return MPI_Type_vector_c(n, c[1], c[2], t[0], made);
    case MPI_COMBINER_HVECTOR:
        return MPI_Type_create_hvector_c(n, c[1], c[2], t[0], made);
    case MPI_COMBINER_INDEXED:
        return MPI_Type_indexed_c(n, &c[1], &c[std::size_t(1 + n)], t[0], made);
    case MPI_COMBINER_HINDEXED:
        return MPI_Type_create_hindexed_c(n, &c[1], &c[std::size_t(1 + n)], t[0], made);
    case MPI_COMBINER_INDEXED_BLOCK:
        return MPI_Type_create_indexed_block_c(n, c[1], &c[2], t[0], made);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return MPI_Type_create_hindexed_block_c(n, c[1], &c[2], t[0], made);
    case MPI_COMBINER_STRUCT:
        return MPI_Type_create_struct_c(n, &c[1], &c[std::size_t(1 + n)], t.data(), made);
    case MPI_COMBINER_RESIZED:
        return MPI_Type_create_resized_c(t[0], c[0], c[1], made);
    case MPI_COMBINER_SUBARRAY:
        return MPI_Type_create_subarray_c(2, &c[0], &c[2], &c[4], i[1], t[0], made);
    case MPI_COMBINER_DARRAY:
        return MPI_Type_create_darray_c(i[0], i[1], 2, &c[0], &i[3], &i[5], &i[7], i[9], t[0], made);
    default:
        return MPI_ERR_OTHER;
    }
}

void check_rebuild(MPI_Datatype type) {
    const Contents contents(type);
    if (contents.combiner == MPI_COMBINER_NAMED) {
        return;
    }
    MPI_Datatype made;
    REQUIRE((contents.counts > 0 ? contents.rebuild_large(&made) : contents.rebuild_small(&made)) == MPI_SUCCESS);
    const Datatype& a = *to_object<Datatype>(type);
    const Datatype& b = *to_object<Datatype>(made);
    REQUIRE(a.size == b.size && a.extent == b.extent && a.lower_bound == b.lower_bound);
    REQUIRE(a.true_lower_bound == b.true_lower_bound && a.true_extent == b.true_extent);
    const Contents again(made);
    REQUIRE(
        again.combiner == contents.combiner && again.i == contents.i && again.a == contents.a && again.c == contents.c);
    REQUIRE(MPI_Type_free(&made) == MPI_SUCCESS);
}

void check_type(const DescribedType& type, Bytes& bytes) {
    MPI_Datatype handle = type.handle;
    REQUIRE(MPI_Type_commit(&handle) == MPI_SUCCESS && handle == type.handle);
    const Datatype& object = *to_object<Datatype>(handle);
    REQUIRE(object.size >= 0 && object.layout().size() == std::size_t(object.size));
    check_rebuild(handle);
    if (!type.map) {
        return;
    }
    check_bounds(handle, *type.map);
    const MPI_Count count = bytes.number(0, type.map->entries().size() < 50 ? 40 : 3);
    Memory memory(*type.map, count);
    check_pack(object, count, memory, bytes);
    check_blocks(object, count, memory, bytes);
    check_unpack(object, count, memory, bytes);
    check_external32(handle, *type.map, count, memory);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Types need no MPI_Init; what is refused is returned.
    static const bool returns = ::setenv("PATCHBAY_MCA_mpi_initial_errhandler", "return", 1) == 0;
    REQUIRE(returns);
    Bytes bytes(data, size);
    const fuzz::TypeTree tree(bytes);
    check_type(tree.last(), bytes);
    return 0;
}
