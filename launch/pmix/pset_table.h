// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <pmix.h>
#include <string>
#include <vector>

namespace patchbay::launch {

// The process sets by name: those of the run, which all jobs know, and those of each job that a rank has spawned, which
// that job alone knows. PMIx keeps no list that a client could query: it passes queries on to its host. Called on
// PMIx's thread only.
class PsetTable {
public:
    struct Entry {
        std::size_t version;
        std::vector<pmix_proc_t> members; // by namespace, then by rank
        bool is_listed;
        bool is_jobs_own;
    };

    // Defines a set of the run and returns its version: 1 for a new name, the next one for a name whose members differ
    // from those before. Sorts the members. A set that is not listed is found by its name only.
    std::size_t define(const std::string& name, std::vector<pmix_proc_t> members, bool is_listed = true);
    // Defines a set of the job of this namespace. The members are in ascending order.
    void define_for(
        const std::string& job, const std::string& name, std::vector<pmix_proc_t> members, bool is_listed = true);
    // What a job has of its own is no longer known.
    void forget_job(const std::string& job);

    // For a process of the job; any other text, also an empty one, stands for a job without sets of its own. Null:
    // there is no such set. A set of the job hides one of the run with the same name.
    const Entry* find(const std::string& job, const std::string& name) const;

    // The names of the sets that are listed, each once.
    std::vector<std::string> names(const std::string& job) const;

private:
    using Sets = std::map<std::string, Entry>;

    Sets _of_run;
    std::map<std::string, Sets> _of_jobs;
};

} // namespace patchbay::launch
