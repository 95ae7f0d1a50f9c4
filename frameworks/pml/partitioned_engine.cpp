// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/pml/partitioned_engine.h"

#include "core/base/out_of_memory.h"
#include "core/core.h"
#include "frameworks/pml/partitioned_recv.h"
#include "frameworks/pml/partitioned_send.h"
#include "frameworks/pml/partitioned_tags.h"

#include <algorithm>
#include <mutex>

namespace patchbay::pml {

PartitionedEngine::~PartitionedEngine() {
    if (_watcher) {
        _watcher.reset();
        progress().quiesce();
    }
}

Progress& PartitionedEngine::progress() noexcept {
    return *_core.progress;
}

std::int64_t PartitionedEngine::message_size() const noexcept {
    return std::int64_t(_core.params.at("mpi_part_message_size").as_size());
}

// The first gap behind the range that was taken last, and after that the first one of all.
int PartitionedEngine::take_tags(int count) noexcept {
    return unless_out_of_memory(no_tags, [&] {
        const std::lock_guard lock(_lock);
        for (int begin : {_next, 0}) {
            auto next = _taken.upper_bound(begin);
            if (next != _taken.begin()) {
                begin = std::max(begin, std::prev(next)->second);
            }
            while (next != _taken.end() && next->first - begin < count) {
                begin = next->second;
                ++next;
            }
            if (partitioned_tags - begin >= count) {
                _taken.emplace_hint(next, begin, begin + count);
                _next = begin + count;
                return begin;
            }
        }
        return no_tags;
    });
}

void PartitionedEngine::give_back_tags(int first) noexcept {
    const std::lock_guard lock(_lock);
    _taken.erase(first);
}

void PartitionedEngine::add(Partitioned& request) noexcept {
    _released.add(request.released);
    if (request.checks_itself && request.is_active()) {
        const std::lock_guard lock(_watch_lock);
        if (!_watcher) {
            _watcher = progress().add_poller(
                [](void* engine) noexcept { return static_cast<PartitionedEngine*>(engine)->watch(); }, this);
        }
    }
}

// A poller, while there are released requests that no completing call looks at. A request that has ended leaves the
// list in a later poll.
int PartitionedEngine::watch() noexcept {
    if (!_watch_lock.try_lock()) {
        return 0; // another thread is doing it
    }
    const std::lock_guard lock(_watch_lock, std::adopt_lock);
    bool any = false;
    _released.for_each([&any](Request& request) {
        if (request.checks_itself && request.is_active()) {
            any = true;
            static_cast<Partitioned&>(request).look();
        }
    });
    if (!any) {
        _watcher.reset();
    }
    return 0;
}

void PartitionedEngine::wait_for_freed(const Session* session) noexcept {
    _released.wait(progress(), session,
        [](const Request& request) { return static_cast<const Partitioned&>(request).is_needed(); });
}

void PartitionedEngine::wait_for_freed(
    Progress& of_thread, const Session* session, const std::function<bool(const Communicator&)>& is_one) noexcept {
    _released.wait(of_thread, session, [&](const Request& request) {
        const auto& partitioned = static_cast<const Partitioned&>(request);
        return is_one(*request.comm) && (partitioned.is_needed() || partitioned.sends_setup());
    });
}

void PartitionedEngine::for_each_unmatched(const std::function<void(const Communicator&)>& act) noexcept {
    _released.for_each([&](const Request& request) {
        if (static_cast<const Partitioned&>(request).is_unmatched()) {
            act(*request.comm);
        }
    });
}

void PartitionedEngine::cancel_unmatched(
    Progress& of_thread, const std::function<bool(const Communicator&)>& is_one) noexcept {
    _released.for_each([&](Request& request) {
        if (is_one(*request.comm)) {
            static_cast<Partitioned&>(request).cancel_unmatched();
        }
    });
    wait_until(of_thread, [&] {
        bool any = false;
        for_each_unmatched([&](const Communicator& comm) { any = any || is_one(comm); });
        return !any;
    });
}

void PartitionedEngine::cancel_unmatched() noexcept {
    _released.for_each([](Request& request) { static_cast<Partitioned&>(request).cancel_unmatched(); });
}

int make_partitioned(
    PartitionedEngine& engine, const PartitionedRequest& what, Communicator& comm, Request** request) noexcept {
    return what.sends ? PartitionedSend::make(engine, what, comm, request)
                      : PartitionedRecv::make(engine, what, comm, request);
}

} // namespace patchbay::pml
