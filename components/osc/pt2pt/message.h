// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/tags.h"

#include <cstdint>

namespace patchbay::osc::pt2pt {

// What a control message asks for or says. README.md describes the protocol.
enum class Kind : std::uint8_t {
    // From an origin to a target. These are numbered, and each of them is a credit of the origin until it is done.
    put,
    get,
    accumulate,
    get_accumulate,
    fetch_and_op,
    compare_and_swap,
    type, // the description of a datatype, under a number that later messages of this origin name
    lock, // done when the lock is held
    unlock,
    flush,    // nothing but to be done when all before it are
    complete, // the end of an access epoch that MPI_Win_start began
    // From a target to an origin; not numbered.
    post,
    acknowledge,
    result,
    count,
};
constexpr bool is_numbered(Kind kind) noexcept {
    return kind <= Kind::complete;
}
// Done only after all that the same origin has sent before. Nothing behind a lock or a type may begin before it is
// done.
constexpr bool is_ordered(Kind kind) noexcept {
    return kind != Kind::put && kind != Kind::get;
}
constexpr bool is_barrier(Kind kind) noexcept {
    return kind == Kind::lock || kind == Kind::type;
}
constexpr bool is_operation(Kind kind) noexcept {
    return kind <= Kind::compare_and_swap;
}

// Bits of Header::flags.
inline constexpr std::uint8_t flag_acknowledge = 1;   // acknowledge at once when this is done
inline constexpr std::uint8_t flag_data_apart = 2;    // the origin's data is a message of its own
inline constexpr std::uint8_t flag_result_apart = 4;  // the result is to be a message of its own
inline constexpr std::uint8_t flag_exclusive = 8;     // of a lock
inline constexpr std::uint8_t flag_lock_all = 16;     // of a lock: of MPI_Win_lock_all, asked for by an operation
inline constexpr std::uint8_t flag_lock_refused = 32; // acknowledge: the last lock that the receiver has asked for
inline constexpr std::uint8_t all_flags = 63;

// The first bytes of each control message. The inline data follows.
struct alignas(16) Header {
    Kind kind = Kind::count;
    std::uint8_t flags = 0;
    std::uint8_t op = 0;         // the handle of a predefined op
    std::uint8_t basic = 0;      // index of the target's datatype if it is predefined; 0: `type` counts
    std::uint16_t type = 0;      // number of a described datatype
    std::uint16_t data = 0;      // which tags messages with data have
    std::int32_t error = 0;      // acknowledge, result: an MPI code
    std::uint32_t payload = 0;   // bytes of inline data
    std::uint64_t done = 0;      // how many numbered messages of the receiver are done at the sender
    std::uint64_t operation = 0; // of the origin, for the result
    std::uint64_t place = 0;     // at the target, as in osc::Target
    std::int64_t count = 0;
    std::uint64_t bytes = 0; // of data that the operation transfers
};
static_assert(sizeof(Header) == 64);

// Tags on the window's communicator, which collectives use too.
inline constexpr int control_tag = -2048;
inline constexpr int watch_tag = -2049; // no message ever has it
inline constexpr int data_tags = 1 << 14;
inline constexpr int first_put_tag = -4096;                     // data of the origin
inline constexpr int first_get_tag = first_put_tag - data_tags; // results

constexpr int put_tag(std::uint16_t data) noexcept {
    return first_put_tag - int(data % data_tags);
}
constexpr int get_tag(std::uint16_t data) noexcept {
    return first_get_tag - int(data % data_tags);
}
static_assert(control_tag < coll::call_check_tag);
static_assert(first_get_tag - data_tags > -(1 << 16)); // where the tags of constructors begin

} // namespace patchbay::osc::pt2pt
