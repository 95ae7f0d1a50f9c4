// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/options.h"

#include "core/base/strings.h"
#include "core/base/terminal.h"

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/value_semantic.hpp>
#include <sstream>

namespace po = boost::program_options;

namespace patchbay::info {

namespace {

using Words = std::vector<std::string>;

po::options_description describe(unsigned columns) {
    const auto words = [](const char* names) { return po::value<Words>()->multitoken()->value_name(names); };
    po::options_description options("patchbay-info [OPTION]...", columns, columns * 6 / 10);
    options.add_options()("components", "List the versions and the components that are installed; the default.")(
        "param", words("FRAMEWORK [COMPONENT]"),
        "List parameters with value, origin and help: those of a framework and its components, of one component, or "
        "of 'all'; in place of the framework, the name of one parameter.")("names",
        "List the names of all parameters, one per line.")("pvars", "List the performance variables of MPI_T.")(
        "events", "List the events of MPI_T.")("categories", "List the categories of MPI_T with what is in them.")(
        "unimplemented", "List the functions that only return MPI_ERR_UNSUPPORTED_OPERATION.")(
        "explain", "Initialize the library as a singleton, and print which components it selects and why.")(
        "mca", words("NAME VALUE"), "Look with this parameter set, as mpirun --mca sets it.")(
        "json", "Print JSON; without a choice of what, everything but --explain.")("help", "Print this text (-h).")(
        "version", "Print the version (-V).");
    return options;
}

Error wrong(std::string text) {
    return {Errc::invalid, std::move(text)};
}

Error unknown(const std::string& option, const po::options_description& known) {
    Words names;
    for (const auto& one : known.options()) {
        names.push_back(one->long_name());
    }
    const std::string name = option.substr(std::min(option.find_first_not_of('-'), option.size()));
    const std::string near = nearest_name(name, names);
    return wrong("unknown option " + option +
        (near.empty() ? std::string("; --help lists them all") : "; did you mean --" + near + "?"));
}

Status take_param(const Words& words, Options& options) {
    if (words.size() > 2) {
        return wrong("--param takes a framework and perhaps a component, not '" + join(words, " ") + "'");
    }
    options.params.push_back({words[0], words.size() == 2 ? words[1] : std::string()});
    return {};
}

Status take_mca(const Words& words, Options& options) {
    if (words.size() != 2 || words[0].empty() || words[0].find('=') != std::string::npos) {
        return wrong("--mca takes a name and a value, not '" + join(words, " ") + "'");
    }
    options.mca.emplace_back(words[0], words[1]);
    return {};
}

Status take(const po::option& given, Options& options) {
    if (given.string_key == "param") {
        return take_param(given.value, options);
    }
    if (given.string_key == "mca") {
        return take_mca(given.value, options);
    }
    const std::pair<const char*, bool Options::*> flags[] = {
        {"components", &Options::components},
        {"names", &Options::names},
        {"unimplemented", &Options::unimplemented},
        {"pvars", &Options::pvars},
        {"events", &Options::events},
        {"categories", &Options::categories},
        {"explain", &Options::explain},
        {"json", &Options::json},
        {"help", &Options::help},
        {"version", &Options::version},
    };
    for (const auto& [name, flag] : flags) {
        if (given.string_key == name) {
            options.*flag = true;
            return {};
        }
    }
    return wrong("unexpected argument '" + join(given.value, " ") + "'; --help lists the options");
}

} // namespace

Result<Options> parse_options(const std::vector<std::string>& words) {
    // One dash is as good as two, as with other launchers' tools; so a value may be a negative number, but short
    // options must be spelt out here.
    Words spelt;
    for (const std::string& word : words) {
        spelt.push_back(word == "-h" ? "--help" : word == "-V" ? "--version" : word);
    }
    using namespace po::command_line_style;
    const auto known = describe(columns_of_help());
    Options options;
    try {
        const auto parsed = po::command_line_parser(spelt)
                                .options(known)
                                .style(allow_long | allow_long_disguise | long_allow_adjacent | long_allow_next)
                                .run();
        for (const auto& given : parsed.options) {
            if (Status taken = take(given, options); !taken) {
                return taken.error();
            }
        }
    } catch (const po::unknown_option& error) {
        return unknown(error.get_option_name(), known);
    } catch (const po::error& error) {
        return wrong(error.what());
    }
    return options;
}

std::string help_text() {
    std::ostringstream text;
    text << "Shows what this installation of Patchbay MPI consists of and how it is set up.\n\n"
         << describe(columns_of_help());
    return text.str();
}

} // namespace patchbay::info
