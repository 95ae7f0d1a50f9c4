// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/extended_id.h"

#include <mutex>
#include <unordered_map>

namespace [[gnu::visibility("default")]] patchbay {

class Communicator;

namespace cid {

// This process's communicators by exCID: those whose index may differ from process to process. A pml asks it when a
// message names its communicator by exCID. Thread-safe.
class Directory {
public:
    // false: another communicator has this name (a bug, or identifiers of two sources that met).
    bool bind(const ExtendedId& id, Communicator* comm);
    void unbind(const ExtendedId& id) noexcept;
    // nullptr: none of that name here, not yet or not any more. It may be one that its pml does not know (pml_data is
    // null).
    Communicator* find(const ExtendedId& id) const noexcept;
    std::size_t size() const noexcept;

private:
    using Map = std::unordered_map<ExtendedId, Communicator*, ExtendedIdHash>;

    mutable std::mutex _mutex;
    Map _by_id;
    Map::node_type _spare; // of the communicator that went last: one that comes next needs no memory
};

} // namespace cid
} // namespace patchbay
