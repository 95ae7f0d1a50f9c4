// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype_basic.h"
#include "object/handle.h"

namespace [[gnu::visibility("default")]] patchbay {

// A reduction operation (MPI-5.0, 6.9): predefined, or a user's function in its int or MPI_Count form.
class Op final : public Object {
public:
    // inout[i] = in[i] op inout[i], for `count` elements; buffers point at element 0 (not at its lower bound). The two
    // may be the same memory, but must not overlap otherwise.
    using Kernel = void (*)(const void* in, void* inout, MPI_Count count) noexcept;

    // Is the op defined for this predefined type (MPI-5.0, 6.9.2)? User ops: always. MPI_REPLACE and MPI_NO_OP: for all
    // predefined types; a reduction must refuse them all the same (is_accumulate_only).
    bool accepts(const Datatype& type) const noexcept;
    // Applies it. Returns an MPI code: MPI_ERR_OP where it is not defined for the type. A user function cannot fail.
    int apply(const void* in, void* inout, MPI_Count count, const Datatype& type) const;
    bool is_commutative() const noexcept { return _commutative; }
    // MPI_REPLACE and MPI_NO_OP are for one-sided calls only (MPI-5.0, 12.3.4).
    bool is_accumulate_only() const noexcept;
    // The loop for a predefined type; nullptr for user ops and where it is not defined.
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

    std::uint8_t _code = 0; // 0: a user's
    bool _commutative = true;
    MPI_User_function* _function = nullptr;
    MPI_User_function_c* _function_c = nullptr;
};

} // namespace patchbay
