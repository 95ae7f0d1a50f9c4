// SPDX-License-Identifier: BSD-3-Clause
// Known bytes of external32 (MPI-5.0, 14.5.2).
#include "object/external32.h"

#include <complex>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace patchbay::test {
namespace {

using Bytes = std::vector<unsigned char>;

const Datatype& type_of(MPI_Datatype handle) {
    return *to_object<Datatype>(handle);
}

template <class T>
Bytes packed(MPI_Datatype handle, const T& value) {
    Bytes out(external32_size(type_of(handle)));
    EXPECT_EQ(external32_pack(&value, 1, type_of(handle), out.data()), MPI_SUCCESS);
    return out;
}

template <class T>
T unpacked(MPI_Datatype handle, const Bytes& bytes) {
    T value{};
    EXPECT_EQ(external32_unpack(bytes.data(), &value, 1, type_of(handle)), MPI_SUCCESS);
    return value;
}

template <class T>
void check(MPI_Datatype handle, const T& value, const Bytes& bytes) {
    SCOPED_TRACE(type_of(handle).name);
    EXPECT_EQ(packed(handle, value), bytes);
    EXPECT_EQ(unpacked<T>(handle, bytes), value);
}

TEST(External32, Integers) {
    check<signed char>(MPI_SIGNED_CHAR, -2, {0xfe});
    check<short>(MPI_SHORT, -2, {0xff, 0xfe});
    check<int>(MPI_INT, 0x01020304, {1, 2, 3, 4});
    check<unsigned>(MPI_UNSIGNED, 0xfffefdfc, {0xff, 0xfe, 0xfd, 0xfc});
    check<long long>(MPI_LONG_LONG, 0x0102030405060708, {1, 2, 3, 4, 5, 6, 7, 8});
    check<MPI_Aint>(MPI_AINT, -1, Bytes(8, 0xff));
    check<std::int64_t>(MPI_INT64_T, 1, {0, 0, 0, 0, 0, 0, 0, 1});
    check<__int128>(MPI_INTEGER16, 5, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5});
}

TEST(External32, LongHasFourBytes) {
    check<long>(MPI_LONG, -2, {0xff, 0xff, 0xff, 0xfe});
    check<unsigned long>(MPI_UNSIGNED_LONG, 0x80000001, {0x80, 0, 0, 1});
    check<wchar_t>(MPI_WCHAR, L'A', {0, 'A'});
}

TEST(External32, ValueThatDoesNotFitIsAnError) {
    unsigned char out[8];
    const long big = 1L << 40;
    EXPECT_EQ(external32_pack(&big, 1, type_of(MPI_LONG), out), MPI_ERR_CONVERSION);
    const wchar_t wide = 0x1f600;
    EXPECT_EQ(external32_pack(&wide, 1, type_of(MPI_WCHAR), out), MPI_ERR_CONVERSION);
}

TEST(External32, FloatingPoint) {
    check<float>(MPI_FLOAT, 1.5f, {0x3f, 0xc0, 0, 0});
    check<double>(MPI_DOUBLE, -2.0, {0xc0, 0, 0, 0, 0, 0, 0, 0});
    check<float>(MPI_REAL, 1.0f, {0x3f, 0x80, 0, 0});
    check<std::complex<float>>(MPI_C_FLOAT_COMPLEX, {1.0f, -2.0f}, {0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0});
}

TEST(External32, LongDoubleIsBinary128) {
    // 1.5 = 1.1b: exponent 16383, first fraction bit set. -0.25 = 1.0b * 2^-2, exponent 16381.
    check<long double>(MPI_LONG_DOUBLE, 1.5L, {0x3f, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    check<long double>(MPI_LONG_DOUBLE, -0.25L, {0xbf, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    const long double third = 1.0L / 3;
    EXPECT_EQ(unpacked<long double>(MPI_LONG_DOUBLE, packed(MPI_LONG_DOUBLE, third)), third);
    const long double tiny = std::numeric_limits<long double>::denorm_min();
    EXPECT_EQ(unpacked<long double>(MPI_LONG_DOUBLE, packed(MPI_LONG_DOUBLE, tiny)), tiny);
    EXPECT_EQ(external32_size(type_of(MPI_C_LONG_DOUBLE_COMPLEX)), 32u);
}

TEST(External32, CharactersAndBytesKeepTheirOrder) {
    const char text[4] = {'a', 'b', 'c', 'd'};
    Bytes out(4);
    for (MPI_Datatype handle : {MPI_CHAR, MPI_BYTE, MPI_PACKED, MPI_CHARACTER, MPI_UNSIGNED_CHAR}) {
        ASSERT_EQ(external32_pack(text, 4, type_of(handle), out.data()), MPI_SUCCESS);
        EXPECT_EQ(out, (Bytes{'a', 'b', 'c', 'd'}));
    }
}

TEST(External32, PairsArePackedMemberByMemberWithoutPadding) {
    struct {
        short value;
        int index;
    } pair{0x0102, 0x03040506};
    EXPECT_EQ(packed(MPI_SHORT_INT, pair), (Bytes{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(external32_size(type_of(MPI_LONG_DOUBLE_INT)), 20u);
    EXPECT_EQ(external32_size(type_of(MPI_LONG_INT)), 8u);
}

} // namespace
} // namespace patchbay::test
