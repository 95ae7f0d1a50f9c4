// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/copy.h"
#include "object/convertor.h"
#include "object/datatype.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace patchbay {

// Local copy between two typed buffers of the same signature; what does not fit in the target is left out. Returns what
// a message of that length would: MPI_ERR_TRUNCATE when the target has less room, MPI_ERR_COUNT when it has more.
inline int typed_copy(const void* source, MPI_Count source_count, const Datatype& source_type, void* target,
    MPI_Count target_count, const Datatype& target_type) noexcept {
    const MPI_Count bytes = source_count * source_type.size;
    if (source_type.dense && target_type.dense && bytes == target_count * target_type.size) [[likely]] {
        if (bytes > 0) {
            move_bytes(static_cast<std::byte*>(target) + target_type.true_lower_bound,
                static_cast<const std::byte*>(source) + source_type.true_lower_bound, std::size_t(bytes));
        }
        return MPI_SUCCESS;
    }
    Convertor from(source_type, source_count, source);
    Convertor to(target_type, target_count, target);
    const std::size_t total = std::min(from.total(), to.total());
    const int code = to.total() < from.total() ? MPI_ERR_TRUNCATE
        : from.total() < to.total()            ? MPI_ERR_COUNT
                                               : MPI_SUCCESS;
    if (std::byte* block = to.contiguous(); block != nullptr || total == 0) {
        from.pack(block, total);
        return code;
    }
    if (const std::byte* block = from.contiguous(); block != nullptr) {
        to.unpack(block, total);
        return code;
    }
    std::array<std::byte, 4096> chunk;
    for (std::size_t done = 0; done < total;) {
        const std::size_t n = from.pack(chunk.data(), std::min(chunk.size(), total - done));
        to.unpack(chunk.data(), n);
        done += n;
    }
    return code;
}

} // namespace patchbay
