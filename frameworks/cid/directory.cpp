// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/cid/directory.h"

#include <mutex>

namespace patchbay::cid {

Directory::Directory()
    : _lock(true) {}

Directory::Directory(ThreadLevelUpgrade& threads)
    : _lock(threads) {}

Directory::~Directory() = default;

bool Directory::bind(const ExtendedId& id, Communicator* comm) {
    std::lock_guard hold(_lock);
    if (_spare.empty()) {
        return _by_id.emplace(id, comm).second;
    }
    _spare.key() = id;
    _spare.mapped() = comm;
    auto placed = _by_id.insert(std::move(_spare));
    _spare = std::move(placed.node);
    return placed.inserted;
}

void Directory::unbind(const ExtendedId& id) noexcept {
    std::lock_guard hold(_lock);
    if (auto node = _by_id.extract(id); !node.empty()) {
        _spare = std::move(node);
    }
}

Communicator* Directory::find(const ExtendedId& id) const noexcept {
    std::lock_guard hold(_lock);
    const auto found = _by_id.find(id);
    return found == _by_id.end() ? nullptr : found->second;
}

std::size_t Directory::size() const noexcept {
    std::lock_guard hold(_lock);
    return _by_id.size();
}

} // namespace patchbay::cid
