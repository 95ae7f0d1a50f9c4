// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/runtime/job_table.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <pmix.h>
#include <span>
#include <string>
#include <vector>

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

inline pmix_proc_t process_of(const std::string& nspace, std::uint32_t rank) {
    pmix_proc_t process;
    PMIX_LOAD_PROCID(&process, nspace.c_str(), rank);
    return process;
}

inline pmix_proc_t process_of(const ProcessName& name) {
    return process_of(name.nspace, name.rank);
}

// Nothing: one of the processes is in no job of the table.
inline std::optional<std::vector<pmix_proc_t>> processes_of(const JobTable& jobs, std::span<const ProcessId> ids) {
    std::vector<pmix_proc_t> processes;
    processes.reserve(ids.size());
    for (const ProcessId id : ids) {
        const std::optional<ProcessName> name = jobs.name_of(id);
        if (!name) {
            return std::nullopt;
        }
        processes.push_back(process_of(*name));
    }
    return processes;
}

// An array that PMIx frees.
inline pmix_data_array_t* array_of(std::span<const pmix_proc_t> processes) {
    pmix_data_array_t* array = nullptr;
    PMIX_DATA_ARRAY_CREATE(array, processes.size(), PMIX_PROC);
    std::ranges::copy(processes, static_cast<pmix_proc_t*>(array->array));
    return array;
}

Error no_such_process(const char* what); // get.cpp

inline std::string text_of(pmix_status_t status) {
    return PMIx_Error_string(status);
}

} // namespace patchbay
