// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/lock.h"
#include "frameworks/cid/extended_id.h"

#include <unordered_map>

namespace [[gnu::visibility("default")]] patchbay {

class Communicator;

namespace cid {

// This process's communicators by exCID: those whose index may differ from process to process. A pml looks a
// communicator up here when a message carries its exCID. Thread-safe.
class Directory {
public:
    // Locks always.
    Directory();
    // Locks while several threads use the library.
    explicit Directory(ThreadLevelUpgrade& threads);
    ~Directory();
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;

    // false: another communicator has this exCID (a defect, or two sources have given out the same PGCID).
    bool bind(const ExtendedId& id, Communicator* comm);
    void unbind(const ExtendedId& id) noexcept;
    // nullptr: no communicator has this exCID now. The pml of the one that is returned may not know it (pml_data is
    // null).
    Communicator* find(const ExtendedId& id) const noexcept;
    std::size_t size() const noexcept;

private:
    using Map = std::unordered_map<ExtendedId, Communicator*, ExtendedIdHash>;

    mutable ProgressLock _lock;
    Map _by_id;
    Map::node_type _spare; // of the communicator that was unbound last: the next one needs no allocation
};

} // namespace cid
} // namespace patchbay
