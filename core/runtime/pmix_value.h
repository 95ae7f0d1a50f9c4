// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <pmix.h>
#include <string>

namespace patchbay {

struct PmixValueRelease {
    void operator()(pmix_value_t* value) const noexcept { PMIX_VALUE_RELEASE(value); }
};
using PmixValue = std::unique_ptr<pmix_value_t, PmixValueRelease>;

// Launchers disagree on the integer types of the standard keys (Slurm gives PMIX_APPNUM as int), so all are taken.
inline std::optional<std::uint64_t> number_in(const pmix_value_t& value) {
    switch (value.type) {
    case PMIX_UINT32:
        return value.data.uint32;
    case PMIX_UINT16:
        return value.data.uint16;
    case PMIX_UINT8:
        return value.data.uint8;
    case PMIX_UINT64:
        return value.data.uint64;
    case PMIX_UINT:
        return value.data.uint;
    case PMIX_INT32:
        return std::uint64_t(value.data.int32);
    case PMIX_INT16:
        return std::uint64_t(value.data.int16);
    case PMIX_INT64:
        return std::uint64_t(value.data.int64);
    case PMIX_INT:
        return std::uint64_t(value.data.integer);
    case PMIX_SIZE:
        return value.data.size;
    case PMIX_PROC_RANK:
        return value.data.rank;
    default:
        return std::nullopt;
    }
}

inline std::string text_of(pmix_status_t status) {
    return PMIx_Error_string(status);
}

} // namespace patchbay
