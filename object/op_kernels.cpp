// SPDX-License-Identifier: BSD-3-Clause
#include "object/op_kernels.h"

#include "core/base/processor.h"
#include "object/fortran_logicals.h"

#include <array>
#include <cstring>
#include <type_traits>

// At -O2, g++ does not vectorise a loop whose length is not known at compile time, and this file has only such loops.
#if !defined(__clang__)
#pragma GCC optimize("O3")
#endif

namespace patchbay {
namespace {

using namespace op_code;

template <class T>
struct Complex {
    T re, im;
};

template <class Value, class Index>
struct Pair {
    Value value;
    Index index;
};

// The bool of C and C++. It is a type of its own, so that only the logical ops apply to it.
struct Bool {
    std::uint8_t bits;
};

struct Byte {
    std::uint8_t bits;
};

// Signed integers are added and multiplied as unsigned ones. The resulting bits are the same, and an overflow of the
// user's data is not undefined behaviour.
template <class T>
struct Wrapping {
    using type = T;
};
template <class T>
requires std::is_integral_v<T>
struct Wrapping<T> {
    // Types narrower than int would be promoted to int.
    using type = std::conditional_t<sizeof(T) < sizeof(unsigned), unsigned, std::make_unsigned_t<T>>;
};

template <class T>
constexpr bool is_integer = std::is_integral_v<T> || std::is_same_v<T, __int128>;

struct Sum {
    template <class T>
    static T apply(T a, T b) {
        using W = typename Wrapping<T>::type;
        return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
    }
    template <class T>
    static Complex<T> apply(Complex<T> a, Complex<T> b) {
        return {a.re + b.re, a.im + b.im};
    }
};

struct Prod {
    template <class T>
    static T apply(T a, T b) {
        using W = typename Wrapping<T>::type;
        return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
    }
    template <class T>
    static Complex<T> apply(Complex<T> a, Complex<T> b) {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
};

struct Min {
    template <class T>
    static T apply(T a, T b) {
        return a < b ? a : b;
    }
};

struct Max {
    template <class T>
    static T apply(T a, T b) {
        return a > b ? a : b;
    }
};

struct BitAnd {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a & b);
    }
    static Byte apply(Byte a, Byte b) { return {static_cast<std::uint8_t>(a.bits & b.bits)}; }
};

struct BitOr {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a | b);
    }
    static Byte apply(Byte a, Byte b) { return {static_cast<std::uint8_t>(a.bits | b.bits)}; }
};

struct BitXor {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a ^ b);
    }
    static Byte apply(Byte a, Byte b) { return {static_cast<std::uint8_t>(a.bits ^ b.bits)}; }
};

struct LogicalAnd {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>((a != 0) & (b != 0));
    }
    static Bool apply(Bool a, Bool b) { return {apply(a.bits, b.bits)}; }
};

struct LogicalOr {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>((a != 0) | (b != 0));
    }
    static Bool apply(Bool a, Bool b) { return {apply(a.bits, b.bits)}; }
};

struct LogicalXor {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>((a != 0) != (b != 0));
    }
    static Bool apply(Bool a, Bool b) { return {apply(a.bits, b.bits)}; }
};

// If two values are equal, the result has the lower index (MPI-5.0, 6.9.4).
struct MinLoc {
    template <class V, class I>
    static Pair<V, I> apply(Pair<V, I> a, Pair<V, I> b) {
        return a.value < b.value || (a.value == b.value && a.index < b.index) ? a : b;
    }
};

struct MaxLoc {
    template <class V, class I>
    static Pair<V, I> apply(Pair<V, I> a, Pair<V, I> b) {
        return a.value > b.value || (a.value == b.value && a.index < b.index) ? a : b;
    }
};

template <class Operation, class T>
[[gnu::always_inline]] inline void combine_elements(const void* in, void* inout, MPI_Count count) noexcept {
    const auto* a = static_cast<const T*>(in);
    auto* b = static_cast<T*>(inout);
#if !defined(__clang__)
#pragma GCC ivdep // the two are the same memory or do not overlap
#endif
    for (MPI_Count i = 0; i < count; ++i) {
        b[i] = Operation::apply(a[i], b[i]);
    }
}

