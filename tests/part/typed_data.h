// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <mpi.h>
#include <vector>

// Datatypes that consist of ints, with and without holes, and buffers of them that are filled from and compared with
// plain arrays of ints.
class IntTypes {
public:
    static constexpr int plain = 0, triple = 1, strided = 2, blocks = 3, whole = 4;

    // `whole_ints`: the size of type `whole`.
    explicit IntTypes(int whole_ints)
        : _whole_ints(whole_ints) {
        const int lengths[] = {1, 3, 2};
        const int displacements[] = {4, 0, 7};
        MPI_Type_contiguous(3, MPI_INT, &_types[triple]);
        MPI_Type_vector(2, 1, 2, MPI_INT, &_types[strided]);
        MPI_Type_indexed(3, lengths, displacements, MPI_INT, &_types[blocks]);
        MPI_Type_contiguous(whole_ints, MPI_INT, &_types[whole]);
        for (int i = triple; i <= whole; ++i) {
            MPI_Type_commit(&_types[i]);
        }
    }
    ~IntTypes() {
        for (int i = triple; i <= whole; ++i) {
            MPI_Type_free(&_types[i]);
        }
    }
    IntTypes(const IntTypes&) = delete;
    IntTypes& operator=(const IntTypes&) = delete;

    MPI_Datatype handle(int type) const { return _types[type]; }
    int ints(int type) const {
        const int of_types[] = {1, 3, 2, 6, _whole_ints};
        return of_types[type];
    }

private:
    int _whole_ints;
    MPI_Datatype _types[5] = {MPI_INT};
};

// A buffer for `elements` elements of a type.
class TypedBuffer {
public:
    TypedBuffer(const IntTypes& types, int type, int elements)
        : _type(types.handle(type)),
          _elements(elements),
          _ints(std::size_t(elements) * std::size_t(types.ints(type))) {
        MPI_Aint lower, extent;
        MPI_Type_get_extent(_type, &lower, &extent);
        _memory.assign(std::size_t(elements) * std::size_t(extent) + 64, std::byte{0xee});
    }

    void* data() { return _memory.data(); }
    std::size_t ints() const { return _ints; }
    void put(const std::vector<int>& values) {
        int position = 0;
        MPI_Unpack(values.data(), int(values.size() * sizeof(int)), &position, _memory.data(), _elements, _type,
            MPI_COMM_SELF);
    }
    std::vector<int> get() const {
        std::vector<int> values(_ints);
        int position = 0;
        MPI_Pack(_memory.data(), _elements, _type, values.data(), int(values.size() * sizeof(int)), &position,
            MPI_COMM_SELF);
        return values;
    }

private:
    MPI_Datatype _type;
    int _elements;
    std::size_t _ints;
    std::vector<std::byte> _memory;
};
