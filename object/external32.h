// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype.h"

namespace [[gnu::visibility("default")]] patchbay {

// The data representation "external32" (MPI-5.0, 14.5.2): big-endian, IEEE, no padding, and the same sizes on all
// platforms. All types must be committed. These functions may throw std::bad_alloc.

// The size of one element in bytes.
std::uint64_t external32_size(const Datatype& type);

// Convert between `count` elements in memory and count * external32_size bytes at `stream`. MPI_ERR_CONVERSION: a value
// does not fit into its external format (MPI_LONG has 4 bytes there, MPI_WCHAR 2); the other values are converted.
int external32_pack(const void* memory, MPI_Count count, const Datatype& type, void* stream);
int external32_unpack(const void* stream, void* memory, MPI_Count count, const Datatype& type);

} // namespace patchbay
