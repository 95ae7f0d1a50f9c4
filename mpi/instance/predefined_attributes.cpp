// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/predefined_attributes.h"

#include "core/runtime/runtime.h"
#include "mpi/instance/instance.h"

namespace patchbay {

PredefinedAttributes::PredefinedAttributes(Instance& instance) noexcept
    : _instance(instance) {}

bool PredefinedAttributes::is_one(int keyval) noexcept {
    return keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE;
}

bool PredefinedAttributes::get(const Communicator& comm, int keyval, void** value) {
    if (comm.session != nullptr && keyval != MPI_TAG_UB) {
        return false;
    }
    std::lock_guard lock(_mutex);
    auto entry = _values.find(keyval);
    if (entry == _values.end()) {
        entry = _values.emplace(keyval, determine(keyval)).first;
    }
    if (keyval == MPI_LASTUSEDCODE) {
        entry->second.value = last_used_error_code(); // no other attribute changes
    }
    *value = &entry->second.value;
    return entry->second.known;
}

PredefinedAttributes::Value PredefinedAttributes::determine(int keyval) {
    const Runtime& runtime = _instance.runtime();
    const auto from_launcher = [](const Result<std::uint32_t>& answer) {
        return answer ? Value{true, int(answer.value())} : Value{};
    };
    switch (keyval) {
    case MPI_TAG_UB:
        return {true, _instance.pml().max_tag()};
    case MPI_IO:
        return {true, MPI_ANY_SOURCE}; // every process can use the language's standard input and output
    case MPI_HOST:
        return {true, MPI_PROC_NULL};
    case MPI_WTIME_IS_GLOBAL:
        return {true, runtime.local_size() == runtime.size()}; // CLOCK_MONOTONIC is synchronized within a node only
    case MPI_APPNUM:
        return from_launcher(runtime.app_number());
    case MPI_UNIVERSE_SIZE:
        return from_launcher(runtime.universe_size());
    default: // MPI_LASTUSEDCODE
        return {true, last_used_error_code()};
    }
}

} // namespace patchbay
