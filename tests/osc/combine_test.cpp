// SPDX-License-Identifier: BSD-3-Clause
// The update of an accumulate, with every layout on either side, against a loop over the elements.
#include "frameworks/osc/combine.h"

#include "object/recipe.h"
#include "tests/datatype/recipes.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace patchbay::osc {
namespace {

using test::create;
using test::named;

// A layout of elements of one type: the type, how many there are of it, and where each element lies.
struct Placed {
    const char* name;
    Ref<Datatype> type;
    MPI_Count count;
    std::vector<std::size_t> places;
};

constexpr std::size_t elements = 1200;
constexpr std::size_t room = 256 << 10;

Ref<Datatype> committed(Ref<Datatype> type) {
    EXPECT_EQ(type->commit(), MPI_SUCCESS);
    return type;
}

std::vector<std::size_t> every(std::size_t stride, std::size_t first = 0) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < elements; ++i) {
        places.push_back(first + i * stride);
    }
    return places;
}

std::vector<Placed> layouts(MPI_Datatype handle) {
    const Ref<Datatype> basic = named(handle);
    const auto extent = std::size_t(basic->extent);
    std::vector<Placed> all;
    all.push_back({"predefined", basic, elements, every(extent)});
    all.push_back(
        {"contiguous", committed(create(MPI_COMBINER_CONTIGUOUS, {elements / 4}, {basic})), 4, every(extent)});
    all.push_back({"vector", committed(create(MPI_COMBINER_VECTOR, {elements / 2, 1, 3}, {basic})), 1, {}});
    for (std::size_t i = 0; i < elements / 2; ++i) {
        all.back().places.push_back(i * 3 * extent);
    }
    all.back().count = 2;
    for (std::size_t i = 0; i < elements / 2; ++i) {
        all.back().places.push_back((elements / 2 * 3 - 2 + i * 3) * extent);
    }
    // Each element stands one byte behind the place where it would be aligned.
    all.push_back(
        {"unaligned", committed(create(MPI_COMBINER_HINDEXED_BLOCK, {1, elements, 1}, {basic})), 1, every(extent, 1)});
    // Without the holes of a pair.
    all.push_back({"resized", committed(create(MPI_COMBINER_RESIZED, {0, basic->true_extent}, {basic})), elements,
        every(std::size_t(basic->true_extent))});
    std::vector<MPI_Count> mixed{4, 7, 0, 300, 293, 0, 0, 2048, MPI_Count(2048 + 300 * extent + 40)};
    all.push_back({"indexed", committed(create(MPI_COMBINER_HINDEXED, mixed, {basic})), 2, {}});
    const MPI_Aint whole = all.back().type->extent;
    for (std::size_t repeat = 0; repeat < 2; ++repeat) {
        const std::size_t base = repeat * std::size_t(whole);
        for (const auto& [first, count] :
            {std::pair<std::size_t, std::size_t>{0, 7}, {2048, 300}, {2048 + 300 * extent + 40, 293}}) {
            for (std::size_t i = 0; i < count; ++i) {
                all.back().places.push_back(base + first + i * extent);
            }
        }
    }
    // A struct whose first component is empty.
    all.push_back({"struct", committed(create(MPI_COMBINER_STRUCT, {2, 0, 600, 0, 64}, {named(MPI_CHAR), basic})), 1,
        every(extent, 64)});
    all.back().places.resize(600);
    return all;
}

// Values for which all ops are exact.
template <class T>
T value(std::size_t i) {
    if constexpr (requires(T t) { t.index; }) {
        return {decltype(T::value)(i * 7 % 23), int(i % 5)};
    } else {
        return T(i * 7 % 23);
    }
}

struct DoubleInt {
    double value;
    int index;
};
struct ShortInt {
    short value;
    int index;
};
struct LongDoubleInt {
    long double value;
    int index;
};

template <class T>
void store(std::byte* place, const T& v) {
    if constexpr (requires { v.index; }) {
        std::memcpy(place, &v.value, sizeof v.value);
        std::memcpy(place + offsetof(T, index), &v.index, sizeof v.index);
    } else {
        std::memcpy(place, &v, sizeof v);
    }
}

