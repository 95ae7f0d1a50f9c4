// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tools/info/catalogue.h"
#include "tools/info/explanation.h"

#include <span>
#include <string>
#include <vector>

namespace patchbay::info {

// Text output: aligned tables.
std::string text_of(const Versions& versions);
std::string text_of(const std::vector<ComponentEntry>& components);
std::string text_of(const std::vector<const Param*>& params);
std::string text_of(const std::vector<PerformanceEntry>& variables);
std::string text_of(const std::vector<EventEntry>& events);
std::string text_of(const std::vector<CategoryEntry>& categories);
std::string names_of(const std::vector<const Param*>& params);

// JSON output. It contains each section whose pointer is set; docs/parameters.md has the keys.
struct JsonSections {
    const Versions* versions = nullptr;
    const std::vector<ComponentEntry>* components = nullptr;
    const std::vector<const Param*>* params = nullptr;
    const std::vector<PerformanceEntry>* performance_variables = nullptr;
    const std::vector<EventEntry>* events = nullptr;
    const std::vector<CategoryEntry>* categories = nullptr;
    const Explanation* explanation = nullptr;
    bool unimplemented = false;
};
std::string json_of(const JsonSections& sections);

} // namespace patchbay::info
