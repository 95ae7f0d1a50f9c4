// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype_basic.h"
#include "object/handle.h"

namespace [[gnu::visibility("default")]] patchbay {

// A reduction operation (MPI-5.0, 6.9): predefined, or a user's function in its int or MPI_Count form.
class Op final : public Object {
public:
    // Computes inout[i] = in[i] op inout[i] for `count` elements. The pointers are the addresses of element 0, not of
    // its lower bound. The two buffers may be the same, but must not overlap otherwise.
    using Kernel = void (*)(const void* in, void* inout, MPI_Count count) noexcept;

    // Whether the op is defined for this predefined type (MPI-5.0, 6.9.2). A user's op is defined for all types.
    // MPI_REPLACE and MPI_NO_OP are defined for all predefined types, but not allowed in a reduction
    // (is_accumulate_only).
    bool accepts(const Datatype& type) const noexcept;
    // Applies the op. Returns an MPI code: MPI_ERR_OP if the op is not defined for the type. A user's function cannot
    // fail.
    int apply(const void* in, void* inout, MPI_Count count, const Datatype& type) const;
    bool is_commutative() const noexcept { return _commutative; }
    // true for MPI_REPLACE and MPI_NO_OP, which are for one-sided communication only (MPI-5.0, 12.3.4).
    bool is_accumulate_only() const noexcept;
    // The loop for a predefined type; nullptr: a user's op, or one that is not defined for the type.
    Kernel kernel(BasicIndex type) const noexcept;

    static Ref<Op> user(MPI_User_function* function, bool commutative);
    static Ref<Op> user_large(MPI_User_function_c* function, bool commutative);
    static void destroy(Op* op) noexcept;

    explicit Op(std::uint8_t code) noexcept
        : Object(ObjectKind::op),
          _code(code) { // predefined: handle - 0x20
        set_predefined(HandleTraits<Op>::first + code);
    }

private:
    Op(MPI_User_function* function, MPI_User_function_c* function_c, bool commutative) noexcept
        : Object(ObjectKind::op),
          _commutative(commutative),
          _function(function),
          _function_c(function_c) {}

    std::uint8_t _code = 0; // 0: a user's op
    bool _commutative = true;
    MPI_User_function* _function = nullptr;
    MPI_User_function_c* _function_c = nullptr;
};

} // namespace patchbay
