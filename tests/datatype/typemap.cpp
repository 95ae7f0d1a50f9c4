// SPDX-License-Identifier: BSD-3-Clause
#include "tests/datatype/typemap.h"

#include <algorithm>

namespace patchbay::test {

Typemap Typemap::predefined(MPI_Datatype handle) {
    const BasicType& type = basic_type(basic_index(handle));
    Typemap map;
    if (type.is_pair()) {
        map._entries = {{type.first, 0}, {type.second, type.second_offset}};
    } else {
        map._entries = {{basic_index(handle), 0}};
    }
    return map;
}

void Typemap::append(const Typemap& part, std::span<const MPI_Aint> displacements) {
    for (MPI_Aint displacement : displacements) {
        for (const Entry& e : part._entries) {
            _entries.push_back({e.basic, e.displacement + displacement});
        }
        if (part._lower) {
            const MPI_Aint lower = *part._lower + displacement;
            const MPI_Aint upper = *part._upper + displacement;
            _lower = _lower ? std::min(*_lower, lower) : lower;
            _upper = _upper ? std::max(*_upper, upper) : upper;
        }
    }
}

void Typemap::set_bounds(MPI_Aint lower, MPI_Aint upper) {
    _lower = lower;
    _upper = upper;
}

MPI_Aint Typemap::size() const {
    MPI_Aint sum = 0;
    for (const Entry& e : _entries) {
        sum += basic_type(e.basic).size;
    }
    return sum;
}

MPI_Aint Typemap::alignment() const {
    MPI_Aint most = 1;
    for (const Entry& e : _entries) {
        most = std::max<MPI_Aint>(most, basic_type(e.basic).alignment);
    }
    return most;
}

MPI_Aint Typemap::true_lower_bound() const {
    MPI_Aint low = _entries.empty() ? 0 : _entries.front().displacement;
    for (const Entry& e : _entries) {
        low = std::min(low, e.displacement);
    }
    return low;
}

MPI_Aint Typemap::true_upper_bound() const {
    MPI_Aint high = _entries.empty() ? 0 : true_lower_bound();
    for (const Entry& e : _entries) {
        high = std::max(high, e.displacement + basic_type(e.basic).size);
    }
    return high;
}

MPI_Aint Typemap::lower_bound() const {
    return _lower.value_or(true_lower_bound());
}

MPI_Aint Typemap::upper_bound() const {
    if (_upper) {
        return *_upper;
    }
    MPI_Aint extent = true_upper_bound() - true_lower_bound();
    while (extent % alignment() != 0) {
        ++extent;
    }
    return lower_bound() + extent;
}

bool Typemap::dense() const {
    if (size() != extent()) {
        return false;
    }
    for (std::size_t i = 1; i < _entries.size(); ++i) {
        if (_entries[i - 1].displacement + basic_type(_entries[i - 1].basic).size != _entries[i].displacement) {
            return false;
        }
    }
    return true;
}

std::vector<MPI_Aint> Typemap::byte_offsets(MPI_Aint count) const {
    std::vector<MPI_Aint> offsets;
    const MPI_Aint step = extent();
    for (MPI_Aint i = 0; i < count; ++i) {
        for (const Entry& e : _entries) {
            for (MPI_Aint b = 0; b < basic_type(e.basic).size; ++b) {
                offsets.push_back(i * step + e.displacement + b);
            }
        }
    }
    return offsets;
}

} // namespace patchbay::test
