// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/windows/hints.h"

#include "core/base/strings.h"
#include "frameworks/osc/epochs.h"
#include "frameworks/osc/osc.h"
#include "mpi/communicators/hints.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <vector>

namespace patchbay {

namespace {

constexpr std::size_t default_alignment = 64; // a cache line

enum class Kind : std::uint8_t { flag, ordering, ops, size, text };
enum class When : std::uint8_t { constructor, always };

struct Key {
    std::string_view name;
    Kind kind;
    When when;
    std::string_view otherwise; // the value in effect without the key; empty: none
};

constexpr Key keys[] = {
    {"no_locks", Kind::flag, When::always, "false"},
    {"accumulate_ordering", Kind::ordering, When::always, "rar,raw,war,waw"},
    {"accumulate_ops", Kind::ops, When::always, "same_op_no_op"},
    {"mpi_accumulate_granularity", Kind::size, When::constructor, "0"},
    {"same_size", Kind::flag, When::always, "false"},
    {"same_disp_unit", Kind::flag, When::always, "false"},
    {"alloc_shared_noncontig", Kind::flag, When::always, "false"},
    {"mpi_minimum_memory_alignment", Kind::size, When::constructor, ""},
    {"mpi_assert_memory_alloc_kinds", Kind::text, When::constructor, ""},
    {"patchbay_osc", Kind::text, When::constructor, ""},
};

const Key* find_key(std::string_view name) noexcept {
    const auto* found =
        std::find_if(std::begin(keys), std::end(keys), [name](const Key& key) { return key.name == name; });
    return found != std::end(keys) ? found : nullptr;
}

std::optional<std::uint64_t> number(std::string_view text) noexcept {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

bool is_ordering(std::string_view value) {
    if (value == "none") {
        return true;
    }
    const std::vector<std::string> parts = split(value, ',');
    return !parts.empty() && std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
        const std::string_view one = trim(part);
        return one == "rar" || one == "raw" || one == "war" || one == "waw";
    });
}

bool is_value(const Key& key, std::string_view value) {
    switch (key.kind) {
    case Kind::flag:
        return value == "true" || value == "false";
    case Kind::ordering:
        return is_ordering(value);
    case Kind::ops:
        return value == "same_op" || value == "same_op_no_op";
    case Kind::size:
        return number(value).has_value();
    case Kind::text:
        break;
    }
    return true;
}

void take(Info& hints, const Info& info, bool constructing) {
    for (const auto& [name, value] : info.pairs()) {
        const Key* key = find_key(name);
        if (key != nullptr && (constructing || key->when == When::always) && is_value(*key, trim(value))) {
            hints.set(name, trim(value));
        }
    }
}

Ref<Info> hints_of(const Window& window) {
    std::lock_guard lock(window.mutex);
    return window.hints;
}

} // namespace

// The choice of a component is inherited from the communicator, as that of its collectives.
Ref<Info> hints_for_window(const Communicator& parent, const Info* info) {
    auto hints = Ref<Info>::adopt(new Info);
    if (const std::string only = hint(parent, "patchbay_osc"); !only.empty()) {
        hints->set("patchbay_osc", only);
    }
    if (info != nullptr) {
        take(*hints, *info, true);
    }
    return hints;
}

std::string hint_of_window(const Window& window, std::string_view key) {
    const Ref<Info> hints = hints_of(window);
    return hints ? hints->get(key).value_or(std::string()) : std::string();
}

bool flag_of_window(const Window& window, std::string_view key) {
    return hint_of_window(window, key) == "true";
}

std::size_t alignment_of_window(const Window& window) {
    const std::uint64_t wanted = number(hint_of_window(window, "mpi_minimum_memory_alignment")).value_or(0);
    std::size_t alignment = default_alignment;
    while (alignment < wanted && alignment < (std::size_t(1) << 30)) {
        alignment *= 2;
    }
    return alignment;
}

int set_window_hints(Window& window, const Info& info) {
    // The object is replaced and not changed, because a component may be reading it.
    Ref<Info> hints = hints_of(window)->duplicate();
    take(*hints, info, false);
    {
        std::lock_guard lock(window.mutex);
        std::swap(window.hints, hints);
    }
    window.epochs->forbid_locks(flag_of_window(window, "no_locks"));
    window.module->hints_changed();
    return MPI_SUCCESS;
}

Ref<Info> window_hints(const Window& window) {
    auto result = Ref<Info>::adopt(new Info);
    for (const Key& key : keys) {
        std::string value = hint_of_window(window, key.name);
        const bool allocated = window.flavor == MPI_WIN_FLAVOR_ALLOCATE || window.flavor == MPI_WIN_FLAVOR_SHARED;
        if (key.name == "patchbay_osc") {
            value = window.component;
        } else if (key.name == "mpi_accumulate_granularity") {
            value = std::to_string(window.module->accumulate_granularity());
        } else if (key.name == "mpi_minimum_memory_alignment") {
            value = allocated ? std::to_string(alignment_of_window(window)) : std::string();
        } else if (key.name == "alloc_shared_noncontig" && window.flavor != MPI_WIN_FLAVOR_SHARED) {
            value.clear();
        } else if (value.empty()) {
            value = key.otherwise;
        }
        if (!value.empty()) {
            result->set(key.name, value);
        }
    }
    return result;
}

} // namespace patchbay
