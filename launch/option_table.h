// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "launch/job.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::launch {

// What the options of one command line are written into.
struct OptionTarget {
    JobSpec& job;
    AppSpec& app; // the program that the option stands before
};

enum class OptionSection { job, placement, output, control, general };

// One option of mpirun. Adding one is adding a row to the table in option_table.cpp.
struct OptionRow {
    const char* name;                              // in Boost.Program_options' form: "np,n" is --np and -n
    std::vector<std::string_view> other_spellings; // accepted as well, with one dash or two
    int values;                                    // 0, 1 or 2 words follow
    const char* value_names;                       // shown in the help
    OptionSection section;
    const char* help;
    // Writes the words into the target; an error says what is wrong with them, without naming the option.
    Status (*apply)(std::span<const std::string> words, OptionTarget target);
};

std::span<const OptionRow> option_rows();

// The long name alone: "np" of "np,n".
std::string_view long_name(const OptionRow& row);

// The row that a spelling without its dashes means, or null.
const OptionRow* find_option(std::string_view spelling);

// `job.parameters[name] = value`; a name that is given twice keeps the later value.
void set_parameter(JobSpec& job, const std::string& name, const std::string& value);

} // namespace patchbay::launch
