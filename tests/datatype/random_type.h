// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype.h"
#include "tests/datatype/typemap.h"

#include <random>

namespace patchbay::test {

// A datatype and what it should be.
struct Sample {
    Ref<Datatype> type;
    Typemap map;
};

// Makes nested types of all constructors with random arguments; small enough that a typemap can be written out.
class TypeMaker {
public:
    explicit TypeMaker(unsigned seed)
        : _random(seed) {}

    // Committed. The higher `depth`, the more constructors inside each other.
    Sample make(int depth);
    // Uniform, both ends included.
    MPI_Count number(MPI_Count from, MPI_Count to) {
        return std::uniform_int_distribution<MPI_Count>(from, to)(_random);
    }

private:
    Sample predefined();
    Sample contiguous(const Sample& old);
    Sample vector(const Sample& old, bool in_bytes);
    Sample indexed(const Sample& old, bool in_bytes, bool same_length);
    Sample structure(int depth);
    Sample resized(const Sample& old);
    Sample renamed(const Sample& old);
    Sample subarray(const Sample& old);
    MPI_Aint distance();

    std::mt19937 _random;
};

} // namespace patchbay::test
