// SPDX-License-Identifier: BSD-3-Clause
#include "object/error_cause.h"

#include "include/mpi.h"

#include <array>

namespace patchbay {

namespace {

struct Cause {
    int code = MPI_SUCCESS;
    std::size_t length = 0;
    std::array<char, MPI_MAX_ERROR_STRING> text;
};

thread_local Cause kept;

} // namespace

int note_cause(int code, std::string_view text) noexcept {
    kept.code = code;
    kept.length = text.copy(kept.text.data(), kept.text.size());
    return code;
}

std::string_view noted_cause(int code) noexcept {
    return kept.code == code ? std::string_view(kept.text.data(), kept.length) : std::string_view();
}

void forget_cause() noexcept {
    kept.code = MPI_SUCCESS;
    kept.length = 0;
}

} // namespace patchbay
