// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/hints.h"

#include "core/base/strings.h"

#include <algorithm>
#include <iterator>

namespace patchbay {

namespace {

constexpr std::string_view own_prefix = "patchbay_";
constexpr std::string_view assertion_prefix = "mpi_assert_";

// The prefixes of the keys that this library supports: those of MPI-5.0, 7.4.4 and 7.4.2, and its own keys.
constexpr std::string_view known_prefixes[] = {
    own_prefix, assertion_prefix, "mpi_hw_resource_type", "mpi_minimum_memory_alignment"};

// The assertions of a communicator that have a default value, which MPI_Comm_get_info returns.
constexpr std::string_view false_by_default[] = {"mpi_assert_no_any_tag", "mpi_assert_no_any_source",
    "mpi_assert_exact_length", "mpi_assert_allow_overtaking", "mpi_assert_strict_persistent_collective_ordering"};

constexpr std::string_view not_boolean = "mpi_assert_memory_alloc_kinds"; // the other assertions are

// Sets what this library supports. An assertion with a value that is not boolean is ignored, as the standard wants.
void take(Info& hints, std::string_view key, std::string_view value) {
    const bool is_known = std::any_of(std::begin(known_prefixes), std::end(known_prefixes),
        [key](std::string_view prefix) { return key.starts_with(prefix); });
    const bool is_boolean = key.starts_with(assertion_prefix) && key != not_boolean;
    if (is_known && (!is_boolean || trim(value) == "true" || trim(value) == "false")) {
        hints.set(key, is_boolean ? trim(value) : value);
    }
}

Ref<Info> hints_of(const Communicator& comm) {
    std::lock_guard lock(comm.mutex);
    return comm.hints;
}

} // namespace

std::string hint(const Communicator& comm, std::string_view key) {
    const Ref<Info> hints = hints_of(comm);
    return hints ? hints->get(key).value_or(std::string()) : std::string();
}

std::string hint_of_new(const Communicator& comm, std::string_view key) {
    return comm.hints ? comm.hints->get(key).value_or(std::string()) : std::string();
}

void set_hints(Communicator& comm, const Info& info) {
    const auto pairs = info.pairs();
    std::lock_guard lock(comm.mutex);
    if (!comm.hints) {
        comm.hints = Ref<Info>::adopt(new Info);
    }
    for (const auto& [key, value] : pairs) {
        take(*comm.hints, key, value);
    }
}

Ref<Info> get_hints(const Communicator& comm) {
    const Ref<Info> hints = hints_of(comm);
    Ref<Info> result = hints ? hints->duplicate() : Ref<Info>::adopt(new Info);
    for (const std::string_view assertion : false_by_default) {
        if (!result->get(assertion)) {
            result->set(assertion, "false");
        }
    }
    return result;
}

Ref<Info> hints_for_child(const Communicator& parent, const Info* info) {
    Ref<Info> result;
    if (info != nullptr) {
        result = Ref<Info>::adopt(new Info);
        for (const auto& [key, value] : info->pairs()) {
            take(*result, key, value);
        }
    }
    const Ref<Info> inherited = hints_of(parent);
    if (!inherited) {
        return result;
    }
    for (const auto& [key, value] : inherited->pairs()) {
        if (!key.starts_with(own_prefix) || (result && result->get(key))) {
            continue;
        }
        if (!result) {
            result = Ref<Info>::adopt(new Info);
        }
        result->set(key, value);
    }
    return result;
}

} // namespace patchbay
