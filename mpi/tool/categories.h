// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/tool/control_variables.h"
#include "mpi/tool/events.h"
#include "mpi/tool/performance_variables.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::tool {

// The elements are indices.
struct Category {
    std::string name;
    std::string description;
    std::vector<int> control_variables;
    std::vector<int> performance_variables;
    std::vector<int> events;
    std::vector<int> categories;
};

// A category for each framework and other group of names, which contains one for each of its components; and one for
// each origin of values, which contains the control variables whose value comes from there. The latter change when a
// variable is written. Sorted by name.
class Categories {
public:
    void open(ControlVariables& control, const PerformanceVariables& performance, const Events& events);
    void close() noexcept;
    // Sorts a control variable into the category of its origin.
    void update(std::size_t control_variable);

    std::size_t size() const noexcept { return _all.size(); }
    const Category& operator[](std::size_t index) const noexcept { return _all[index]; }
    std::optional<std::size_t> find(std::string_view name) const noexcept;
    // How often a category has changed.
    int changes() const noexcept { return _changes; }

private:
    Category& of(const std::string& framework, const std::string& component);
    Category& of(ParamSource source);
    void make_names(const ControlVariables& control, const PerformanceVariables& performance, const Events& events);

    ControlVariables* _control = nullptr;
    std::vector<Category> _all;
    int _changes = 0;
};

} // namespace patchbay::tool
