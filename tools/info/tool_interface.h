// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

// What the tool information interface (MPI_T) lists, read through its functions as any other tool would.
namespace patchbay::info {

// Names of MPI without their prefix, in lower case: class "counter", binding "comm", level "tuner_basic".
struct PerformanceEntry {
    std::string name;
    std::string variable_class;
    std::string binding;
    std::string level;
    std::string help;
    std::vector<std::string> choices; // of a state
    bool continuous;
    bool read_only;
};

struct EventEntry {
    std::string name;
    std::string binding;
    std::string level;
    std::string help;
    std::vector<std::string> elements; // their datatypes: "int", "count"
};

struct CategoryEntry {
    std::string name;
    std::string help;
    std::vector<std::string> parameters;
    std::vector<std::string> performance_variables;
    std::vector<std::string> events;
    std::vector<std::string> categories;
};

// Keeps MPI_T initialized.
class ToolInterface {
public:
    ToolInterface();
    ~ToolInterface();
    ToolInterface(const ToolInterface&) = delete;
    ToolInterface& operator=(const ToolInterface&) = delete;

    std::vector<std::string> control_variables() const;
    std::vector<PerformanceEntry> performance_variables() const;
    std::vector<EventEntry> events() const;
    std::vector<CategoryEntry> categories() const;
};

} // namespace patchbay::info
