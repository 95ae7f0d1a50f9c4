// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/described_type.h"

#include <limits>

namespace patchbay::fuzz {

namespace {

using test::Typemap;
using Map = std::optional<Typemap>;
using Counts = std::vector<MPI_Count>;

constexpr std::size_t most_entries = 1500;
constexpr MPI_Aint most_distance = 1 << 19;
constexpr int most_types = 12;

std::vector<int> as_int(const Counts& values) {
    return {values.begin(), values.end()};
}

// `length` elements in a row from a displacement on; nothing where the whole becomes too large.
void append_row(Map& map, const Map& part, MPI_Aint displacement, MPI_Count length) {
    if (map && (!part || map->entries().size() + part->entries().size() * std::size_t(length) > most_entries)) {
        map.reset();
    }
    for (MPI_Count i = 0; map && i < length; ++i) {
        map->append(*part, displacement + i * part->extent());
    }
}

bool is_handy(const Typemap& map) {
    const auto near = [](MPI_Aint distance) { return distance >= -most_distance && distance <= most_distance; };
    return near(map.lower_bound()) && near(map.upper_bound()) && near(map.true_lower_bound()) &&
        near(map.true_upper_bound());
}

} // namespace

TypeTree::TypeTree(Bytes& bytes)
    : _bytes(bytes) {
    _types.push_back(predefined());
    for (int made = 0; made < most_types && !_bytes.empty(); ++made) {
        const int shape = int(_bytes.number(0, 63));
        _large = (shape & 16) != 0;
        _wild = (shape & 32) != 0 && _bytes.number(0, 3) == 0;
        switch (shape & 15) {
        case 0:
            contiguous();
            break;
        case 1:
        case 2:
            vector((shape & 15) == 2);
            break;
        case 3:
        case 4:
        case 5:
        case 6:
            indexed(((shape & 15) - 3) % 2 == 1, (shape & 15) > 4);
            break;
        case 7:
            resized();
            break;
        case 8:
            renamed();
            break;
        case 9:
            subarray();
            break;
        case 10:
            darray();
            break;
        case 11:
            _types.push_back(predefined());
            break;
        default:
            structure();
            break;
        }
    }
}

TypeTree::~TypeTree() {
    for (DescribedType& type : _types) {
        if (!to_object<Datatype>(type.handle)->is_predefined()) {
            REQUIRE(MPI_Type_free(&type.handle) == MPI_SUCCESS);
        }
    }
}

DescribedType TypeTree::predefined() {
    static const MPI_Datatype handles[] = {
        MPI_CHAR,
        MPI_BYTE,
        MPI_SHORT,
        MPI_INT,
        MPI_DOUBLE,
        MPI_LONG,
        MPI_FLOAT_INT,
        MPI_DOUBLE_INT,
        MPI_SHORT_INT,
        MPI_LONG_DOUBLE,
        MPI_LONG_DOUBLE_INT,
        MPI_C_DOUBLE_COMPLEX,
        MPI_C_BOOL,
        MPI_2INT,
        MPI_WCHAR,
        MPI_UINT64_T,
    };
    const MPI_Datatype handle = handles[_bytes.number(0, std::size(handles) - 1)];
    return {handle, Typemap::predefined(handle)};
}

// Mostly the type that was constructed last, so that types become nested.
const DescribedType& TypeTree::component() {
    const std::size_t back = std::size_t(_bytes.number(0, 3));
    return _types[_types.size() - 1 - std::min(back, _types.size() - 1)];
}

MPI_Count TypeTree::count(MPI_Count most) {
    if (!_wild || _bytes.number(0, 1) == 0) {
        return _bytes.number(0, most);
    }
    const auto value = MPI_Count(_bytes.word() >> _bytes.number(1, 62));
    return _large ? value : std::min<MPI_Count>(value, std::numeric_limits<int>::max());
}

MPI_Count TypeTree::distance(MPI_Count from, MPI_Count to) {
    if (!_wild || _bytes.number(0, 1) == 0) {
        return _bytes.number(from, to);
    }
    return MPI_Count(_bytes.word()) >> _bytes.number(0, 62);
}

// What the standard allows is constructed, unless its size or its bounds do not fit.
void TypeTree::add(int code, MPI_Datatype handle, Map map) {
    if (_wild) {
        map.reset();
    }
    if (code != MPI_SUCCESS) {
        REQUIRE(code == MPI_ERR_VALUE_TOO_LARGE && !map);
        return;
    }
    if (map && !is_handy(*map)) {
        map.reset();
    }
    _types.push_back({handle, std::move(map)});
}

void TypeTree::contiguous() {
    const DescribedType old = component();
    const MPI_Count n = count(6);
    Map map = Typemap();
    append_row(map, old.map, 0, _wild ? 0 : n);
    MPI_Datatype made;
    const int code =
        _large ? MPI_Type_contiguous_c(n, old.handle, &made) : MPI_Type_contiguous(int(n), old.handle, &made);
    add(code, made, std::move(map));
}

void TypeTree::vector(bool in_bytes) {
    const DescribedType old = component();
    const MPI_Count n = count(5);
    const MPI_Count length = count(3);
    MPI_Count stride = in_bytes ? distance(-50, 100) : distance(-4, 6);
    if (!_large && !in_bytes) {
        stride = int(stride);
    }
    Map map = Typemap();
    for (MPI_Count i = 0; i < n && !_wild && old.map; ++i) {
        append_row(map, old.map, i * stride * (in_bytes ? 1 : old.map->extent()), length);
    }
    if (!old.map) {
        map.reset();
    }
    MPI_Datatype made;
    const int code = in_bytes ? (_large ? MPI_Type_create_hvector_c(n, length, stride, old.handle, &made)
                                        : MPI_Type_create_hvector(int(n), int(length), stride, old.handle, &made))
                              : (_large ? MPI_Type_vector_c(n, length, stride, old.handle, &made)
                                        : MPI_Type_vector(int(n), int(length), int(stride), old.handle, &made));
    add(code, made, std::move(map));
}

void TypeTree::indexed(bool in_bytes, bool same_length) {
    const DescribedType old = component();
    const MPI_Count n = _bytes.number(0, 3) == 0 ? _bytes.number(0, 40) : _bytes.number(0, 5);
    Counts lengths;
    Counts places;
    const MPI_Count common = count(3);
    Map map = Typemap();
    for (MPI_Count i = 0; i < n; ++i) {
        lengths.push_back(same_length ? common : count(3));
        const MPI_Count place = in_bytes ? distance(-60, 120) : distance(-n, 2 * n);
        places.push_back(_large || in_bytes ? place : int(place));
        if (!_wild && old.map) {
            append_row(map, old.map, places.back() * (in_bytes ? 1 : old.map->extent()), lengths.back());
        }
    }
    if (!old.map) {
        map.reset();
    }
    const std::vector<int> small_lengths = as_int(lengths);
    const std::vector<int> small_places = as_int(places);
    const std::vector<MPI_Aint> addresses(places.begin(), places.end());
    const int c = int(n);
    const int l = int(common);
    MPI_Datatype made;
    int code;
    if (_large && same_length) {
        code = in_bytes ? MPI_Type_create_hindexed_block_c(n, common, places.data(), old.handle, &made)
                        : MPI_Type_create_indexed_block_c(n, common, places.data(), old.handle, &made);
    } else if (_large) {
        code = in_bytes ? MPI_Type_create_hindexed_c(n, lengths.data(), places.data(), old.handle, &made)
                        : MPI_Type_indexed_c(n, lengths.data(), places.data(), old.handle, &made);
    } else if (same_length) {
        code = in_bytes ? MPI_Type_create_hindexed_block(c, l, addresses.data(), old.handle, &made)
                        : MPI_Type_create_indexed_block(c, l, small_places.data(), old.handle, &made);
    } else {
        code = in_bytes ? MPI_Type_create_hindexed(c, small_lengths.data(), addresses.data(), old.handle, &made)
                        : MPI_Type_indexed(c, small_lengths.data(), small_places.data(), old.handle, &made);
    }
    add(code, made, std::move(map));
}

void TypeTree::structure() {
    const MPI_Count n = _bytes.number(0, 4);
    Counts lengths;
    Counts places;
    std::vector<MPI_Datatype> handles;
    Map map = Typemap();
    MPI_Aint end = 0;
    for (MPI_Count i = 0; i < n; ++i) {
        const DescribedType member = component();
        handles.push_back(member.handle);
        lengths.push_back(count(2));
        // Members that follow each other without a gap are what programs have most.
        const bool adjacent = _bytes.number(0, 1) == 0 && member.map && !_wild;
        places.push_back(adjacent ? end - member.map->true_lower_bound() : distance(-60, 120));
        append_row(map, member.map, places.back(), _wild ? 0 : lengths.back());
        end = !member.map || _wild ? 0 : places.back() + lengths.back() * member.map->extent();
    }
    const std::vector<int> small = as_int(lengths);
    const std::vector<MPI_Aint> addresses(places.begin(), places.end());
    MPI_Datatype made;
    const int code = _large ? MPI_Type_create_struct_c(n, lengths.data(), places.data(), handles.data(), &made)
                            : MPI_Type_create_struct(int(n), small.data(), addresses.data(), handles.data(), &made);
    add(code, made, std::move(map));
}

void TypeTree::resized() {
    const DescribedType old = component();
    const MPI_Count lower = distance(-50, 100);
    const MPI_Count extent = distance(-40, 100);
    Map map = old.map;
    if (map && !_wild) {
        map->set_bounds(lower, lower + extent);
    }
    MPI_Datatype made;
    const int code = _large ? MPI_Type_create_resized_c(old.handle, lower, extent, &made)
                            : MPI_Type_create_resized(old.handle, lower, extent, &made);
    add(code, made, std::move(map));
}

void TypeTree::renamed() {
    const DescribedType old = component();
    MPI_Datatype made;
    const int code = MPI_Type_dup(old.handle, &made);
    _wild = false;
    add(code, made, old.map);
}

void TypeTree::subarray() {
    const DescribedType old = component();
    const bool fortran = _bytes.number(0, 1) == 1;
    const int order = fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
    Counts sizes(2);
    Counts parts(2);
    Counts starts(2);
    for (std::size_t i = 0; i < 2; ++i) {
        sizes[i] = 1 + std::min<MPI_Count>(count(3), std::numeric_limits<int>::max() - 1);
        parts[i] = _wild ? sizes[i] - _bytes.number(0, 1) * (sizes[i] - 1) : _bytes.number(1, sizes[i]);
        starts[i] = _wild ? sizes[i] - parts[i] : _bytes.number(0, sizes[i] - parts[i]);
    }
    Map map = old.map ? Map(Typemap()) : Map();
    const std::size_t slow = fortran ? 1 : 0;
    const std::size_t fast = 1 - slow;
    for (MPI_Count i = starts[slow]; map && !_wild && i < starts[slow] + parts[slow]; ++i) {
        append_row(map, old.map, (i * sizes[fast] + starts[fast]) * old.map->extent(), parts[fast]);
    }
    if (map && !_wild) {
        map->set_bounds(0, sizes[0] * sizes[1] * old.map->extent());
    }
    MPI_Datatype made;
    const int code = _large
        ? MPI_Type_create_subarray_c(2, sizes.data(), parts.data(), starts.data(), order, old.handle, &made)
        : MPI_Type_create_subarray(
              2, as_int(sizes).data(), as_int(parts).data(), as_int(starts).data(), order, old.handle, &made);
    add(code, made, std::move(map));
}

// A dimension of a distributed array, as MPI-5.0, 5.1.4, defines it: which coordinate of the grid has an element.
namespace {

struct Dimension {
    int distribution;
    int argument;
    int processes;
    MPI_Count size;

