// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype.h"

namespace [[gnu::visibility("default")]] patchbay {

// Types by decimal precision and range, as Fortran's selected_real_kind and selected_int_kind select them (MPI-5.0,
// 19.1.5). The same arguments always give the same type, which is committed and is never freed. `precision` or `range`
// may be MPI_UNDEFINED. These return an MPI code: MPI_ERR_ARG where there is no such type, MPI_ERR_NO_MEM.
int f90_real(int precision, int range, Datatype** result) noexcept;
int f90_complex(int precision, int range, Datatype** result) noexcept;
int f90_integer(int range, Datatype** result) noexcept;

// The predefined type of that class (MPI_TYPECLASS_*) and size in bytes; nullptr if there is none (MPI-5.0, 19.1.5).
Datatype* type_of_size(int type_class, int size) noexcept;

// The predefined pair of those two types for MPI_MINLOC and MPI_MAXLOC; nullptr if there is none (MPI-5.0, 6.9.4).
Datatype* pair_type(const Datatype& value, const Datatype& index) noexcept;

} // namespace patchbay
