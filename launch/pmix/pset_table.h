// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <pmix.h>
#include <string>
#include <vector>

namespace patchbay::launch {

// The process sets of the job by name. PMIx keeps no list that a client could query: it asks its host. Only on
// PMIx's thread.
class PsetTable {
public:
    struct Entry {
        std::size_t version;
        std::vector<pmix_proc_t> members; // ascending
        bool is_listed;
    };

    // Answers the version: 1 for a new name, the next one for a name whose members are others than before. The members
    // are put in order. One that is not listed is found by its name only.
    std::size_t define(const std::string& name, std::vector<pmix_proc_t> members, bool is_listed = true);
    const Entry* find(const std::string& name) const; // null: there is none

    // Of those that are listed.
    std::size_t size() const;
    std::string names() const; // separated by commas

private:
    std::map<std::string, Entry> _entries;
};

} // namespace patchbay::launch
