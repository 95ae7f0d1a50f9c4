// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// What a user wants of a framework's components: `a,b` only these, `^a,b` all but these, empty all.
class SelectionList {
public:
    // Errc::invalid: a `^` that is not the first character, or one without a name.
    static Result<SelectionList> parse(std::string_view text);

    bool empty() const noexcept { return _names.empty(); }
    bool excludes() const noexcept { return _excludes; }
    const std::vector<std::string>& names() const noexcept { return _names; }

    bool admits(std::string_view component) const;   // may it take part
    bool asks_for(std::string_view component) const; // is it wanted by name
    bool mentions(std::string_view component) const;

    // Errc::not_found, with the nearest name, for a name that is not installed.
    Status check_names(std::string_view framework, const std::vector<std::string>& installed) const;

    // That error for one name: it lists the installed ones.
    static Error no_such_component(
        std::string_view framework, std::string_view name, const std::vector<std::string>& installed);

private:
    bool _excludes = false;
    std::vector<std::string> _names;
};

} // namespace patchbay
