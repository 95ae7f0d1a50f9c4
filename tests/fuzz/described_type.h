// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype.h"
#include "tests/datatype/typemap.h"
#include "tests/fuzz/bytes.h"

#include <optional>
#include <vector>

namespace patchbay::fuzz {

// A datatype, and its typemap where that is small enough to be written out.
struct DescribedType {
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    std::optional<test::Typemap> map;
};

// A tree of constructors whose kinds and arguments are decided by the bytes of an input. All types are constructed with
// the functions of MPI, and freed with the object.
class TypeTree {
public:
    explicit TypeTree(Bytes& bytes);
    TypeTree(const TypeTree&) = delete;
    TypeTree& operator=(const TypeTree&) = delete;
    ~TypeTree();

    // The type that was constructed last.
    const DescribedType& last() const { return _types.back(); }

private:
    using Counts = std::vector<MPI_Count>;

    const DescribedType& component();
    DescribedType predefined();
    MPI_Count count(MPI_Count most);
    MPI_Count distance(MPI_Count from, MPI_Count to);
    void add(int code, MPI_Datatype handle, std::optional<test::Typemap> map);

    void contiguous();
    void vector(bool in_bytes);
    void indexed(bool in_bytes, bool same_length);
    void structure();
    void resized();
    void renamed();
    void subarray();
    void darray();

    Bytes& _bytes;
    std::vector<DescribedType> _types;
    bool _wild = false;  // this constructor gets numbers of any size
    bool _large = false; // this constructor is the one with MPI_Count
};

} // namespace patchbay::fuzz