template <class Operation, class T>
void combine(const void* in, void* inout, MPI_Count count) noexcept {
    combine_elements<Operation, T>(in, inout, count);
}

// The same with vectors of 32 bytes. The elements of the result are the same bit by bit.
#if defined(__x86_64__)
template <class Operation, class T>
[[gnu::target("avx2")]] void combine_avx2(const void* in, void* inout, MPI_Count count) noexcept {
    combine_elements<Operation, T>(in, inout, count);
}
#endif

template <bool avx2, class Operation, class T>
constexpr Op::Kernel loop_of() noexcept {
#if defined(__x86_64__)
    if (avx2) {
        return combine_avx2<Operation, T>;
    }
#endif
    return combine<Operation, T>;
}

// LOGICALs of Fortran.
template <class Operation, class T>
void combine_logicals(const void* in, void* inout, MPI_Count count) noexcept {
    const auto values = FortranLogicals::values<T>();
    const auto* a = static_cast<const T*>(in);
    auto* b = static_cast<T*>(inout);
    for (MPI_Count i = 0; i < count; ++i) {
        b[i] = Operation::apply(T(a[i] != values.no), T(b[i] != values.no)) != 0 ? values.yes : values.no;
    }
}

// The padding of a pair is not written, because its bytes belong to the user.
template <class Operation, class P>
void combine_pairs(const void* in, void* inout, MPI_Count count) noexcept {
    const auto* a = static_cast<const P*>(in);
    auto* b = static_cast<P*>(inout);
    for (MPI_Count i = 0; i < count; ++i) {
        const P result = Operation::apply(a[i], b[i]);
        b[i].value = result.value;
        b[i].index = result.index;
    }
}

template <class T>
void take(const void* in, void* inout, MPI_Count count) noexcept {
    if (count > 0) {
        std::memmove(inout, in, sizeof(T) * static_cast<std::size_t>(count));
    }
}

void leave(const void*, void*, MPI_Count) noexcept {}

constexpr std::size_t machine_count = static_cast<std::size_t>(Machine::count);
using Row = std::array<Op::Kernel, machine_count>;
using Table = std::array<Row, HandleTraits<Op>::count>;

template <class T>
void add_any(Table& table, std::size_t machine) {
    table[replace][machine] = take<T>;
    table[no_op][machine] = leave;
}

template <bool avx2, class T>
void add_arithmetic(Table& table, Machine machine) {
    const auto m = static_cast<std::size_t>(machine);
    add_any<T>(table, m);
    table[sum][m] = loop_of<avx2, Sum, T>();
    table[prod][m] = loop_of<avx2, Prod, T>();
    if constexpr (!requires(T t) { t.im; }) {
        table[min][m] = loop_of<avx2, Min, T>();
        table[max][m] = loop_of<avx2, Max, T>();
        table[land][m] = loop_of<avx2, LogicalAnd, T>();
        table[lor][m] = loop_of<avx2, LogicalOr, T>();
        table[lxor][m] = loop_of<avx2, LogicalXor, T>();
    }
}

template <bool avx2, class T>
void add_integer(Table& table, Machine machine) {
    static_assert(is_integer<T>);
    const auto m = static_cast<std::size_t>(machine);
    add_arithmetic<avx2, T>(table, machine);
    table[band][m] = loop_of<avx2, BitAnd, T>();
    table[bor][m] = loop_of<avx2, BitOr, T>();
    table[bxor][m] = loop_of<avx2, BitXor, T>();
}

template <class T>
void add_logical(Table& table, Machine machine) {
    const auto m = static_cast<std::size_t>(machine);
    add_any<T>(table, m);
    table[land][m] = combine_logicals<LogicalAnd, T>;
    table[lor][m] = combine_logicals<LogicalOr, T>;
    table[lxor][m] = combine_logicals<LogicalXor, T>;
}

