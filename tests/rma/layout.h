// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mpi.h>
#include <random>
#include <vector>

// Data of the model test: predefined types with their values, and layouts: where the elements of a message lie in a
// buffer, and the datatype that says so.

class Random {
public:
    explicit Random(std::uint64_t seed)
        : _engine(seed) {}
    std::uint64_t bits() { return _engine(); }
    int below(int limit) { return int(_engine() % std::uint64_t(limit)); }
    int between(int least, int most) { return least + below(most - least + 1); }
    bool one_in(int n) { return below(n) == 0; }

private:
    std::mt19937_64 _engine;
};

enum class Kind { signed_integer, unsigned_integer, logical, byte, floating, complex, pair, record };

struct Basic {
    const char* name;
    MPI_Datatype type; // MPI_DATATYPE_NULL: a record of an int, a double and a short
    int extent;
    int bytes; // the first ones of the extent have the value
    Kind kind;
};

inline const std::vector<Basic>& basics() {
    static const std::vector<Basic> all = {
        {"MPI_INT8_T", MPI_INT8_T, 1, 1, Kind::signed_integer},
        {"MPI_UINT8_T", MPI_UINT8_T, 1, 1, Kind::unsigned_integer},
        {"MPI_INT16_T", MPI_INT16_T, 2, 2, Kind::signed_integer},
        {"MPI_UINT16_T", MPI_UINT16_T, 2, 2, Kind::unsigned_integer},
        {"MPI_INT", MPI_INT, 4, 4, Kind::signed_integer},
        {"MPI_UINT32_T", MPI_UINT32_T, 4, 4, Kind::unsigned_integer},
        {"MPI_INT64_T", MPI_INT64_T, 8, 8, Kind::signed_integer},
        {"MPI_UINT64_T", MPI_UINT64_T, 8, 8, Kind::unsigned_integer},
        {"MPI_C_BOOL", MPI_C_BOOL, 1, 1, Kind::logical},
        {"MPI_BYTE", MPI_BYTE, 1, 1, Kind::byte},
        {"MPI_FLOAT", MPI_FLOAT, 4, 4, Kind::floating},
        {"MPI_DOUBLE", MPI_DOUBLE, 8, 8, Kind::floating},
        {"MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX, 8, 8, Kind::complex},
        {"MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, 16, 16, Kind::complex},
        {"MPI_2INT", MPI_2INT, 8, 8, Kind::pair},
        {"MPI_DOUBLE_INT", MPI_DOUBLE_INT, 16, 12, Kind::pair},
        {"record", MPI_DATATYPE_NULL, 0, 0, Kind::record},
    };
    return all;
}

// Small numbers, so that sums neither overflow nor lose digits, in whatever order they are made; any bits where these
// cannot do harm.
inline void fill_value(const Basic& basic, Random& random, void* at) {
    const int small = random.between(-50, 50);
    const auto store = [at](auto value, int index = 0) {
        std::memcpy(static_cast<char*>(at) + std::size_t(index) * sizeof value, &value, sizeof value);
    };
    switch (basic.kind) {
    case Kind::signed_integer:
        switch (basic.bytes) {
        case 1:
            return store(std::int8_t(small));
        case 2:
            return store(std::int16_t(small));
        case 4:
            return store(std::int32_t(small));
        default:
            return store(std::int64_t(small));
        }
    case Kind::logical:
        return store(std::uint8_t(random.below(2)));
    case Kind::floating:
        return basic.bytes == 4 ? store(float(small)) : store(double(small));
    case Kind::complex:
        return basic.bytes == 8 ? (store(float(small)), store(float(small / 2 + 1), 1))
                                : (store(double(small)), store(double(small / 2 + 1), 1));
    case Kind::pair:
        return basic.bytes == 8 ? (store(small), store(random.below(100), 1))
                                : (store(double(small)), store(random.below(100), 2));
    case Kind::unsigned_integer:
    case Kind::byte:
    case Kind::record: {
        const std::uint64_t bits = random.bits();
        std::memcpy(at, &bits, std::size_t(std::min(8, std::max(basic.bytes, 1))));
        return;
    }
    }
}

// A piece of an element that has no hole in it.
struct Piece {
    std::int64_t place;
    int bytes;
};

// Where the elements of a message lie. Described on every rank; only the rank that uses it makes the datatype.
struct Layout {
    enum class Form { plain, contiguous, vector, backwards, indexed, structure, subarray, resized, record };
    Form form = Form::plain;
    const Basic* basic = nullptr;
    int elements = 0;
    int blocks = 1, length = 1, stride = 1; // of vectors, in elements; of a subarray: rows, columns and columns of all
    std::vector<int> lengths, starts;       // of blocks, in elements
    int holes[2] = {0, 0};                  // of a record, in bytes
    std::int64_t shift = 0;                 // from the first byte to the address that MPI gets
    std::int64_t span = 0;                  // bytes
    std::vector<Piece> pieces;              // relative to the first byte, in the order of the type map
};

inline int record_extent(const Layout& layout) {
    return 4 + layout.holes[0] + 8 + layout.holes[1] + 2;
}

class LayoutMaker {
public:
    LayoutMaker(Random& random, const Basic& basic)
        : _random(random),
          _basic(basic) {}

    // Of `elements` elements, within `room` bytes if the plain layout fits there.
    Layout make(int elements, std::int64_t room) {
        if (_basic.kind == Kind::record) {
            return record(elements, room);
        }
        Layout layout = shaped(elements);
        place(layout);
        if (layout.span > room) {
            layout = Layout();
            layout.basic = &_basic;
            layout.elements = elements;
            place(layout);
        }
        return layout;
    }

private:
    using Form = Layout::Form;

    Layout shaped(int elements) {
        Layout layout;
        layout.basic = &_basic;
        layout.elements = elements;
        const int choice = _random.below(9);
        if (choice < 2) {
            return layout;
        }
        layout.form = Form(choice - 1);
        switch (layout.form) {
        case Form::indexed:
        case Form::structure:
            divide(layout);
            break;
        case Form::resized:
            layout.stride = _random.between(2, 4);
            break;
        default:
            grid(layout);
        }
        return layout;
    }
    // blocks * length == elements
    void grid(Layout& layout) {
        const int elements = layout.elements;
        int length = _random.between(1, std::min(elements, 12));
        while (elements % length != 0) {
            --length;
        }
        layout.length = length;
        layout.blocks = elements / length;
        layout.stride = length + _random.below(4);
        if (layout.form == Form::backwards) { // a shift that every displacement unit divides
            const int unit = std::max(1, 16 / _basic.extent);
            layout.stride = (layout.stride + unit - 1) / unit * unit;
        }
    }
    void divide(Layout& layout) {
        int at = 0;
        for (int left = layout.elements; left > 0;) {
            const int length = _random.between(1, std::min(left, 1 + layout.elements / 4));
            at += _random.below(3);
            layout.starts.push_back(at);
            layout.lengths.push_back(length);
            at += length;
            left -= length;
        }
        if (_random.one_in(2)) {
            std::reverse(layout.starts.begin(), layout.starts.end());
            std::reverse(layout.lengths.begin(), layout.lengths.end());
        }
    }
    void add(Layout& layout, std::int64_t element) {
        layout.pieces.push_back({element * _basic.extent, _basic.bytes});
        layout.span = std::max(layout.span, (element + 1) * _basic.extent);
    }
    void place(Layout& layout) {
        const int elements = layout.elements;
        switch (layout.form) {
        case Form::plain:
        case Form::contiguous:
        case Form::resized:
            for (int i = 0; i < elements; ++i) {
                add(layout, std::int64_t(i) * (layout.form == Form::resized ? layout.stride : 1));
            }
            break;
        case Form::vector:
        case Form::subarray:
        case Form::backwards:
            for (int block = 0; block < layout.blocks; ++block) {
                const int row = layout.form == Form::backwards ? layout.blocks - 1 - block : block;
                for (int i = 0; i < layout.length; ++i) {
                    add(layout, std::int64_t(row) * layout.stride + i);
                }
            }
            if (layout.form == Form::backwards) {
                layout.shift = std::int64_t(layout.blocks - 1) * layout.stride * _basic.extent;
            } else if (layout.form == Form::subarray) {
                layout.span = std::int64_t(layout.blocks) * layout.stride * _basic.extent;
            }
            break;
        default:
            for (std::size_t block = 0; block < layout.starts.size(); ++block) {
                for (int i = 0; i < layout.lengths[block]; ++i) {
                    add(layout, layout.starts[block] + i);
                }
            }
        }
    }
    Layout record(int elements, std::int64_t room) {
        Layout layout;
        layout.form = Form::record;
        layout.basic = &_basic;
        layout.elements = elements;
        for (int& hole : layout.holes) {
            hole = _random.below(5);
        }
        if (std::int64_t(record_extent(layout)) * elements > room) {
            layout.holes[0] = layout.holes[1] = 0;
        }
        for (int i = 0; i < elements; ++i) {
            const std::int64_t at = std::int64_t(i) * record_extent(layout);
            layout.pieces.push_back({at, 4});
            layout.pieces.push_back({at + 4 + layout.holes[0], 8});
            layout.pieces.push_back({at + 12 + layout.holes[0] + layout.holes[1], 2});
        }
        layout.span = std::int64_t(record_extent(layout)) * elements;
        return layout;
    }

    Random& _random;
    const Basic& _basic;
};

// The datatype of a layout, and how many of it.
class Type {
public:
    explicit Type(const Layout& layout) { build(layout); }
    ~Type() { release(); }
    Type(const Type&) = delete;
    Type& operator=(const Type&) = delete;

    // The program may free a datatype that a pending operation uses.
    void release() {
        if (_owned) {
            MPI_Type_free(&type);
            _owned = false;
        }
    }

    MPI_Datatype type = MPI_DATATYPE_NULL;
    int count = 1;

private:
    void build(const Layout& layout) {
        using Form = Layout::Form;
        const Basic& basic = *layout.basic;
        _owned = layout.form != Form::plain;
        switch (layout.form) {
        case Form::plain:
            type = basic.type;
            count = layout.elements;
            return;
        case Form::contiguous:
            MPI_Type_contiguous(layout.length, basic.type, &type);
            count = layout.blocks;
            break;
        case Form::vector:
            MPI_Type_vector(layout.blocks, layout.length, layout.stride, basic.type, &type);
            break;
        case Form::backwards:
            MPI_Type_create_hvector(
                layout.blocks, layout.length, -MPI_Aint(layout.stride) * basic.extent, basic.type, &type);
            break;
        case Form::indexed:
            MPI_Type_indexed(int(layout.starts.size()), layout.lengths.data(), layout.starts.data(), basic.type, &type);
            break;
        case Form::structure:
            structure(layout);
            break;
        case Form::subarray: {
            const int all[] = {layout.blocks, layout.stride}, part[] = {layout.blocks, layout.length}, from[] = {0, 0};
            MPI_Type_create_subarray(2, all, part, from, MPI_ORDER_C, basic.type, &type);
            break;
        }
        case Form::resized:
            MPI_Type_create_resized(basic.type, 0, MPI_Aint(layout.stride) * basic.extent, &type);
            count = layout.elements;
            break;
        case Form::record:
            record(layout);
        }
        MPI_Type_commit(&type);
    }
    // Of the basic type and of contiguous types of it, in turns.
    void structure(const Layout& layout) {
        std::vector<MPI_Datatype> types, made;
        std::vector<MPI_Aint> places;
        std::vector<int> lengths;
        for (std::size_t i = 0; i < layout.starts.size(); ++i) {
            places.push_back(MPI_Aint(layout.starts[i]) * layout.basic->extent);
            if (i % 2 == 0) {
                types.push_back(layout.basic->type);
                lengths.push_back(layout.lengths[i]);
            } else {
                MPI_Datatype block;
                MPI_Type_contiguous(layout.lengths[i], layout.basic->type, &block);
                made.push_back(block);
                types.push_back(block);
                lengths.push_back(1);
            }
        }
        MPI_Type_create_struct(int(types.size()), lengths.data(), places.data(), types.data(), &type);
        for (MPI_Datatype& one : made) {
            MPI_Type_free(&one);
        }
    }
    void record(const Layout& layout) {
        const int lengths[] = {1, 1, 1};
        const MPI_Aint places[] = {0, 4 + layout.holes[0], 12 + layout.holes[0] + layout.holes[1]};
        const MPI_Datatype types[] = {MPI_INT32_T, MPI_DOUBLE, MPI_INT16_T};
        MPI_Datatype fields;
        MPI_Type_create_struct(3, lengths, places, types, &fields);
        MPI_Type_create_resized(fields, 0, record_extent(layout), &type);
        MPI_Type_free(&fields);
        count = layout.elements;
    }

    bool _owned = false;
};

// The bytes of a message, without the holes of its layout.
using Packed = std::vector<unsigned char>;

inline Packed gather(const unsigned char* buffer, const Layout& layout) {
    Packed packed;
    for (const Piece& piece : layout.pieces) {
        packed.insert(packed.end(), buffer + piece.place, buffer + piece.place + piece.bytes);
    }
    return packed;
}

inline void scatter(const Packed& packed, unsigned char* buffer, const Layout& layout) {
    std::size_t at = 0;
    for (const Piece& piece : layout.pieces) {
        std::memcpy(buffer + piece.place, packed.data() + at, std::size_t(piece.bytes));
        at += std::size_t(piece.bytes);
    }
}
