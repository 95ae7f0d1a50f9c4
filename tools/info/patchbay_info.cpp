// SPDX-License-Identifier: BSD-3-Clause
// patchbay-info: prints the components and parameters of this installation, and which components it would select.
#include "core/base/strings.h"
#include "core/core.h"
#include "core/param/sources.h"
#include "mpi/api/unimplemented.h"
#include "mpi/library/library.h"
#include "tools/info/catalogue.h"
#include "tools/info/explanation.h"
#include "tools/info/options.h"
#include "tools/info/report.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

namespace {

using namespace patchbay;
using namespace patchbay::info;

constexpr int exit_failure = 1;
constexpr int exit_usage = 2; // the command line is wrong

int complain(const std::string& text, int status = exit_failure) {
    std::fprintf(stderr, "patchbay-info: %s\n", text.c_str());
    return status;
}

// Whether all of it was written: fputs() writes a long text itself, and fflush() does not repeat its error.
bool print(const std::string& text) {
    return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
}

// Passes --mca on as mpirun does, so that the parameters have their true origin.
void set_parameters(const std::vector<std::pair<std::string, std::string>>& parameters) {
    if (parameters.empty()) {
        return;
    }
    std::vector<std::string> names;
    for (const auto& [name, value] : parameters) {
        ::setenv((std::string(param_env_prefix) + name).c_str(), value.c_str(), 1);
        names.push_back(name);
    }
    ::setenv(std::string(param_cmdline_env).c_str(), join(names, ",").c_str(), 1);
}

Result<std::vector<const Param*>> wanted_params(const Catalogue& catalogue, const Options& options) {
    std::vector<const Param*> result;
    for (const Options::Scope& scope : options.params) {
        auto params = catalogue.params(scope);
        if (!params) {
            return params.error();
        }
        for (const Param* param : *params) { // two scopes may have it
            if (std::find(result.begin(), result.end(), param) == result.end()) {
                result.push_back(param);
            }
        }
    }
    return options.params.empty() ? catalogue.all_params() : result;
}

std::string unimplemented_text() {
    std::string text;
    for (const char* name : api::unimplemented_functions()) {
        text += std::string(name) + "\n";
    }
    return text;
}

struct Findings {
    Versions versions;
    std::vector<ComponentEntry> components;
    std::vector<const Param*> params;
    std::vector<PerformanceEntry> performance_variables;
    std::vector<EventEntry> events;
    std::vector<CategoryEntry> categories;
    std::optional<Explanation> explanation;
};

std::string json_report(const Options& options, const Findings& found) {
    const bool all = options.nothing_chosen();
    JsonSections sections;
    sections.versions = all || options.components ? &found.versions : nullptr;
    sections.components = all || options.components ? &found.components : nullptr;
    sections.params = all || options.names || !options.params.empty() ? &found.params : nullptr;
    sections.performance_variables = options.pvars ? &found.performance_variables : nullptr;
    sections.events = options.events ? &found.events : nullptr;
    sections.categories = options.categories ? &found.categories : nullptr;
    sections.unimplemented = all || options.unimplemented;
    sections.explanation = found.explanation ? &*found.explanation : nullptr;
    return json_of(sections);
}

std::string text_report(const Options& options, const Findings& found) {
    std::vector<std::string> sections;
    if (options.components || options.nothing_chosen()) {
        sections.push_back(text_of(found.versions));
        sections.push_back(text_of(found.components));
    }
    if (!options.params.empty()) {
        sections.push_back(text_of(found.params));
    }
    if (options.names) {
        sections.push_back(names_of(found.params));
    }
    if (options.pvars) {
        sections.push_back(text_of(found.performance_variables));
    }
    if (options.events) {
        sections.push_back(text_of(found.events));
    }
    if (options.categories) {
        sections.push_back(text_of(found.categories));
    }
    if (options.unimplemented) {
        sections.push_back(unimplemented_text());
    }
    if (found.explanation) {
        sections.push_back(found.explanation->text);
    }
    return join(sections, "\n");
}

int run(const Options& options) {
    set_parameters(options.mca);
    const auto lease = library().acquire_core();
    if (!lease) {
        return complain(lease.error().text);
    }
    Core& core = *library().core();
    Catalogue catalogue(core);
    int status = EXIT_SUCCESS;
    for (const Status& read : {catalogue.read(), core.report_unknown_params()}) {
        if (!read) {
            status = complain(read.error().text);
        }
    }
    const std::vector<Error> wrong_lists = catalogue.wrong_lists();
    for (const Error& wrong : wrong_lists) {
        status = complain(wrong.text);
    }
    const auto params = wanted_params(catalogue, options);
    if (!params) {
        return complain(params.error().text, exit_usage);
    }
    const ToolInterface& tool = catalogue.tool_interface();
    Findings found{catalogue.versions(), catalogue.components(), params.value(), tool.performance_variables(),
        tool.events(), tool.categories(), std::nullopt};
    if (options.explain) {
        found.explanation = explain();
        const std::string& failure = found.explanation->failure;
        const auto is_it = [&failure](const Error& wrong) { return wrong.text == failure; };
        if (!failure.empty() && std::ranges::none_of(wrong_lists, is_it)) {
            status = complain(failure);
        }
    }
    const std::string text = options.json ? json_report(options, found) : text_report(options, found);
    return print(text) ? status : complain("cannot write the output");
}

} // namespace

int main(int argc, char** argv) {
    const auto options = parse_options({argv + 1, argv + argc});
    if (!options) {
        return complain(options.error().text, exit_usage);
    }
    if (options.value().help) {
        return print(help_text()) ? EXIT_SUCCESS : complain("cannot write the output");
    }
    if (options.value().version) {
        return print(library_version() + "\n") ? EXIT_SUCCESS : complain("cannot write the output");
    }
    return run(options.value());
}
