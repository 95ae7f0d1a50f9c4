// SPDX-License-Identifier: BSD-3-Clause
#include "core/component/selection_list.h"

#include "core/base/strings.h"

#include <algorithm>

namespace patchbay {

Result<SelectionList> SelectionList::parse(std::string_view text) {
    SelectionList list;
    std::string_view names = trim(text);
    list._excludes = names.starts_with('^');
    if (list._excludes) {
        names.remove_prefix(1);
    }
    if (names.find('^') != std::string_view::npos) {
        return Error{Errc::invalid,
            "'" + std::string(text) +
                "': a '^' stands only before the first name, and then "
                "leaves out all that are named"};
    }
    for (std::string& name : split(names, ',')) {
        if (!list.mentions(name)) {
            list._names.push_back(std::move(name));
        }
    }
    if (list._excludes && list._names.empty()) {
        return Error{Errc::invalid, "'" + std::string(text) + "': the names to leave out are missing"};
    }
    return list;
}

bool SelectionList::mentions(std::string_view component) const {
    return std::find(_names.begin(), _names.end(), component) != _names.end();
}

bool SelectionList::admits(std::string_view component) const {
    return empty() || mentions(component) != _excludes;
}

bool SelectionList::asks_for(std::string_view component) const {
    return !_excludes && mentions(component);
}

Status SelectionList::check_names(std::string_view framework, const std::vector<std::string>& installed) const {
    for (const std::string& name : _names) {
        if (std::find(installed.begin(), installed.end(), name) == installed.end()) {
            return no_such_component(framework, name, installed);
        }
    }
    return {};
}

Error SelectionList::no_such_component(
    std::string_view framework, std::string_view name, const std::vector<std::string>& installed) {
    return {Errc::not_found,
        "framework " + std::string(framework) + " has no component '" + std::string(name) + "' (installed: " +
            (installed.empty() ? "none" : join(installed, ", ")) + ")" + suggestion(name, installed)};
}

} // namespace patchbay
