// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype.h"
#include "object/handle.h"
#include "object/op.h"

namespace patchbay::coll::tuned {

// Whether `a op b` and `b op a` are equal bit by bit, so that a member may join another one's contribution from either
// side: of predefined ops all but those that choose one of two values that may be equal and yet different (zeros with
// signs, NaNs), and but the complex product, whose sums may be rounded in another order. (Where both are NaNs, their
// payloads decide.)
inline bool is_symmetric(const Op& op, const Datatype& type) noexcept {
    const MPI_Op handle = to_handle(&op);
    if (handle == MPI_SUM || handle == MPI_BAND || handle == MPI_BOR || handle == MPI_BXOR || handle == MPI_LAND ||
        handle == MPI_LOR || handle == MPI_LXOR) {
        return true;
    }
    const TypeGroup group = basic_type(type.basic).group;
    const bool is_integer =
        group == TypeGroup::c_integer || group == TypeGroup::fortran_integer || group == TypeGroup::multi_language;
    return (handle == MPI_PROD && (is_integer || group == TypeGroup::floating)) ||
        ((handle == MPI_MIN || handle == MPI_MAX) && is_integer);
}

} // namespace patchbay::coll::tuned