template <class T>
T load(const std::byte* place) {
    T v;
    if constexpr (requires { v.index; }) {
        std::memcpy(&v.value, place, sizeof v.value);
        std::memcpy(&v.index, place + offsetof(T, index), sizeof v.index);
    } else {
        std::memcpy(&v, place, sizeof v);
    }
    return v;
}

template <class T>
void clear(std::byte* place) {
    if constexpr (requires(T v) { v.index; }) {
        std::memset(place, 0, sizeof T::value);
        std::memset(place + offsetof(T, index), 0, sizeof T::index);
    } else {
        std::memset(place, 0, sizeof(T));
    }
}

// Elements of pairs overlap the holes of others in a resized type, so that only real data is compared. All other bytes
// must be as before.
template <class T>
void check(MPI_Datatype handle, MPI_Op op, T (*expected)(T origin, T memory)) {
    for (const Placed& from : layouts(handle)) {
        for (const Placed& to : layouts(handle)) {
            SCOPED_TRACE(std::string(from.name) + " to " + to.name);
            const std::size_t n = std::min(from.places.size(), to.places.size());
            ASSERT_EQ(to.type->size * to.count, MPI_Count(to.places.size()) * named(handle)->size);
            std::vector<std::byte> origin(room, std::byte(0x55));
            std::vector<std::byte> memory(room, std::byte(0xaa));
            for (std::size_t i = 0; i < from.places.size(); ++i) {
                store(&origin[from.places[i]], value<T>(i));
            }
            for (std::size_t i = 0; i < to.places.size(); ++i) {
                store(&memory[to.places[i]], value<T>(i * 3 + 1));
            }
            std::vector<std::byte> want = memory;
            for (std::size_t i = 0; i < n; ++i) {
                store(&want[to.places[i]], expected(value<T>(i), value<T>(i * 3 + 1)));
            }
            const std::vector<std::byte> origin_before = origin;
            // A side that has fewer elements ends the operation.
            const int code =
                combine(*to_object<Op>(op), origin.data(), from.count, *from.type, memory.data(), to.count, *to.type);
            if (from.places.size() == to.places.size()) {
                ASSERT_EQ(code, MPI_SUCCESS);
            }
            for (std::size_t i = 0; i < n; ++i) {
                const T got = load<T>(&memory[to.places[i]]);
                const T good = load<T>(&want[to.places[i]]);
                if constexpr (requires { got.index; }) {
                    ASSERT_TRUE(got.value == good.value && got.index == good.index) << "element " << i;
                } else {
                    ASSERT_EQ(got, good) << "element " << i;
                }
            }
            // The padding in a long double may have any value.
            for (std::size_t i = 0; i < n; ++i) {
                clear<T>(&memory[to.places[i]]);
                clear<T>(&want[to.places[i]]);
            }
            ASSERT_TRUE(memory == want) << "bytes beside the elements have changed";
            ASSERT_TRUE(origin == origin_before);
        }
    }
}

template <class T>
T min_loc(T a, T b) {
    return a.value < b.value || (a.value == b.value && a.index < b.index) ? a : b;
}
template <class T>
T max_loc(T a, T b) {
    return a.value > b.value || (a.value == b.value && a.index < b.index) ? a : b;
}
template <class T>
T first(T a, T) {
    return a;
}
template <class T>
T second(T, T b) {
    return b;
}
template <class T>
T sum(T a, T b) {
    return T(a + b);
}

TEST(Combine, Numbers) {
    check<int>(MPI_INT, MPI_SUM, sum);
    check<double>(MPI_DOUBLE, MPI_SUM, sum);
    check<signed char>(MPI_SIGNED_CHAR, MPI_SUM, sum);
    check<long double>(MPI_LONG_DOUBLE, MPI_MAX, [](long double a, long double b) { return a > b ? a : b; });
    check<long>(MPI_LONG, MPI_BXOR, [](long a, long b) { return a ^ b; });
}

TEST(Combine, Replace) {
    check<short>(MPI_SHORT, MPI_REPLACE, first);
    check<double>(MPI_DOUBLE, MPI_REPLACE, first);
}

TEST(Combine, NoOpChangesNothing) {
    check<int>(MPI_INT, MPI_NO_OP, second);
    check<DoubleInt>(MPI_DOUBLE_INT, MPI_NO_OP, second);
}

