// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "launch/job.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::launch {

// The destination of the options of one command line.
struct OptionTarget {
    JobSpec& job;
    AppSpec& app; // the program that follows the option
};

enum class OptionSection { job, placement, output, control, general };

// One option of mpirun. To add an option, add a row to the table in option_table.cpp.
struct OptionRow {
    const char* name;                              // in Boost.Program_options' form: "np,n" is --np and -n
    std::vector<std::string_view> other_spellings; // accepted as well, with one dash or two
    int values;                                    // 0, 1 or 2 words follow, or one word NAME=VALUE if is_pair
    const char* value_names;                       // shown in the help
    OptionSection section;
    const char* help;
    // Writes the words into the target. The text of an error is about the words and does not contain the option.
    Status (*apply)(std::span<const std::string> words, OptionTarget target);
    bool is_pair = false;
};

std::span<const OptionRow> option_rows();

// The long name alone: "np" of "np,n".
std::string_view long_name(const OptionRow& row);

// The row of a spelling without its dashes, or null.
const OptionRow* find_option(std::string_view spelling);

// Sets `job.parameters[name] = value`; if a name occurs twice, the later value is used.
void set_parameter(JobSpec& job, const std::string& name, const std::string& value);

} // namespace patchbay::launch
