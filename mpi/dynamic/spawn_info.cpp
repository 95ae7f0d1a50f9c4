// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/dynamic/spawn_info.h"

#include "core/base/hosts.h"
#include "core/base/strings.h"
#include "core/param/sources.h"
#include "core/runtime/pset_definition.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <sys/utsname.h>
#include <system_error>

namespace patchbay {

namespace {

using Keys = std::map<std::string, std::string, std::less<>>;

struct Failure {
    int code = MPI_SUCCESS;
    std::string problem;
};

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    const std::size_t end = text.find_last_not_of(" \t\r");
    return begin == text.npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

// Unlike split(), keeps empty parts and spaces.
std::vector<std::string_view> parts_of(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

std::optional<int> number_in(std::string_view text) {
    int number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    return failed == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::string_view value_of(const Keys& keys, std::string_view key) {
    const auto found = keys.find(key);
    return found == keys.end() ? std::string_view() : std::string_view(found->second);
}

Failure cannot_be_read(const std::string& name) {
    const std::string cause = std::generic_category().message(errno);
    return {MPI_ERR_SPAWN, "the file \"" + name + "\" of info key file cannot be read: " + cause};
}

// The file of key `file`: lines `key = value`; `#` begins a comment. Keys of the info have precedence.
Failure read_file(const std::string& name, Keys& keys) {
    std::ifstream file(name);
    if (!file) {
        return cannot_be_read(name);
    }
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        const std::string_view text = trimmed(std::string_view(line).substr(0, line.find('#')));
        const std::size_t equals = text.find('=');
        if (text.empty()) {
            continue;
        }
        if (equals == text.npos || equals == 0) {
            return {MPI_ERR_SPAWN, name + ':' + std::to_string(number) + ": a line must be KEY = VALUE"};
        }
        keys.emplace(trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1)));
    }
    return file.bad() ? cannot_be_read(name) : Failure{}; // a directory can be opened
}

// All jobs of one mpirun run on one machine.
Failure check_hosts(std::string_view hosts, const std::string& own) {
    for (const std::string& entry : split(hosts, ',')) {
        const std::string host(trimmed(entry));
        if (!names_this_host(host, own)) {
            return {MPI_ERR_SPAWN,
                "info key host: \"" + host + "\" is not this machine (" + own +
                    "), and mpirun starts processes on this machine only"};
        }
    }
    return {};
}

Failure check_architecture(std::string_view arch) {
    utsname machine{};
    if (uname(&machine) == 0 && arch != machine.machine) {
        return {MPI_ERR_SPAWN,
            "info key arch: \"" + std::string(arch) + "\" is not that of this machine, " + machine.machine};
    }
    return {};
}

Failure set_number(const Keys& keys, int maxprocs, SpawnProgram& program) {
    program.processes = maxprocs;
    const auto soft = keys.find("soft");
    if (soft == keys.end()) {
        return {};
    }
    const std::optional<int> number = largest_allowed(soft->second, maxprocs);
    if (!number) {
        return {MPI_ERR_INFO_VALUE, "info key soft: \"" + soft->second + "\" is no list of numbers a, a:b or a:b:c"};
    }
    if (*number == 0) {
        return {MPI_ERR_SPAWN,
            "info key soft: \"" + soft->second + "\" allows no number from 1 to maxprocs, " + std::to_string(maxprocs)};
    }
    program.processes = *number;
    return {};
}

// One number instead of the set of `soft`, of which it must be one if both are given.
Failure set_exact_number(const Keys& keys, int maxprocs, SpawnProgram& program) {
    const std::string np(value_of(keys, "np"));
    const std::optional<int> number = number_in(trimmed(np));
    if (!number) {
        return {MPI_ERR_INFO_VALUE, "info key np: \"" + np + "\" is no number"};
    }
    if (*number < 1 || *number > maxprocs) {
        return {
            MPI_ERR_SPAWN, "info key np: \"" + np + "\" is not between 1 and maxprocs, " + std::to_string(maxprocs)};
    }
    if (keys.contains("soft") && largest_allowed(value_of(keys, "soft"), *number) != number) {
        return {MPI_ERR_SPAWN,
            "info key np: \"" + np + "\" is none of the numbers that info key soft allows, \"" +
                std::string(value_of(keys, "soft")) + '"'};
    }
    program.processes = *number;
    return {};
}

Failure set_psets(std::string_view names, SpawnProgram& program) {
    for (const std::string_view part : parts_of(names, ',')) {
        const std::string name(trimmed(part));
        if (const Status usable = check_pset_name(name); !usable) {
            return {MPI_ERR_INFO_VALUE, "info key psets: \"" + std::string(names) + "\": " + usable.error().text};
        }
        if (std::ranges::find(program.psets, name) == program.psets.end()) {
            program.psets.push_back(name);
        }
    }
    return {};
}

// The processes start in the directory of the root, or in `wdir`, which may be relative to it.
Failure set_directory(const Keys& keys, SpawnProgram& program) {
    std::error_code failed;
    std::filesystem::path directory = std::filesystem::current_path(failed);
    directory /= value_of(keys, "wdir");
    if (!std::filesystem::is_directory(directory, failed)) {
        return {MPI_ERR_SPAWN, "the working directory \"" + directory.string() + "\" does not exist"};
    }
    program.working_directory = directory.string();
    return {};
}

// Relative directories are those of the root.
void set_path(const Keys& keys, SpawnProgram& program) {
    std::error_code failed;
    const std::filesystem::path here = std::filesystem::current_path(failed);
    for (const std::string& directory : split(value_of(keys, "path"), ':')) {
        if (!directory.empty()) {
            program.search_path += (program.search_path.empty() ? "" : ":") + (here / directory).string();
        }
    }
}

Failure set_errhandler(std::string_view name, SpawnProgram& program) {
    constexpr std::pair<std::string_view, std::string_view> values[] = {
        {"mpi_errors_are_fatal", "fatal"}, {"mpi_errors_abort", "abort"}, {"mpi_errors_return", "return"}};
    const auto value = std::ranges::find(values, name, [](const auto& entry) { return entry.first; });
    if (value == std::end(values)) {
        return {MPI_ERR_INFO_VALUE,
            "info key mpi_initial_errhandler: \"" + std::string(name) +
                "\" is none of mpi_errors_are_fatal, mpi_errors_abort and mpi_errors_return"};
    }
    std::string& variable = program.environment.emplace_back(param_env_prefix);
    variable += "mpi_initial_errhandler=";
    variable += value->second;
    return {};
}

Failure set_environment(std::string_view variables, SpawnProgram& program) {
    for (const std::string_view variable : parts_of(variables, '\n')) {
        if (variable.empty()) {
            continue;
        }
        if (variable.find('=') == variable.npos || variable.front() == '=') {
            return {MPI_ERR_INFO_VALUE, "info key env: \"" + std::string(variable) + "\" is not NAME=VALUE"};
        }
        program.environment.emplace_back(variable);
    }
    return {};
}

Failure apply(const Keys& keys, int maxprocs, const std::string& hostname, SpawnProgram& program) {
    set_path(keys, program);
    Failure failure = set_number(keys, maxprocs, program);
    if (failure.code == MPI_SUCCESS && keys.contains("np")) {
        failure = set_exact_number(keys, maxprocs, program);
    }
    if (failure.code == MPI_SUCCESS && keys.contains("psets")) {
        failure = set_psets(value_of(keys, "psets"), program);
    }
    if (failure.code == MPI_SUCCESS && keys.contains("host")) {
        failure = check_hosts(value_of(keys, "host"), hostname);
    }
    if (failure.code == MPI_SUCCESS && keys.contains("arch")) {
        failure = check_architecture(value_of(keys, "arch"));
    }
    if (failure.code == MPI_SUCCESS) {
        failure = set_directory(keys, program);
    }
    if (failure.code == MPI_SUCCESS && keys.contains("mpi_initial_errhandler")) {
        failure = set_errhandler(value_of(keys, "mpi_initial_errhandler"), program);
    }
    if (failure.code == MPI_SUCCESS) {
        failure = set_environment(value_of(keys, "env"), program);
    }
    return failure;
}

// The largest number from 1 to `most` of those from `first` in steps to `last`; 0: there is none.
int largest_of(std::int64_t first, std::int64_t last, std::int64_t step, std::int64_t most) {
    if (step < 0) { // the same numbers in the other order
        const std::int64_t steps = first >= last ? (first - last) / -step : -1;
        last = first;
        first = last + steps * step;
        step = -step;
        if (steps < 0) {
            return 0;
        }
    }
    const std::int64_t limit = std::min(last, most);
    const std::int64_t largest = limit < first ? 0 : first + (limit - first) / step * step;
    return int(std::max<std::int64_t>(largest, 0));
}

} // namespace

