// SPDX-License-Identifier: BSD-3-Clause
#include "launch/command_line.h"

#include "core/base/strings.h"
#include "core/base/terminal.h"
#include "launch/option_table.h"

#include <boost/program_options.hpp>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace po = boost::program_options;

namespace patchbay::launch {

namespace {

std::string help_of(const OptionRow& row) {
    std::string text = row.help;
    for (const std::string_view spelling : row.other_spellings) {
        text += spelling == row.other_spellings.front() ? " Also " : ", ";
        text += std::string(spelling.size() == 1 ? "-" : "--") + std::string(spelling);
    }
    return row.other_spellings.empty() ? text : text + ".";
}

po::options_description describe(OptionSection section, const char* title, unsigned columns) {
    const unsigned shortest_explanation = columns * 6 / 10;
    po::options_description group(title, columns, shortest_explanation);
    for (const OptionRow& row : option_rows()) {
        if (row.section != section) {
            continue;
        }
        const std::string text = help_of(row);
        if (row.values == 0) {
            group.add_options()(row.name, text.c_str());
        } else {
            group.add_options()(
                row.name, po::value<std::vector<std::string>>()->value_name(row.value_names), text.c_str());
        }
    }
    return group;
}

po::options_description describe_all() {
    const unsigned columns = columns_of_help();
    po::options_description all("mpirun [OPTION]... PROGRAM [ARGUMENT]... [: [OPTION]... PROGRAM ...]...");
    all.add(describe(OptionSection::job, "What runs", columns))
        .add(describe(OptionSection::placement, "Where it runs", columns))
        .add(describe(OptionSection::output, "What is shown", columns))
        .add(describe(OptionSection::control, "How it ends", columns))
        .add(describe(OptionSection::general, "About", columns));
    return all;
}

std::string unknown_option(std::string_view word, std::string_view spelling) {
    std::vector<std::string> known;
    for (const OptionRow& row : option_rows()) {
        known.emplace_back(long_name(row));
        known.insert(known.end(), row.other_spellings.begin(), row.other_spellings.end());
    }
    std::string near = nearest_name(spelling, known);
    std::string text = "unknown option " + std::string(word);
    return near.empty() ? text + "; --help lists them all" : text + "; did you mean --" + near + "?";
}

struct GivenOption {
    const OptionRow* row;
    std::string word; // as typed
    std::vector<std::string> values;
};

// Takes the options in front of one program from the words and leaves the program and its arguments in them.
//
// Boost.Program_options describes the options and formats the help. Its parsers support neither the usual options of
// MPI launchers (-np 4, --mca NAME VALUE) nor the rule that options end at the first word that is no option.
Result<std::vector<GivenOption>> take_options(std::vector<std::string>& words) {
    std::vector<GivenOption> options;
    std::size_t next = 0;
    while (next < words.size() && words[next].size() > 1 && words[next][0] == '-') {
        const std::string word = words[next++];
        if (word == "--") {
            break;
        }
        std::string spelling = word.substr(word[1] == '-' ? 2 : 1);
        GivenOption option{nullptr, word, {}};
        std::size_t equals = spelling.find('=');
        if (equals != std::string::npos) {
            option.values.push_back(spelling.substr(equals + 1));
            spelling.erase(equals);
        }
        option.row = find_option(spelling);
        if (option.row == nullptr) {
            return Error{Errc::invalid, unknown_option(word, spelling)};
        }
        std::size_t wanted = static_cast<std::size_t>(option.row->values);
        const bool next_is_pair = next < words.size() && words[next].find('=') != std::string::npos;
        if (option.row->is_pair && (equals != std::string::npos || next_is_pair)) {
            wanted = 1;
        }
        if (equals != std::string::npos && wanted != 1) {
            return Error{
                Errc::invalid, "option " + word + (wanted == 0 ? " takes no value" : " takes two words, no '='")};
        }
        while (option.values.size() < wanted) {
            if (next == words.size()) {
                return Error{Errc::invalid, "option " + word + " needs " + option.row->value_names};
            }
            option.values.push_back(words[next++]);
        }
        options.push_back(std::move(option));
    }
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(next));
    return options;
}

std::vector<std::vector<std::string>> split_apps(const std::vector<std::string>& words) {
    std::vector<std::vector<std::string>> apps(1);
    for (const std::string& word : words) {
        if (word == ":") {
            apps.emplace_back();
        } else {
            apps.back().push_back(word);
        }
    }
    return apps;
}

Status apply_timeout_variable(JobSpec& job) {
    const char* value = std::getenv("MPIEXEC_TIMEOUT");
    if (job.timeout || value == nullptr || *value == '\0') {
        return {};
    }
    std::vector<std::string> words = {value};
    AppSpec unused;
    Status status = find_option("timeout")->apply(words, {job, unused});
    return status ? Status() : Error{Errc::invalid, "environment variable MPIEXEC_TIMEOUT: " + status.error().text};
}

} // namespace

std::string help_text() {
    std::ostringstream out;
    out << "Starts the ranks of an MPI job on this machine.\n\n" << describe_all();
    out << "\nOptions take one dash or two. Those that describe a program (--np, --export,\n"
           "--env, --wdir, --path, --host, --hostfile) hold for the program they stand\n"
           "before, all others for the whole job. If an option is repeated, the last one\n"
           "counts; --mca, --pset, --host, --hostfile and those of the environment add up.\n"
           "Standard input goes to rank 0. The exit status is that of the first rank that\n"
           "failed, 128+N if signal N ended it.\n";
    return out.str();
}

Result<CommandLine> parse_command_line(const std::vector<std::string>& words) {
    CommandLine line;
    for (std::vector<std::string>& app_words : split_apps(words)) {
        AppSpec app;
        Result<std::vector<GivenOption>> options = take_options(app_words);
        if (!options) {
            return options.error();
        }
        for (const GivenOption& option : *options) {
            if (long_name(*option.row) == "help" || long_name(*option.row) == "version") {
                line.request =
                    long_name(*option.row) == "help" ? CommandLine::Request::help : CommandLine::Request::version;
                return line;
            }
            if (Status status = option.row->apply(option.values, {line.job, app}); !status) {
                return Error{Errc::invalid, "option " + option.word + ": " + status.error().text};
            }
        }
        if (!app.ranks && app.slots > 0) {
            app.ranks = int(app.slots);
        }
        app.argv = std::move(app_words);
        if (app.argv.empty()) {
            return Error{Errc::invalid,
                line.job.apps.empty() ? "no program given; try: mpirun -n 2 PROGRAM (--help lists the options)"
                                      : "no program given behind ':', which stands between two programs"};
        }
        line.job.apps.push_back(std::move(app));
    }
    for (AppSpec& app : line.job.apps) {
        app.environment.insert(app.environment.begin(), line.job.environment.begin(), line.job.environment.end());
    }
    line.job.environment.clear();
    if (Status status = apply_timeout_variable(line.job); !status) {
        return status.error();
    }
    return line;
}

} // namespace patchbay::launch
