// SPDX-License-Identifier: BSD-3-Clause
#include "object/op.h"

#include "object/datatype.h"
#include "object/op_kernels.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>

namespace patchbay {
namespace {

// Whether an op is defined for a group of types (MPI-5.0, 6.9.2, table of operations).
bool group_allows(std::uint8_t code, TypeGroup group) {
    const bool integer = group == TypeGroup::c_integer || group == TypeGroup::fortran_integer;
    const bool number = integer || group == TypeGroup::multi_language || group == TypeGroup::floating;
    switch (code) {
    case op_code::sum:
    case op_code::prod:
        return number || group == TypeGroup::complex;
    case op_code::min:
    case op_code::max:
        return number;
    case op_code::band:
    case op_code::bor:
    case op_code::bxor:
        return integer || group == TypeGroup::multi_language || group == TypeGroup::byte;
    case op_code::land: // the standard allows C integers and logicals only; programs use other numbers as well
    case op_code::lor:
    case op_code::lxor:
        return number || group == TypeGroup::logical;
    case op_code::minloc:
    case op_code::maxloc:
        return group == TypeGroup::pair;
    default: // replace, no-op
        return true;
    }
}

// Memory for the predefined ops, which are constructed when the library is loaded and are never destroyed.
union Slot {
    constexpr Slot()
        : nothing{} {}
    ~Slot() {}
    char nothing;
    Op op;
};

constexpr std::size_t slot_count = HandleTraits<Op>::count;
constinit std::array<Slot, slot_count> slots;

struct Maker {
    Maker() {
        using namespace op_code;
        for (std::uint8_t code :
            {sum, min, max, prod, band, bor, bxor, land, lor, lxor, minloc, maxloc, replace, no_op}) {
            Predefined<Op>::table[code] = new (&slots[code].op) Op(code);
        }
    }
};
const Maker maker;

} // namespace

template <>
constinit Op* Predefined<Op>::table[slot_count] = {};

Op::Kernel Op::kernel(BasicIndex type) const noexcept {
    if (_code == 0) {
        return nullptr;
    }
    // Each call of a reduction asks twice, the check of its arguments included.
    static constinit std::array<std::array<std::atomic<Kernel>, 256>, slot_count> known{};
    std::atomic<Kernel>& cached = known[_code][type];
    if (const Kernel loop = cached.load(std::memory_order_relaxed); loop != nullptr) [[likely]] {
        return loop;
    }
    const BasicType& basic = basic_type(type);
    const Kernel loop = group_allows(_code, basic.group) ? op_kernel(_code, basic.machine) : nullptr;
    cached.store(loop, std::memory_order_relaxed);
    return loop;
}

bool Op::accepts(const Datatype& type) const noexcept {
    return _code == 0 || kernel(type.basic) != nullptr;
}

bool Op::is_accumulate_only() const noexcept {
    return _code == op_code::replace || _code == op_code::no_op;
}

int Op::apply(const void* in, void* inout, MPI_Count count, const Datatype& type) const {
    if (const Kernel loop = kernel(type.basic)) {
        loop(in, inout, count);
        return MPI_SUCCESS;
    }
    // The program may change what the pointers of the length and the datatype point to.
    MPI_Datatype handle = to_handle(&type);
    if (_function_c != nullptr) {
        _function_c(const_cast<void*>(in), inout, &count, &handle);
        return MPI_SUCCESS;
    }
    if (_function == nullptr) {
        return MPI_ERR_OP;
    }
    // A function whose length argument is an int is called several times for a long vector.
    const auto* a = static_cast<const std::byte*>(in);
    auto* b = static_cast<std::byte*>(inout);
    while (count > 0) {
        const int part = static_cast<int>(std::min<MPI_Count>(count, std::numeric_limits<int>::max()));
        const MPI_Aint step = type.extent * part;
        int length = part;
        handle = to_handle(&type);
        _function(const_cast<std::byte*>(a), b, &length, &handle);
        count -= part;
        a += step;
        b += step;
    }
    return MPI_SUCCESS;
}

Ref<Op> Op::user(MPI_User_function* function, bool commutative) {
    return Ref<Op>::adopt(new Op(function, nullptr, commutative));
}

Ref<Op> Op::user_large(MPI_User_function_c* function, bool commutative) {
    return Ref<Op>::adopt(new Op(nullptr, function, commutative));
}

void Op::destroy(Op* op) noexcept {
    delete op;
}

} // namespace patchbay
