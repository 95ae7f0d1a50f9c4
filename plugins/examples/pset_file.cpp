// SPDX-License-Identifier: BSD-3-Clause
// pset/file: process sets from a file with lines like "ocean=0-3,6"; a '#' begins a comment.
// Usage: --mca pset_file_path sets.txt
#include "core/base/out_of_memory.h"
#include "core/base/strings.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "core/runtime/pset_definition.h"
#include "core/runtime/runtime.h"
#include "frameworks/context.h"
#include "frameworks/pset/pset.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>

using namespace patchbay;

namespace {

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "30", "how much the file is believed about a process set", "0..100"},
    {"path", ParamType::string, "", "file with process sets as lines NAME=RANKS; empty: there is none"},
};

// Reads the file. Errc::invalid names file and line.
Result<std::vector<PsetDefinition>> read(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        return Error{Errc::system, "parameter pset_file_path: cannot read " + path + ": " + std::strerror(errno)};
    }
    std::vector<PsetDefinition> definitions;
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        const std::string text(trim(std::string_view(line).substr(0, line.find('#'))));
        if (text.empty()) {
            continue;
        }
        auto definition = parse_pset_definition(text);
        if (!definition) {
            return Error{Errc::invalid, path + ":" + std::to_string(number) + ": " + definition.error().text};
        }
        definitions.push_back(std::move(*definition));
    }
    return definitions;
}

class FileModule final : public pset::Module {
public:
    FileModule(const std::vector<PsetDefinition>& definitions, JobNumber job) {
        for (const PsetDefinition& definition : definitions) {
            std::vector<ProcessId> members;
            for (const std::uint32_t rank : definition.list()) {
                members.push_back({job, rank});
            }
            _sets.push_back(pset::Set::of(definition.name, 1, std::move(members)));
        }
    }
    Result<std::vector<std::string>> names() override {
        std::vector<std::string> names;
        for (const pset::Set& set : _sets) {
            names.push_back(set.name);
        }
        return names;
    }
    Result<pset::Set> find(const std::string& name) override {
        for (const pset::Set& set : _sets) {
            if (set.name == name) {
                return set;
            }
        }
        return Error{Errc::not_found, "the file of pset_file_path does not define '" + name + "'"};
    }

private:
    std::vector<pset::Set> _sets;
};

class FileComponent final : public pset::Component {
public:
    Status open(Core& core) override {
        _priority = int(core.params.at("pset_file_priority").as_int());
        const std::string& path = core.params.at("pset_file_path").as_string();
        if (path.empty()) {
            return Error{Errc::not_available, "parameter pset_file_path names no file"};
        }
        auto definitions = read(path);
        if (definitions) {
            _definitions = std::move(*definitions);
        }
        return definitions ? Status() : definitions.error();
    }
    Capability capabilities() const noexcept override { return Capability::thread_multiple; }
    Result<pset::Candidate> query(Context& context) override {
        for (const PsetDefinition& definition : _definitions) {
            if (definition.highest_rank() >= context.runtime().size()) {
                return Error{
                    Errc::invalid, "the process set '" + definition.name + "' has a rank that this job has not"};
            }
        }
        return unless_out_of_memory([&] {
            auto module = std::make_unique<FileModule>(_definitions, context.self().job);
            return Result<pset::Candidate>(pset::Candidate{_priority, std::move(module)});
        });
    }

private:
    int _priority = 0;
    std::vector<PsetDefinition> _definitions;
};

} // namespace

PATCHBAY_COMPONENT =
    describe<FileComponent>("pset", pset::interface_version, "file", "1.0.0", "process sets from a file", params);
