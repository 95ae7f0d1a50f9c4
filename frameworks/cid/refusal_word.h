// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/error_cause.h"

#include <cstdint>

namespace patchbay::cid {

// The refusals of the members (NewCommunicator::refusal) in one word of a reduction by bit_and. A word has the code in
// one half and its complement in the other, without bit 0, which is free for other use. The word of a member that does
// not refuse changes neither.
class RefusalWord {
public:
    static constexpr std::uint64_t none = ~std::uint64_t(0);

    static constexpr std::uint64_t of(int code) noexcept {
        if (code == MPI_SUCCESS) {
            return none;
        }
        const std::uint64_t bits = std::uint64_t(code) & half;
        return none - (half << 1) - (half << 32) + (bits << 1) + ((half - bits) << 32);
    }
    // The code of the members that refuse, or MPI_ERR_OTHER where their codes differ; MPI_SUCCESS: none refuses.
    static constexpr int code(std::uint64_t word) noexcept {
        const std::uint64_t low = word >> 1 & half, high = word >> 32 & half;
        if (low == half && high == half) {
            return MPI_SUCCESS;
        }
        return (low ^ high) == half ? int(low) : MPI_ERR_OTHER;
    }

private:
    static constexpr std::uint64_t half = 0x7fffffff; // codes are positive
};

// The cause in a member of the error of another one.
inline constexpr char another_has_failed[] =
    "another member of the new communicator has failed; its own error gives the reason";

// The error of an allocation that members have refused. `own`: the refusal of this process, whose cause it knows.
inline int refused(int own, int code) noexcept {
    return own != MPI_SUCCESS ? own : note_cause(code, another_has_failed);
}

} // namespace patchbay::cid
