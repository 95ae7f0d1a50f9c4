// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/tool/control_variables.h"
#include "mpi/tool/events.h"
#include "mpi/tool/performance_variables.h"

#include <cstddef>
#include <map>
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
// each origin of values, which contains the control variables that have had a value from there. MPI lets a category
// grow only (MPI-5.0, 15.3.9): a variable that is written comes to stand in a second one. Sorted by name.
class Categories {
public:
    void open(const ControlVariables& control, const PerformanceVariables& performance, const Events& events);
    void close() noexcept;
    // A control variable has been written: adds it to the category of its new origin.
    void update(std::size_t control_variable);

    std::size_t size() const noexcept { return _all.size(); }
    const Category& operator[](std::size_t index) const noexcept { return _all[index]; }
    std::optional<std::size_t> find(std::string_view name) const noexcept;
    // How often a category has changed.
    int changes() const noexcept { return _changes; }

private:
    Category& of(const std::string& framework, const std::string& component);
    Category& of(ParamSource source);
    void add_origins();
    bool note_origin(const Param& param);
    void make_names(const ControlVariables& control, const PerformanceVariables& performance, const Events& events);

    const ControlVariables* _control = nullptr;
    std::vector<Category> _all;
    // The names of the control variables of each origin in the order in which they came; never removed, not even by
    // close().
    std::map<ParamSource, std::vector<std::string>> _of_origin;
    int _changes = 0;
};

} // namespace patchbay::tool