std::optional<int> largest_allowed(std::string_view soft, int maxprocs) {
    int largest = 0;
    for (const std::string_view entry : parts_of(soft, ',')) {
        std::vector<int> numbers;
        for (const std::string_view part : parts_of(entry, ':')) {
            const std::optional<int> number = number_in(trimmed(part));
            if (!number) {
                return std::nullopt;
            }
            numbers.push_back(*number);
        }
        if (numbers.size() > 3 || (numbers.size() == 3 && numbers[2] == 0)) {
            return std::nullopt;
        }
        const int last = numbers.size() > 1 ? numbers[1] : numbers[0];
        const int step = numbers.size() > 2 ? numbers[2] : 1;
        largest = std::max(largest, largest_of(numbers[0], last, step, maxprocs));
    }
    return largest;
}

int describe(
    const SpawnArguments& arguments, const std::string& hostname, SpawnProgram* program, std::string* problem) {
    Keys keys;
    if (arguments.info != nullptr) {
        for (auto& [key, value] : arguments.info->pairs()) {
            keys.emplace(key, value);
        }
    }
    Failure failure;
    if (const auto file = keys.find("file"); file != keys.end()) {
        failure = read_file(file->second, keys);
    }
    program->command = arguments.command;
    for (char** word = arguments.argv; word != nullptr && *word != nullptr; ++word) {
        program->arguments.emplace_back(*word);
    }
    if (failure.code == MPI_SUCCESS) {
        failure = apply(keys, arguments.maxprocs, hostname, *program);
    }
    *problem = std::move(failure.problem);
    return failure.code;
}

} // namespace patchbay