template <class Value, class Index>
void add_pair(Table& table, Machine machine) {
    using P = Pair<Value, Index>;
    const auto m = static_cast<std::size_t>(machine);
    add_any<P>(table, m);
    table[minloc][m] = combine_pairs<MinLoc, P>;
    table[maxloc][m] = combine_pairs<MaxLoc, P>;
}

// A table of a process is made at its first reduction. The loader would have to write every entry of a constant one, in
// every process.
template <bool avx2>
[[gnu::noinline]] void fill(Table& table) {
    add_integer<avx2, std::int8_t>(table, Machine::i8);
    add_integer<avx2, std::int16_t>(table, Machine::i16);
    add_integer<avx2, std::int32_t>(table, Machine::i32);
    add_integer<avx2, std::int64_t>(table, Machine::i64);
    add_integer<avx2, __int128>(table, Machine::i128);
    add_integer<avx2, std::uint8_t>(table, Machine::u8);
    add_integer<avx2, std::uint16_t>(table, Machine::u16);
    add_integer<avx2, std::uint32_t>(table, Machine::u32);
    add_integer<avx2, std::uint64_t>(table, Machine::u64);
    add_arithmetic<avx2, float>(table, Machine::f32);
    add_arithmetic<avx2, double>(table, Machine::f64);
    add_arithmetic<avx2, long double>(table, Machine::f80);
    add_arithmetic<avx2, __float128>(table, Machine::f128);
    add_arithmetic<avx2, Complex<float>>(table, Machine::c32);
    add_arithmetic<avx2, Complex<double>>(table, Machine::c64);
    add_arithmetic<avx2, Complex<long double>>(table, Machine::c80);
    add_arithmetic<avx2, Complex<__float128>>(table, Machine::c128);
    add_logical<std::uint8_t>(table, Machine::l8);
    add_logical<std::uint16_t>(table, Machine::l16);
    add_logical<std::uint32_t>(table, Machine::l32);
    add_logical<std::uint64_t>(table, Machine::l64);
    add_logical<unsigned __int128>(table, Machine::l128);
    add_pair<float, int>(table, Machine::pair_f32_i32);
    add_pair<double, int>(table, Machine::pair_f64_i32);
    add_pair<long, int>(table, Machine::pair_i64_i32);
    add_pair<int, int>(table, Machine::pair_i32_i32);
    add_pair<short, int>(table, Machine::pair_i16_i32);
    add_pair<long double, int>(table, Machine::pair_f80_i32);
    add_pair<float, float>(table, Machine::pair_f32_f32);
    add_pair<double, double>(table, Machine::pair_f64_f64);
    const auto boolean = static_cast<std::size_t>(Machine::boolean);
    add_any<Bool>(table, boolean);
    table[land][boolean] = loop_of<avx2, LogicalAnd, Bool>();
    table[lor][boolean] = loop_of<avx2, LogicalOr, Bool>();
    table[lxor][boolean] = loop_of<avx2, LogicalXor, Bool>();
    const auto bytes = static_cast<std::size_t>(Machine::bytes);
    add_any<Byte>(table, bytes);
    table[band][bytes] = loop_of<avx2, BitAnd, Byte>();
    table[bor][bytes] = loop_of<avx2, BitOr, Byte>();
    table[bxor][bytes] = loop_of<avx2, BitXor, Byte>();
}

Table make_table(bool avx2) {
    Table table{};
    if (avx2) {
        fill<true>(table);
    } else {
        fill<false>(table);
    }
    return table;
}

} // namespace

Op::Kernel op_kernel(std::uint8_t code, Machine machine) noexcept {
    static const Table table = make_table(processor_has_avx2());
    return table[code][static_cast<std::size_t>(machine)];
}

Op::Kernel portable_op_kernel(std::uint8_t code, Machine machine) noexcept {
    static const Table table = make_table(false);
    return table[code][static_cast<std::size_t>(machine)];
}

} // namespace patchbay
