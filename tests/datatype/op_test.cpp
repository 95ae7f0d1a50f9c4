// SPDX-License-Identifier: BSD-3-Clause
// Every predefined op on every predefined type it is defined for, against a plain loop over the type's own values; and
// for all other pairs that they are refused.
#include "object/datatype.h"
#include "object/op.h"
#include "object/op_kernels.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace patchbay::test {
namespace {

constexpr int length = 257;

std::vector<Datatype*> all_types() {
    std::vector<Datatype*> types;
    for (Datatype* type : Predefined<Datatype>::table) {
        if (type != nullptr) {
            types.push_back(type);
        }
    }
    return types;
}

Op& op(MPI_Op handle) {
    return *to_object<Op>(handle);
}

bool one_of(MPI_Datatype handle, std::initializer_list<MPI_Datatype> handles) {
    return std::find(handles.begin(), handles.end(), handle) != handles.end();
}

// Applies the op to `a` and `inout`, elements of `size` bytes, and compares with `want`. No template: g++ takes long
// for the assertions of one.
void check_bytes(MPI_Op handle, MPI_Datatype type, const void* a, void* inout, const void* want, std::size_t size) {
    const Datatype& datatype = *to_object<Datatype>(type);
    SCOPED_TRACE(datatype.name);
    ASSERT_EQ(static_cast<std::size_t>(datatype.extent), size);
    ASSERT_TRUE(op(handle).accepts(datatype));
    ASSERT_EQ(op(handle).apply(a, inout, length, datatype), MPI_SUCCESS);
    for (std::size_t i = 0; i < length; ++i) {
        ASSERT_EQ(std::memcmp(static_cast<char*>(inout) + i * size, static_cast<const char*>(want) + i * size, size), 0)
            << "element " << i;
    }
}

// Applies the op to `a` and `b`, both of `length` values, and compares with what `expected` makes of each pair of them.
template <class T>
void check(MPI_Op handle, MPI_Datatype type, const std::vector<T>& a, const std::vector<T>& b, T (*expected)(T, T)) {
    std::vector<T> want(length);
    for (std::size_t i = 0; i < length; ++i) {
        want[i] = expected(a[i], b[i]);
    }
    std::vector<T> result = b;
    check_bytes(handle, type, a.data(), result.data(), want.data(), sizeof(T));
}

template <class T>
std::vector<T> values(int seed) {
    std::vector<T> v(length);
    for (int i = 0; i < length; ++i) {
        v[static_cast<std::size_t>(i)] = static_cast<T>((i * 7 + seed * 13) % 23 - (T(-1) < T(0) ? 11 : 0));
    }
    return v;
}

template <class T>
void check_ordered(MPI_Datatype type) {
    const auto a = values<T>(1);
    const auto b = values<T>(2);
    check<T>(MPI_SUM, type, a, b, [](T x, T y) { return T(x + y); });
    check<T>(MPI_PROD, type, a, b, [](T x, T y) { return T(x * y); });
    check<T>(MPI_MIN, type, a, b, [](T x, T y) { return y < x ? y : x; });
    check<T>(MPI_MAX, type, a, b, [](T x, T y) { return x < y ? y : x; });
    check<T>(MPI_LAND, type, a, b, [](T x, T y) { return T(x && y); });
    check<T>(MPI_LOR, type, a, b, [](T x, T y) { return T(x || y); });
    check<T>(MPI_LXOR, type, a, b, [](T x, T y) { return T(!x != !y); });
}

template <class T>
void check_integer(MPI_Datatype type) {
    const auto a = values<T>(1);
    const auto b = values<T>(2);
    check_ordered<T>(type);
    check<T>(MPI_BAND, type, a, b, [](T x, T y) { return T(x & y); });
    check<T>(MPI_BOR, type, a, b, [](T x, T y) { return T(x | y); });
    check<T>(MPI_BXOR, type, a, b, [](T x, T y) { return T(x ^ y); });
}

template <class T>
void check_logical(MPI_Datatype type) {
    std::vector<T> a(length);
    std::vector<T> b(length);
    for (std::size_t i = 0; i < length; ++i) {
        a[i] = T(i % 2);
        b[i] = T(i / 2 % 2);
    }
    check<T>(MPI_LAND, type, a, b, [](T x, T y) { return T(x && y); });
    check<T>(MPI_LOR, type, a, b, [](T x, T y) { return T(x || y); });
    check<T>(MPI_LXOR, type, a, b, [](T x, T y) { return T(!x != !y); });
}

template <class T>
void check_complex(MPI_Datatype type) {
    using C = std::complex<T>;
    std::vector<C> a(length);
    std::vector<C> b(length);
    std::memset(static_cast<void*>(a.data()), 0, sizeof(C) * length); // padding of long double
    std::memset(static_cast<void*>(b.data()), 0, sizeof(C) * length);
    for (std::size_t i = 0; i < length; ++i) {
        a[i] = C(T(i % 7), T(i % 5) - 2);
        b[i] = C(T(i % 3) - 1, T(i % 11));
    }
    std::vector<C> sum = b;
    std::vector<C> product = b;
    const auto count = static_cast<MPI_Count>(length);
    ASSERT_EQ(op(MPI_SUM).apply(a.data(), sum.data(), count, *to_object<Datatype>(type)), MPI_SUCCESS);
    ASSERT_EQ(op(MPI_PROD).apply(a.data(), product.data(), count, *to_object<Datatype>(type)), MPI_SUCCESS);
    for (std::size_t i = 0; i < length; ++i) {
        ASSERT_EQ(sum[i], a[i] + b[i]);
        ASSERT_EQ(product[i], a[i] * b[i]);
    }
}

template <class V, class I>
void check_pair(MPI_Datatype type) {
    struct P {
        V value;
        I index;
    };
    SCOPED_TRACE(to_object<Datatype>(type)->name);
    ASSERT_EQ(static_cast<std::size_t>(to_object<Datatype>(type)->extent), sizeof(P));
    std::vector<P> a(length);
    std::vector<P> b(length);
    for (int i = 0; i < length; ++i) {
        a[static_cast<std::size_t>(i)] = {V(i % 5), I(i % 9)};
        b[static_cast<std::size_t>(i)] = {V(i % 4), I(i % 7)};
    }
    for (MPI_Op handle : {MPI_MINLOC, MPI_MAXLOC}) {
        std::vector<P> result = b;
        ASSERT_EQ(op(handle).apply(a.data(), result.data(), length, *to_object<Datatype>(type)), MPI_SUCCESS);
        for (std::size_t i = 0; i < length; ++i) {
            const P x = a[i];
            const P y = b[i];
            const bool first = x.value == y.value ? x.index < y.index
                : handle == MPI_MINLOC            ? x.value < y.value
                                                  : x.value > y.value;
            ASSERT_EQ(result[i].value, first ? x.value : y.value);
            ASSERT_EQ(result[i].index, first ? x.index : y.index);
        }
    }
}

TEST(Op, Integers) {
    check_integer<short>(MPI_SHORT);
    check_integer<int>(MPI_INT);
    check_integer<long>(MPI_LONG);
    check_integer<long long>(MPI_LONG_LONG);
    check_integer<unsigned short>(MPI_UNSIGNED_SHORT);
    check_integer<unsigned>(MPI_UNSIGNED);
    check_integer<unsigned long>(MPI_UNSIGNED_LONG);
    check_integer<unsigned long long>(MPI_UNSIGNED_LONG_LONG);
    check_integer<signed char>(MPI_CHAR);
    check_integer<signed char>(MPI_SIGNED_CHAR);
    check_integer<unsigned char>(MPI_UNSIGNED_CHAR);
    check_integer<std::int8_t>(MPI_INT8_T);
    check_integer<std::uint8_t>(MPI_UINT8_T);
    check_integer<std::int16_t>(MPI_INT16_T);
    check_integer<std::uint16_t>(MPI_UINT16_T);
    check_integer<std::int32_t>(MPI_INT32_T);
    check_integer<std::uint32_t>(MPI_UINT32_T);
    check_integer<std::int64_t>(MPI_INT64_T);
    check_integer<std::uint64_t>(MPI_UINT64_T);
    check_integer<MPI_Aint>(MPI_AINT);
    check_integer<MPI_Count>(MPI_COUNT);
    check_integer<MPI_Offset>(MPI_OFFSET);
    check_integer<std::int32_t>(MPI_INTEGER);
    check_integer<std::int8_t>(MPI_INTEGER1);
    check_integer<std::int16_t>(MPI_INTEGER2);
    check_integer<std::int32_t>(MPI_INTEGER4);
    check_integer<std::int64_t>(MPI_INTEGER8);
    check_integer<__int128>(MPI_INTEGER16);
}

TEST(Op, FloatingPoint) {
    check_ordered<float>(MPI_FLOAT);
    check_ordered<double>(MPI_DOUBLE);
    check_ordered<float>(MPI_REAL);
    check_ordered<double>(MPI_DOUBLE_PRECISION);
    check_ordered<float>(MPI_REAL4);
    check_ordered<double>(MPI_REAL8);
    check_ordered<__float128>(MPI_REAL16);
}

// Not by memcmp: six of its sixteen bytes have no meaning.
TEST(Op, LongDouble) {
    const auto a = values<long double>(1);
    auto b = values<long double>(2);
    for (MPI_Op handle : {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX}) {
        auto result = b;
        ASSERT_EQ(
            op(handle).apply(a.data(), result.data(), length, *to_object<Datatype>(MPI_LONG_DOUBLE)), MPI_SUCCESS);
        for (std::size_t i = 0; i < length; ++i) {
            const long double want = handle == MPI_SUM ? a[i] + b[i]
                : handle == MPI_PROD                   ? a[i] * b[i]
                : handle == MPI_MIN                    ? std::min(a[i], b[i])
                                                       : std::max(a[i], b[i]);
            ASSERT_EQ(result[i], want);
        }
    }
}

TEST(Op, Logicals) {
    check_logical<std::uint8_t>(MPI_C_BOOL);
    check_logical<std::uint8_t>(MPI_CXX_BOOL);
    check_logical<std::int32_t>(MPI_LOGICAL);
    check_logical<std::int8_t>(MPI_LOGICAL1);
    check_logical<std::int16_t>(MPI_LOGICAL2);
    check_logical<std::int32_t>(MPI_LOGICAL4);
    check_logical<std::int64_t>(MPI_LOGICAL8);
    check_logical<__int128>(MPI_LOGICAL16);
}

TEST(Op, ComplexNumbers) {
    check_complex<float>(MPI_C_FLOAT_COMPLEX);
    check_complex<double>(MPI_C_DOUBLE_COMPLEX);
    check_complex<long double>(MPI_C_LONG_DOUBLE_COMPLEX);
    check_complex<float>(MPI_CXX_FLOAT_COMPLEX);
    check_complex<double>(MPI_CXX_DOUBLE_COMPLEX);
    check_complex<long double>(MPI_CXX_LONG_DOUBLE_COMPLEX);
    check_complex<float>(MPI_COMPLEX);
    check_complex<double>(MPI_DOUBLE_COMPLEX);
    check_complex<float>(MPI_COMPLEX8);
    check_complex<double>(MPI_COMPLEX16);
}

TEST(Op, Bytes) {
    const auto a = values<unsigned char>(1);
    const auto b = values<unsigned char>(2);
    using B = unsigned char;
    check<B>(MPI_BAND, MPI_BYTE, a, b, [](B x, B y) { return B(x & y); });
    check<B>(MPI_BOR, MPI_BYTE, a, b, [](B x, B y) { return B(x | y); });
    check<B>(MPI_BXOR, MPI_BYTE, a, b, [](B x, B y) { return B(x ^ y); });
}

TEST(Op, Pairs) {
    check_pair<float, int>(MPI_FLOAT_INT);
    check_pair<double, int>(MPI_DOUBLE_INT);
    check_pair<long, int>(MPI_LONG_INT);
    check_pair<int, int>(MPI_2INT);
    check_pair<short, int>(MPI_SHORT_INT);
    check_pair<long double, int>(MPI_LONG_DOUBLE_INT);
    check_pair<float, float>(MPI_2REAL);
    check_pair<double, double>(MPI_2DOUBLE_PRECISION);
    check_pair<std::int32_t, std::int32_t>(MPI_2INTEGER);
}

// The gap in an {int16, int} pair belongs to the user.
TEST(Op, PairsLeavePaddingAlone) {
    unsigned char a[8];
    unsigned char b[8];
    std::memset(a, 0x11, sizeof a);
    std::memset(b, 0x22, sizeof b);
    ASSERT_EQ(op(MPI_MINLOC).apply(a, b, 1, *to_object<Datatype>(MPI_SHORT_INT)), MPI_SUCCESS);
    EXPECT_EQ(b[0], 0x11);
    EXPECT_EQ(b[4], 0x11);
    EXPECT_EQ(b[2], 0x22);
    EXPECT_EQ(b[3], 0x22);
}

TEST(Op, DefinedForTheTypesOfTheStandardAndNoOthers) {
    for (Datatype* type : all_types()) {
        SCOPED_TRACE(type->name);
        const MPI_Datatype t = to_handle(type);
        const bool exists = type->exists();
        const bool complex = one_of(t,
            {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX,
                MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8,
                MPI_COMPLEX16, MPI_COMPLEX32});
        const bool floating = one_of(t,
            {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8, MPI_REAL16});
        const bool logical = one_of(t,
            {MPI_C_BOOL, MPI_CXX_BOOL, MPI_LOGICAL, MPI_LOGICAL1, MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8,
                MPI_LOGICAL16});
        const bool pair = one_of(t,
            {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_2REAL,
                MPI_2DOUBLE_PRECISION, MPI_2INTEGER});
        const bool no_number = one_of(t, {MPI_BYTE, MPI_PACKED, MPI_WCHAR, MPI_CHARACTER});
        const bool integer = exists && !complex && !floating && !logical && !pair && !no_number;
        for (MPI_Op handle : {MPI_SUM, MPI_PROD}) {
            EXPECT_EQ(op(handle).accepts(*type), integer || floating || complex);
        }
        for (MPI_Op handle : {MPI_MIN, MPI_MAX}) {
            EXPECT_EQ(op(handle).accepts(*type), integer || floating);
        }
        for (MPI_Op handle : {MPI_BAND, MPI_BOR, MPI_BXOR}) {
            EXPECT_EQ(op(handle).accepts(*type), integer || t == MPI_BYTE);
        }
        for (MPI_Op handle : {MPI_LAND, MPI_LOR, MPI_LXOR}) {
            EXPECT_EQ(op(handle).accepts(*type), integer || floating || logical);
        }
        for (MPI_Op handle : {MPI_MINLOC, MPI_MAXLOC}) {
            EXPECT_EQ(op(handle).accepts(*type), pair);
        }
        for (MPI_Op handle : {MPI_REPLACE, MPI_NO_OP}) {
            EXPECT_EQ(op(handle).accepts(*type), exists);
        }
    }
}

TEST(Op, RefusesWithoutTouchingTheBuffer) {
    double a = 1;
    double b = 2;
    EXPECT_EQ(op(MPI_BAND).apply(&a, &b, 1, *to_object<Datatype>(MPI_DOUBLE)), MPI_ERR_OP);
    EXPECT_EQ(b, 2);
}

TEST(Op, ReplaceAndNoOp) {
    const int a[2] = {1, 2};
    int b[2] = {3, 4};
    ASSERT_EQ(op(MPI_NO_OP).apply(a, b, 2, *to_object<Datatype>(MPI_INT)), MPI_SUCCESS);
    EXPECT_EQ(b[1], 4);
    ASSERT_EQ(op(MPI_REPLACE).apply(a, b, 2, *to_object<Datatype>(MPI_INT)), MPI_SUCCESS);
    EXPECT_EQ(b[1], 2);
    EXPECT_TRUE(op(MPI_REPLACE).is_accumulate_only());
    EXPECT_FALSE(op(MPI_SUM).is_accumulate_only());
}

int calls = 0;

void keep_first(void* in, void* inout, int* count, MPI_Datatype* type) {
    ++calls;
    EXPECT_EQ(*type, MPI_INT);
    std::memcpy(inout, in, sizeof(int) * static_cast<std::size_t>(*count));
}

void count_large(void*, void*, MPI_Count* count, MPI_Datatype*) {
    ++calls;
    EXPECT_EQ(*count, MPI_Count(1) << 33);
}

MPI_Count seen = 0;
const void* last_in = nullptr;

void count_small(void* in, void*, int* count, MPI_Datatype*) {
    seen += *count;
    last_in = in;
}

TEST(Op, UserFunctions) {
    calls = 0;
    const Ref<Op> mine = Op::user(keep_first, false);
    EXPECT_FALSE(mine->is_commutative());
    const int a[2] = {7, 8};
    int b[2] = {0, 0};
    ASSERT_EQ(mine->apply(a, b, 2, *to_object<Datatype>(MPI_INT)), MPI_SUCCESS);
    EXPECT_EQ(b[1], 8);
    EXPECT_EQ(calls, 1);

    const Ref<Op> large = Op::user_large(count_large, true);
    ASSERT_EQ(large->apply(nullptr, nullptr, MPI_Count(1) << 33, *to_object<Datatype>(MPI_INT)), MPI_SUCCESS);
    EXPECT_EQ(calls, 2);
}

TEST(Op, FunctionWithIntLengthGetsLongVectorInParts) {
    seen = 0;
    const Ref<Op> mine = Op::user(count_small, true);
    static char origin;
    const MPI_Count count = (MPI_Count(1) << 32) + 5;
    // The function does not touch its vectors, so none of that size is needed.
    ASSERT_EQ(mine->apply(&origin, &origin, count, *to_object<Datatype>(MPI_INT)), MPI_SUCCESS);
    EXPECT_EQ(seen, count);
    const auto step = reinterpret_cast<std::uintptr_t>(last_in) - reinterpret_cast<std::uintptr_t>(&origin);
    EXPECT_EQ(step, std::uintptr_t(4) * 2 * 0x7fffffff);
}

// The loops that this processor runs, and those for every processor, at lengths with and without a rest.
TEST(Op, ThePortableLoopsHaveTheSameResults) {
    const std::pair<Machine, std::size_t> machines[] = {{Machine::i8, 1}, {Machine::i16, 2}, {Machine::i32, 4},
        {Machine::i64, 8}, {Machine::u8, 1}, {Machine::u16, 2}, {Machine::u32, 4}, {Machine::u64, 8}, {Machine::f32, 4},
        {Machine::f64, 8}, {Machine::c32, 8}, {Machine::c64, 16}, {Machine::boolean, 1}, {Machine::l8, 1},
        {Machine::l32, 4}, {Machine::bytes, 1}};
    int compared = 0;
    for (const auto& [machine, size] : machines) {
        for (std::size_t code = 0; code < HandleTraits<Op>::count; ++code) {
            const Op::Kernel loop = op_kernel(std::uint8_t(code), machine);
            const Op::Kernel portable = portable_op_kernel(std::uint8_t(code), machine);
            ASSERT_EQ(loop == nullptr, portable == nullptr);
            for (int count = 1; loop != nullptr && count <= length; count += 16) {
                std::vector<std::uint8_t> in(std::size_t(count) * size);
                std::vector<std::uint8_t> a(in.size());
                for (std::size_t i = 0; i < in.size(); ++i) {
                    in[i] = std::uint8_t(i * 37 % 120); // no NaN
                    a[i] = std::uint8_t(i * 53 % 125 * (i % 3 != 0));
                }
                std::vector<std::uint8_t> b = a;
                loop(in.data(), a.data(), count);
                portable(in.data(), b.data(), count);
                EXPECT_EQ(a, b) << "op " << code << ", machine format " << int(machine) << ", count " << count;
                ++compared;
            }
        }
    }
    EXPECT_GT(compared, 1000);
}

} // namespace
} // namespace patchbay::test
