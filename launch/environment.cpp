// SPDX-License-Identifier: BSD-3-Clause
#include "launch/environment.h"

#include "core/param/sources.h"
#include "core/runtime/launch_environment.h"

#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace patchbay::launch {

namespace {

std::string_view name_of(std::string_view entry) {
    return entry.substr(0, entry.find('='));
}

// The whole environment is looked through for each variable of each process: most entries differ in this one character.
bool sets(std::string_view entry, std::string_view name) {
    return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
}

} // namespace

// The PMIX_MCA_* settings of the user are kept.
bool Environment::belongs_to_a_launcher(std::string_view name) {
    const auto begins = [name](std::string_view own) { // also with the hidden initial
        return !name.empty() && (name.front() == own.front() || name.front() == hidden_initial) &&
            name.substr(1).starts_with(own.substr(1));
    };
    if (begins("PMIX_")) {
        return !name.starts_with("PMIX_MCA_");
    }
    return name == param_cmdline_env || begins("PATCHBAY_NODE_") ||
        (begins(child_variable) && name.size() == std::string_view(child_variable).size());
}

Environment Environment::inherited() {
    Environment environment;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        if (!belongs_to_a_launcher(name_of(*entry))) {
            environment._entries.emplace_back(*entry);
        }
    }
    return environment;
}

void Environment::set(std::string_view name, std::string_view value) {
    std::string entry = std::string(name) + "=" + std::string(value);
    for (std::string& known : _entries) {
        if (sets(known, name)) {
            known = std::move(entry);
            return;
        }
    }
    _entries.push_back(std::move(entry));
}

const char* Environment::get(std::string_view name) const {
    for (const std::string& entry : _entries) {
        if (sets(entry, name)) {
            return entry.c_str() + name.size() + 1;
        }
    }
    return nullptr;
}

void Environment::take(char** entries) {
    for (char** entry = entries; entry != nullptr && *entry != nullptr; ++entry) {
        std::string_view text = *entry;
        std::string_view name = name_of(text);
        set(name, text.substr(std::min(text.size(), name.size() + 1)));
        std::free(*entry);
    }
    std::free(entries);
}

std::vector<char*> Environment::pointers() const {
    std::vector<char*> pointers;
    pointers.reserve(_entries.size() + 1);
    for (const std::string& entry : _entries) {
        pointers.push_back(const_cast<char*>(entry.c_str()));
    }
    pointers.push_back(nullptr);
    return pointers;
}

void scrub_own_environment() {
    std::vector<std::string> names;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        if (Environment::belongs_to_a_launcher(name_of(*entry))) {
            names.emplace_back(name_of(*entry));
        }
    }
    for (const std::string& name : names) {
        ::unsetenv(name.c_str());
    }
}

void add_parameters(Environment& environment, const std::vector<NameValue>& parameters) {
    std::string names;
    for (const auto& [name, value] : parameters) {
        environment.set(std::string(param_env_prefix) + name, value);
        names += (names.empty() ? "" : ",") + name;
    }
    if (!names.empty()) {
        environment.set(param_cmdline_env, names);
    }
}

} // namespace patchbay::launch
