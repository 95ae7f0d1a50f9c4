// SPDX-License-Identifier: BSD-3-Clause
#include "launch/option_table.h"

#include "launch/host_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

namespace patchbay::launch {

namespace {

using Words = std::span<const std::string>;

Error wrong(std::string text) {
    return Error{Errc::invalid, std::move(text)};
}

Status set_ranks(Words words, OptionTarget target) {
    int ranks = 0;
    const std::string& text = words[0];
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
    if (error == std::errc::result_out_of_range && text[0] != '-') {
        return wrong(text + " ranks are more than a job can have");
    }
    if (error != std::errc() || end != text.data() + text.size() || ranks < 1) {
        return wrong("'" + text + "' is no number of ranks; at least 1 is needed");
    }
    target.app.ranks = ranks;
    return {};
}

// Whether a word that should be a value is an option instead.
bool is_option(const std::string& word) {
    const std::size_t dashes = word.find_first_not_of('-');
    return dashes != 0 && dashes != std::string::npos && find_option(word.substr(dashes)) != nullptr;
}

Status add_parameter(Words words, OptionTarget target) {
    if (words[0].empty() || words[0].find('=') != std::string::npos) {
        return wrong("'" + words[0] + "' is no parameter name; the form is --mca NAME VALUE");
    }
    if (is_option(words[1])) {
        return wrong(
            "the value of " + words[0] + " is missing: " + words[1] + " is an option; the form is --mca NAME VALUE");
    }
    set_parameter(target.job, words[0], words[1]);
    return {};
}

Status add_environment(Words words, OptionTarget target) {
    const std::string& text = words[0];
    std::size_t equals = text.find('=');
    if (text.empty() || equals == 0) {
        return wrong("'" + text + "' names no variable; the form is NAME or NAME=VALUE");
    }
    if (equals != std::string::npos) {
        target.app.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
        return {};
    }
    const char* value = std::getenv(text.c_str());
    if (value == nullptr) {
        return wrong(
            "the variable " + text + " is not set here, so it has no value to pass on; use " + text + "=VALUE");
    }
    target.app.environment.emplace_back(text, value);
    return {};
}

Status add_pair(Words words, std::vector<NameValue>& environment) {
    const bool is_one_word = words.size() == 1;
    const std::size_t equals = words[0].find('=');
    const std::string name = words[0].substr(0, equals);
    if (name.empty() || is_one_word != (equals != std::string::npos)) {
        return wrong("'" + words[0] + "' names no variable; the form is NAME VALUE or NAME=VALUE");
    }
    if (!is_one_word && is_option(words[1])) {
        return wrong("the value of " + name + " is missing: " + words[1] +
            " is an option; the form is NAME VALUE or NAME=VALUE");
    }
    environment.emplace_back(name, is_one_word ? words[0].substr(equals + 1) : words[1]);
    return {};
}

Status add_environment_pair(Words words, OptionTarget target) {
    return add_pair(words, target.app.environment);
}

Status add_common_environment_pair(Words words, OptionTarget target) {
    return add_pair(words, target.job.environment);
}

Status add_pset(Words words, OptionTarget target) {
    Result<PsetDefinition> pset = parse_pset_definition(words[0]);
    if (!pset) {
        return pset.error();
    }
    if (std::ranges::find(target.job.psets, pset->name, &PsetDefinition::name) != target.job.psets.end()) {
        return wrong("the process set '" + pset->name + "' is defined twice");
    }
    target.job.psets.push_back(std::move(*pset));
    return {};
}

Status set_working_directory(Words words, OptionTarget target) {
    target.app.working_directory = words[0];
    return {};
}

Status set_search_path(Words words, OptionTarget target) {
    target.app.search_path = words[0];
    return {};
}

Status set_bind_to(Words words, OptionTarget target) {
    if (words[0] == "core") {
        target.job.bind_to = BindTo::core;
    } else if (words[0] == "none") {
        target.job.bind_to = BindTo::none;
    } else {
        return wrong("'" + words[0] + "' is unknown; use core or none");
    }
    return {};
}

Status set_map_by(Words words, OptionTarget target) {
    static constexpr std::pair<std::string_view, MapBy> names[] = {{"slot", MapBy::slot}, {"core", MapBy::core},
        {"numa", MapBy::numa}, {"socket", MapBy::socket}, {"package", MapBy::socket}, {"node", MapBy::node}};
    for (auto [name, value] : names) {
        if (words[0] == name) {
            target.job.map_by = value;
            return {};
        }
    }
    return wrong("'" + words[0] + "' is unknown; use slot, core, numa, socket or node");
}

Status set_hosts(Words words, OptionTarget target) {
    return use_hosts(words[0], target.app);
}

Status set_host_file(Words words, OptionTarget target) {
    return use_host_file(words[0], target.app);
}

Status set_oversubscribe(Words, OptionTarget target) {
    target.job.oversubscribe = true;
    return {};
}

Status set_no_oversubscribe(Words, OptionTarget target) {
    target.job.oversubscribe = false;
    return {};
}

Status set_timeout(Words words, OptionTarget target) {
    const std::string& text = words[0];
    double seconds = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || end != text.data() + text.size() || !(seconds > 0) || seconds > 1e9) {
        return wrong("'" + text + "' is no time limit; a number of seconds above 0 is needed");
    }
    target.job.timeout = std::chrono::milliseconds(std::llround(std::ceil(seconds * 1000)));
    return {};
}

Status set_tag_output(Words, OptionTarget target) {
    target.job.tag_output = true;
    return {};
}

Status set_output_filename(Words words, OptionTarget target) {
    if (words[0].empty()) {
        return wrong("the prefix is empty");
    }
    target.job.output_prefix = words[0];
    return {};
}

Status set_timing(Words, OptionTarget target) {
    target.job.timing = true;
    return {};
}

Status set_go_on_after_failure(Words, OptionTarget target) {
    target.job.go_on_after_failure = true;
    return {};
}

Status set_explain(Words, OptionTarget target) {
    set_parameter(target.job, "explain", "1");
    return {};
}

Status accept(Words, OptionTarget) {
    return {};
}

const std::vector<OptionRow>& table() {
    using enum OptionSection;
    static const std::vector<OptionRow> rows = {
        {"np,n", {"c"}, 1, "N", job,
            "Start N ranks of the program. Without it one program gets a rank per core that mpirun may use, and "
            "each of several programs gets one.",
            set_ranks},
        {"mca", {"gmca"}, 2, "NAME VALUE", job,
            "Set the parameter NAME to VALUE for every rank; patchbay-info lists the names.", add_parameter},
        {"export,x", {}, 1, "NAME[=VALUE]", job,
            "Set an environment variable for the ranks of this program; without a value, to what it is here.",
            add_environment},
        {"env", {}, 2, "NAME VALUE", job, "The same with a value, as one word NAME=VALUE or as two words.",
            add_environment_pair, true},
        {"genv", {}, 2, "NAME VALUE", job, "The same as --env for all programs of the job.",
            add_common_environment_pair, true},
        {"wdir", {"wd"}, 1, "DIRECTORY", job, "Start the program in DIRECTORY.", set_working_directory},
        {"path", {}, 1, "DIRECTORIES", job, "Look for the program here (separated by ':') before PATH.",
            set_search_path},
        {"pset", {}, 1, "NAME=RANKS", job,
            "Define a process set of these ranks of the whole job (as in 0-3,6), which sessions find by its name. "
            "May be repeated.",
            add_pset},
        {"explain", {}, 0, "", job,
            "Rank 0 prints which components were selected and why, and the origin of each parameter.", set_explain},
        {"bind-to", {}, 1, "core|none", placement,
            "Bind each rank to a core of its own, or to none. The default is core while no core would get a "
            "second rank, none otherwise.",
            set_bind_to},
        {"map-by", {}, 1, "slot|core|numa|socket|node", placement,
            "Distribute the ranks over what. Slot and core are the same: one core after the other.", set_map_by},
        {"host,H", {"hosts"}, 1, "HOST[:N],...", placement,
            "Run on these hosts, each of which must be this machine, by its name or as localhost. The numbers behind "
            "them add up to the number of ranks where --np is not given.",
            set_hosts},
        {"hostfile,f", {"machinefile"}, 1, "FILE", placement,
            "The same for a file with a line HOST, HOST:N or HOST slots=N for each host.", set_host_file},
        {"oversubscribe", {}, 0, "", placement, "Allow more ranks than cores; this is the default.", set_oversubscribe},
        {"no-oversubscribe", {"nooversubscribe"}, 0, "", placement, "Refuse to start more ranks than there are cores.",
            set_no_oversubscribe},
        {"tag-output", {"prepend-rank", "l"}, 0, "", output,
            "Begin every line with [RANK]<stdout>: or [RANK]<stderr>:, its origin.", set_tag_output},
        {"output-filename", {}, 1, "PREFIX", output,
            "Write the ranks' output to the files PREFIX.RANK.out and PREFIX.RANK.err, and to nowhere else.",
            set_output_filename},
        {"timing", {}, 0, "", output, "At the end, print where the time of start-up and teardown went.", set_timing},
        {"timeout", {}, 1, "SECONDS", control,
            "End the job after SECONDS with exit status 124. The variable MPIEXEC_TIMEOUT does the same.", set_timeout},
        {"disable-auto-cleanup", {"enable-recovery"}, 0, "", control,
            "When a rank fails, let the others go on: operations that need the rank return errors. PMIx_Abort and "
            "MPI_Abort still end the job. The exit status is that of the first rank that failed.",
            set_go_on_after_failure},
        {"allow-run-as-root", {}, 0, "", control,
            "Does nothing: root may always run jobs. Accepted because scripts for Open MPI pass it.", accept},
        {"help,h", {}, 0, "", general, "Print this text.", accept},
        {"version,V", {}, 0, "", general, "Print the version.", accept},
    };
    return rows;
}

} // namespace

std::span<const OptionRow> option_rows() {
    return table();
}

std::string_view long_name(const OptionRow& row) {
    std::string_view name = row.name;
    return name.substr(0, name.find(','));
}

const OptionRow* find_option(std::string_view spelling) {
    for (const OptionRow& row : table()) {
        std::string_view name = row.name;
        std::size_t comma = name.find(',');
        bool is_short = comma != std::string_view::npos && spelling == name.substr(comma + 1);
        bool is_other = std::ranges::find(row.other_spellings, spelling) != row.other_spellings.end();
        if (spelling == long_name(row) || is_short || is_other) {
            return &row;
        }
    }
    return nullptr;
}

void set_parameter(JobSpec& job, const std::string& name, const std::string& value) {
    auto known = std::ranges::find(job.parameters, name, &NameValue::first);
    if (known != job.parameters.end()) {
        known->second = value;
    } else {
        job.parameters.emplace_back(name, value);
    }
}

} // namespace patchbay::launch
