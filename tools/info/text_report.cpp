// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/strings.h"
#include "tools/info/report.h"
#include "tools/info/table.h"

namespace patchbay::info {

namespace {

std::string shown(const std::string& value) {
    return value.empty() ? "(empty)" : value;
}

} // namespace

std::string text_of(const Versions& versions) {
    Table table({"what", "version"});
    table.add({"Patchbay MPI", versions.library});
    table.add({"MPI standard", versions.standard});
    table.add({"MPI ABI", versions.abi});
    table.add({"core ABI", std::to_string(versions.core_abi)});
    table.add({"toolchain", versions.toolchain});
    table.add({"headers for components", versions.headers});
    for (const auto& [name, version] : versions.frameworks) {
        table.add({"framework " + name, std::to_string(version)});
    }
    table.add({"installed in", versions.prefix});
    return table.text();
}

std::string text_of(const std::vector<ComponentEntry>& components) {
    Table table({"framework", "component", "version", "status", "what it does", "file"});
    for (const ComponentEntry& entry : components) {
        table.add({entry.framework, entry.name, entry.version.empty() ? "-" : entry.version, to_string(entry.fitness),
                      entry.summary.empty() ? "-" : entry.summary, entry.file},
            entry.reason);
    }
    return components.empty() ? "no components are installed\n" : table.text();
}

std::string text_of(const std::vector<const Param*>& params) {
    Table table({"parameter", "type", "value", "default", "set by"});
    for (const Param* param : params) {
        const std::string allowed = param->choices().empty() ? param->range() : join(param->choices(), ", ");
        table.add({param->name(), to_string(param->type()), shown(param->text()), shown(param->default_text()),
                      param->origin()},
            param->help() + (allowed.empty() ? "" : " (" + allowed + ")"));
    }
    return params.empty() ? "no parameters\n" : table.text();
}

std::string text_of(const std::vector<PerformanceEntry>& variables) {
    Table table({"variable", "class", "bound to", "counts", "level"});
    for (const PerformanceEntry& one : variables) {
        const std::string choices = one.choices.empty() ? "" : " (" + join(one.choices, ", ") + ")";
        table.add({one.name, one.variable_class, one.binding, one.continuous ? "always" : "when started", one.level},
            one.help + choices);
    }
    return table.text();
}

std::string text_of(const std::vector<EventEntry>& events) {
    Table table({"event", "elements", "bound to", "level"});
    for (const EventEntry& one : events) {
        table.add({one.name, join(one.elements, ", "), one.binding, one.level}, one.help);
    }
    return table.text();
}

std::string text_of(const std::vector<CategoryEntry>& categories) {
    Table table({"category", "what it is"});
    for (const CategoryEntry& one : categories) {
        std::vector<std::string> contents = one.categories;
        for (const auto* list : {&one.parameters, &one.performance_variables, &one.events}) {
            contents.insert(contents.end(), list->begin(), list->end());
        }
        table.add({one.name, one.help}, join(contents, ", "));
    }
    return table.text();
}

std::string names_of(const std::vector<const Param*>& params) {
    std::string text;
    for (const Param* param : params) {
        text += param->name() + "\n";
    }
    return text;
}

} // namespace patchbay::info