    MPI_Count block() const {
        if (argument != MPI_DISTRIBUTE_DFLT_DARG) {
            return argument;
        }
        return distribution == MPI_DISTRIBUTE_CYCLIC ? 1 : (size + processes - 1) / processes;
    }
    MPI_Count owner(MPI_Count element) const {
        return distribution == MPI_DISTRIBUTE_NONE ? 0 : element / block() % processes;
    }
};

} // namespace

void TypeTree::darray() {
    _wild = false;
    const DescribedType old = component();
    const bool fortran = _bytes.number(0, 1) == 1;
    static constexpr int distributions[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    Dimension dimensions[2];
    Counts sizes(2);
    int given[3][2]; // distributions, arguments, processes
    for (int i = 0; i < 2; ++i) {
        Dimension& d = dimensions[i];
        d.size = sizes[std::size_t(i)] = _bytes.number(1, 9);
        d.distribution = distributions[_bytes.number(0, 2)];
        d.processes = d.distribution == MPI_DISTRIBUTE_NONE ? 1 : int(_bytes.number(1, 4));
        d.argument = int(_bytes.number(0, 4));
        const bool block_is_small = d.distribution == MPI_DISTRIBUTE_BLOCK && d.argument * d.processes < d.size;
        if (d.argument == 0 || block_is_small || d.distribution == MPI_DISTRIBUTE_NONE) {
            d.argument = MPI_DISTRIBUTE_DFLT_DARG;
        }
        given[0][i] = d.distribution;
        given[1][i] = d.argument;
        given[2][i] = d.processes;
    }
    const int processes = dimensions[0].processes * dimensions[1].processes;
    const int rank = int(_bytes.number(0, processes - 1));
    const int coordinates[2] = {rank / dimensions[1].processes, rank % dimensions[1].processes};
    const std::size_t slow = fortran ? 1 : 0;
    const std::size_t fast = 1 - slow;
    Map map = old.map ? Map(Typemap()) : Map();
    for (MPI_Count i = 0; i < sizes[slow]; ++i) {
        for (MPI_Count j = 0; j < sizes[fast] && map; ++j) {
            if (dimensions[slow].owner(i) == coordinates[slow] && dimensions[fast].owner(j) == coordinates[fast]) {
                append_row(map, old.map, (i * sizes[fast] + j) * old.map->extent(), 1);
            }
        }
    }
    if (map) {
        map->set_bounds(0, sizes[0] * sizes[1] * old.map->extent());
    }
    const int order = fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
    MPI_Datatype made;
    const int code = _large ? MPI_Type_create_darray_c(processes, rank, 2, sizes.data(), given[0], given[1], given[2],
                                  order, old.handle, &made)
                            : MPI_Type_create_darray(processes, rank, 2, as_int(sizes).data(), given[0], given[1],
                                  given[2], order, old.handle, &made);
    add(code, made, std::move(map));
}

} // namespace patchbay::fuzz
