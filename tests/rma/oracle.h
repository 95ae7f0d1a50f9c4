// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/rma/layout.h"

#include <complex>

// What an accumulate does to one element, computed without MPI.

enum class Update { sum, product, least, most, bit_and, bit_or, bit_xor, all_true, any_true, one_true, replace, none };

inline MPI_Op op_of(Update update, const Basic& basic) {
    switch (update) {
    case Update::sum:
        return MPI_SUM;
    case Update::product:
        return MPI_PROD;
    case Update::least:
        return basic.kind == Kind::pair ? MPI_MINLOC : MPI_MIN;
    case Update::most:
        return basic.kind == Kind::pair ? MPI_MAXLOC : MPI_MAX;
    case Update::bit_and:
        return MPI_BAND;
    case Update::bit_or:
        return MPI_BOR;
    case Update::bit_xor:
        return MPI_BXOR;
    case Update::all_true:
        return MPI_LAND;
    case Update::any_true:
        return MPI_LOR;
    case Update::one_true:
        return MPI_LXOR;
    case Update::replace:
        return MPI_REPLACE;
    default:
        return MPI_NO_OP;
    }
}

inline const char* name_of(Update update) {
    static const char* const names[] = {"SUM", "PROD", "MIN or MINLOC", "MAX or MAXLOC", "BAND", "BOR", "BXOR", "LAND",
        "LOR", "LXOR", "REPLACE", "NO_OP"};
    return names[int(update)];
}

// Ops whose result does not depend on the order.
inline Update any_update(const Basic& basic, Random& random) {
    const auto among = [&random](
                           std::initializer_list<Update> all) { return all.begin()[random.below(int(all.size()))]; };
    switch (basic.kind) {
    case Kind::signed_integer:
        return among({Update::sum, Update::least, Update::most, Update::bit_and, Update::bit_or, Update::bit_xor});
    case Kind::unsigned_integer:
        return among({Update::sum, Update::product, Update::least, Update::most, Update::bit_and, Update::bit_or,
            Update::bit_xor});
    case Kind::logical:
        return among({Update::all_true, Update::any_true, Update::one_true});
    case Kind::floating:
        return among({Update::sum, Update::least, Update::most});
    case Kind::complex:
        return Update::sum;
    case Kind::pair:
        return among({Update::least, Update::most});
    default:
        return among({Update::bit_and, Update::bit_or, Update::bit_xor});
    }
}

template <class T>
T updated_integer(T target, T origin, Update update) {
    switch (update) {
    case Update::sum:
        return T(target + origin);
    case Update::product:
        return T(std::uint64_t(target) * std::uint64_t(origin));
    case Update::least:
        return std::min(target, origin);
    case Update::most:
        return std::max(target, origin);
    case Update::bit_and:
        return T(target & origin);
    case Update::bit_or:
        return T(target | origin);
    case Update::bit_xor:
        return T(target ^ origin);
    case Update::all_true:
        return T(target && origin);
    case Update::any_true:
        return T(target || origin);
    default:
        return T(!target != !origin);
    }
}

template <class T>
T updated_number(T target, T origin, Update update) {
    return update == Update::sum  ? target + origin
        : update == Update::least ? std::min(target, origin)
                                  : std::max(target, origin);
}

template <class T>
void change(unsigned char* target, const unsigned char* origin, T (*function)(T, T, Update), Update update) {
    T a, b;
    std::memcpy(&a, target, sizeof a);
    std::memcpy(&b, origin, sizeof b);
    a = function(a, b, update);
    std::memcpy(target, &a, sizeof a);
}

template <class Value>
void change_pair(unsigned char* target, const unsigned char* origin, Update update) {
    Value a, b;
    int at, bt;
    std::memcpy(&a, target, sizeof a);
    std::memcpy(&b, origin, sizeof b);
    std::memcpy(&at, target + sizeof a, sizeof at);
    std::memcpy(&bt, origin + sizeof b, sizeof bt);
    if (a == b) {
        at = std::min(at, bt);
    } else if ((update == Update::least) == (b < a)) {
        a = b;
        at = bt;
    }
    std::memcpy(target, &a, sizeof a);
    std::memcpy(target + sizeof a, &at, sizeof at);
}

template <class T>
std::complex<T> sum_complex(std::complex<T> a, std::complex<T> b, Update) {
    return a + b;
}

// target = target op origin, for one element of the basic type
inline void apply(Update update, const Basic& basic, unsigned char* target, const unsigned char* origin) {
    if (update == Update::none) {
        return;
    }
    if (update == Update::replace) {
        std::memcpy(target, origin, std::size_t(basic.bytes));
        return;
    }
    switch (basic.kind) {
    case Kind::signed_integer:
        switch (basic.bytes) {
        case 1:
            return change<std::int8_t>(target, origin, updated_integer, update);
        case 2:
            return change<std::int16_t>(target, origin, updated_integer, update);
        case 4:
            return change<std::int32_t>(target, origin, updated_integer, update);
        default:
            return change<std::int64_t>(target, origin, updated_integer, update);
        }
    case Kind::floating:
        return basic.bytes == 4 ? change<float>(target, origin, updated_number, update)
                                : change<double>(target, origin, updated_number, update);
    case Kind::complex:
        return basic.bytes == 8 ? change<std::complex<float>>(target, origin, sum_complex, update)
                                : change<std::complex<double>>(target, origin, sum_complex, update);
    case Kind::pair:
        return basic.bytes == 8 ? change_pair<int>(target, origin, update)
                                : change_pair<double>(target, origin, update);
    default:
        switch (basic.bytes) {
        case 1:
            return change<std::uint8_t>(target, origin, updated_integer, update);
        case 2:
            return change<std::uint16_t>(target, origin, updated_integer, update);
        case 4:
            return change<std::uint32_t>(target, origin, updated_integer, update);
        default:
            return change<std::uint64_t>(target, origin, updated_integer, update);
        }
    }
}
