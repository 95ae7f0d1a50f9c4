// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/api/unimplemented.h"
#include "tools/info/report.h"

#include <nlohmann/json.hpp>

namespace patchbay::info {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Versions& versions) {
    Json frameworks = Json::object();
    for (const auto& [name, version] : versions.frameworks) {
        frameworks[name] = version;
    }
    return {{"library", versions.library}, {"library_text", versions.full}, {"mpi", versions.standard},
        {"mpi_abi", versions.abi}, {"core_abi", versions.core_abi}, {"toolchain", versions.toolchain},
        {"headers", versions.headers}, {"frameworks", frameworks}, {"prefix", versions.prefix}};
}

Json to_json(const ComponentEntry& entry) {
    return {{"framework", entry.framework}, {"name", entry.name}, {"version", entry.version},
        {"summary", entry.summary}, {"file", entry.file}, {"status", to_string(entry.fitness)},
        {"reason", entry.reason}};
}

Json to_json(const Param* param) {
    return {{"name", param->name()}, {"group", group_of(*param)}, {"component", param->component()},
        {"type", to_string(param->type())}, {"choices", param->choices()}, {"range", param->range()},
        {"value", param->text()}, {"default", param->default_text()}, {"source", to_string(param->source())},
        {"origin", param->origin()}, {"level", int(param->level())}, {"scope", to_string(param->scope())},
        {"help", param->help()}};
}

Json to_json(const PerformanceEntry& one) {
    return {{"name", one.name}, {"class", one.variable_class}, {"binding", one.binding}, {"continuous", one.continuous},
        {"readonly", one.read_only}, {"choices", one.choices}, {"level", one.level}, {"help", one.help}};
}

Json to_json(const EventEntry& one) {
    return {{"name", one.name}, {"elements", one.elements}, {"binding", one.binding}, {"level", one.level},
        {"help", one.help}};
}

Json to_json(const CategoryEntry& one) {
    return {{"name", one.name}, {"help", one.help}, {"parameters", one.parameters},
        {"performance_variables", one.performance_variables}, {"events", one.events}, {"categories", one.categories}};
}

Json to_json(const Decision& decision) {
    return {{"framework", decision.framework}, {"for", decision.object}, {"times", decision.times},
        {"candidate", decision.candidate}, {"outcome", to_string(decision.outcome)}, {"priority", decision.priority},
        {"reason", decision.reason}};
}

template <class List>
Json array_of(const List& list) {
    Json array = Json::array();
    for (const auto& element : list) {
        array.push_back(to_json(element));
    }
    return array;
}

} // namespace

std::string json_of(const JsonSections& sections) {
    Json all = Json::object();
    if (sections.versions != nullptr) {
        all["versions"] = to_json(*sections.versions);
    }
    if (sections.components != nullptr) {
        all["components"] = array_of(*sections.components);
    }
    if (sections.params != nullptr) {
        all["parameters"] = array_of(*sections.params);
    }
    if (sections.performance_variables != nullptr) {
        all["performance_variables"] = array_of(*sections.performance_variables);
    }
    if (sections.events != nullptr) {
        all["events"] = array_of(*sections.events);
    }
    if (sections.categories != nullptr) {
        all["categories"] = array_of(*sections.categories);
    }
    if (sections.unimplemented) {
        all["unimplemented"] = Json::array();
        for (const char* name : api::unimplemented_functions()) {
            all["unimplemented"].push_back(name);
        }
    }
    if (sections.explanation != nullptr) {
        all["decisions"] = array_of(sections.explanation->decisions);
        all["failure"] = sections.explanation->failure;
    }
    // A value that a user wrote need not be UTF-8.
    return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace patchbay::info
