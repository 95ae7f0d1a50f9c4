// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/launch_environment.h"

#include "core/memory/node_segment.h"
#include "core/runtime/announced_descriptor.h"
#include "core/runtime/dynamic_protocol.h"
#include "core/runtime/node_reports.h"

#include <atomic>
#include <cstdlib>
#include <unistd.h>

extern char** environ;

namespace patchbay {

namespace {
bool makes_a_rank(std::string_view name) {
    return name == "PMIX_RANK" || name == "PMIX_NAMESPACE" || name.starts_with("PMIX_SERVER_URI") ||
        name == node_segment_variable || name == node_reports_variable || name == parent_variable;
}

// Another thread that reads the environment sees the old name or the new one.
void set_initial(char* variable, char initial) noexcept {
    std::atomic_ref(*variable).store(initial, std::memory_order_relaxed);
}

// Gives a variable, of which this is the whole text under its hidden name, its own name. false: there is none.
bool reveal(std::string_view name, std::string_view value) {
    const std::string hidden = hidden_name(name).append("=").append(value);
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
        if (hidden == *variable) {
            set_initial(*variable, name.front());
            return true;
        }
    }
    return false;
}
} // namespace

// Never destroyed: a program may call MPI in its static destructors.
LaunchEnvironment& LaunchEnvironment::of_process() {
    static auto& environment = *new LaunchEnvironment;
    return environment;
}

LaunchEnvironment::LaunchEnvironment()
    : _segment_fd(announced_descriptor(std::getenv(node_segment_variable))),
      _reports_fd(announced_descriptor(std::getenv(node_reports_variable))) {}

void LaunchEnvironment::hide() {
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
        std::string_view text(*variable);
        std::size_t equals = text.find('=');
        if (equals != text.npos && makes_a_rank(text.substr(0, equals))) {
            _hidden.try_emplace(std::string(text.substr(0, equals)), text.substr(equals + 1)); // as getenv: the first
            set_initial(*variable, hidden_initial);
        }
    }
    if (_hidden.empty()) {
        return;
    }
    const std::string rank = value("PMIX_RANK");
    if (std::getenv(child_variable) == nullptr && !reveal(child_variable, rank)) { // of another launcher
        setenv(child_variable, rank.c_str(), 1);
    }
}

void LaunchEnvironment::show() {
    for (const auto& [name, text] : _hidden) {
        if (!reveal(name, text)) { // the program has taken it out
            setenv(name.c_str(), text.c_str(), 1);
        }
    }
}

std::string LaunchEnvironment::value(const char* name) const {
    if (auto found = _hidden.find(name); found != _hidden.end()) {
        return found->second;
    }
    const char* text = std::getenv(name);
    return text == nullptr ? std::string() : std::string(text);
}

bool LaunchEnvironment::has_pmix() const {
    return !value("PMIX_NAMESPACE").empty() && !value("PMIX_RANK").empty();
}

bool LaunchEnvironment::names_pmix_server() const {
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
        if (std::string_view(*variable).starts_with("PMIX_SERVER_URI")) {
            return true;
        }
    }
    return false;
}

} // namespace patchbay
