// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <pmix.h>
#include <string>
#include <vector>

namespace patchbay::launch {

// The process sets of all jobs by name. PMIx keeps no list that a client could query: it passes queries on to its host.
// Called on PMIx's thread only.
class PsetTable {
public:
    struct Entry {
        std::size_t version;
        std::vector<pmix_proc_t> members; // by namespace, then by rank
        bool is_listed;
    };

    // Defines a set and returns its version: 1 for a new name, the next one for a name whose members differ from those
    // before. Sorts the members. A set that is not listed is found by its name only.
    std::size_t define(const std::string& name, std::vector<pmix_proc_t> members, bool is_listed = true);
    const Entry* find(const std::string& name) const; // null: there is no such set

    // Of the sets that are listed.
    std::size_t size() const;
    std::string names() const; // separated by commas

private:
    std::map<std::string, Entry> _entries;
};

} // namespace patchbay::launch