TEST(Combine, PairsWithHoles) {
    check<DoubleInt>(MPI_DOUBLE_INT, MPI_MINLOC, min_loc);
    check<LongDoubleInt>(MPI_LONG_DOUBLE_INT, MPI_MAXLOC, max_loc);
    check<ShortInt>(MPI_SHORT_INT, MPI_MAXLOC, max_loc);
}

TEST(Combine, ReplaceDoesNotWriteTheHolesOfAPair) {
    struct {
        double value = 1;
        int index = 2;
        int hole = 3;
    } memory, origin;
    origin.hole = 99;
    origin.index = 5;
    const Ref<Datatype> pair = named(MPI_DOUBLE_INT);
    ASSERT_EQ(combine(*to_object<Op>(MPI_REPLACE), &origin, 1, *pair, &memory, 1, *pair), MPI_SUCCESS);
    EXPECT_EQ(memory.index, 5);
    EXPECT_EQ(memory.hole, 3);
}

TEST(Combine, AnOpThatIsNotDefinedForTheTypeIsAnError) {
    double a = 1;
    double b = 2;
    const Ref<Datatype> type = named(MPI_DOUBLE);
    EXPECT_EQ(combine(*to_object<Op>(MPI_BAND), &a, 1, *type, &b, 1, *type), MPI_ERR_OP);
    EXPECT_EQ(b, 2);
}

TEST(Combine, ElementTypes) {
    const Ref<Datatype> pair = named(MPI_DOUBLE_INT);
    EXPECT_EQ(element_type(*pair), basic_index(MPI_DOUBLE_INT));
    const Ref<Datatype> nested = create(MPI_COMBINER_VECTOR, {3, 1, 2}, {create(MPI_COMBINER_DUP, {}, {pair})});
    EXPECT_EQ(element_type(*nested), basic_index(MPI_DOUBLE_INT));
    const Ref<Datatype> empty = create(MPI_COMBINER_CONTIGUOUS, {0}, {pair});
    EXPECT_EQ(element_type(*empty), 0);
    const Ref<Datatype> behind =
        create(MPI_COMBINER_STRUCT, {3, 5, 0, 2, 0, 0, 64}, {empty, named(MPI_CHAR), named(MPI_FLOAT)});
    EXPECT_EQ(element_type(*behind), basic_index(MPI_FLOAT));
}

// One block of memory that is mapped many times, each time behind the last one.
std::int8_t* repeated(std::size_t bytes, std::size_t times) {
    const int fd = memfd_create("combine_test", MFD_CLOEXEC);
    EXPECT_EQ(ftruncate(fd, off_t(bytes)), 0);
    void* all = mmap(nullptr, bytes * times, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(all, MAP_FAILED);
    for (std::size_t i = 0; i < times; ++i) {
        EXPECT_NE(mmap(static_cast<std::byte*>(all) + i * bytes, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0),
            MAP_FAILED);
    }
    close(fd);
    return static_cast<std::int8_t*>(all);
}

TEST(Combine, CountsAboveTheRangeOfAnInt) {
    constexpr std::size_t bytes = std::size_t(32) << 20;
    constexpr std::size_t times = 65; // 2 GiB and 32 MiB
    std::int8_t* origin = repeated(bytes, times);
    std::int8_t* memory = repeated(bytes, times);
    std::fill_n(origin, bytes, std::int8_t(1));
    const Ref<Datatype> type = named(MPI_INT8_T);
    const Ref<Datatype> parts = committed(create(MPI_COMBINER_CONTIGUOUS, {bytes}, {type}));
    ASSERT_EQ(
        combine(*to_object<Op>(MPI_SUM), origin, times * bytes, *type, memory, times * bytes, *type), MPI_SUCCESS);
    EXPECT_EQ(memory[0], 65);
    EXPECT_EQ(memory[bytes - 1], 65);
    std::fill_n(memory, bytes, std::int8_t(0));
    ASSERT_EQ(combine(*to_object<Op>(MPI_SUM), origin, times, *parts, memory, times * bytes, *type), MPI_SUCCESS);
    EXPECT_EQ(memory[0], 65);
    EXPECT_EQ(memory[bytes - 1], 65);
    munmap(origin, times * bytes);
    munmap(memory, times * bytes);
}

} // namespace
} // namespace patchbay::osc
