// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/construction_queue.h"

#include "core/base/out_of_memory.h"
#include "mpi/instance/instance.h"
#include "object/error_cause.h"

#include <atomic>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace patchbay {

// The request of one constructor. It belongs to the queue while it is active, and to the user until recycle(): the
// last of the two deletes it.
class ConstructionQueue::Entry final : public Request {
public:
    Entry(Instance& instance, std::unique_ptr<Construction> construction, MPI_Comm* result) noexcept
        : _parent(Ref<Communicator>::share(construction->parent())),
          _construction(std::move(construction)),
          _result(result) {
        if (_parent) {
            belong_to(*_parent);
        }
        progress = &instance.progress();
        set_state(State::active);
    }

    // Never persistent, and a constructor cannot be cancelled (MPI-5.0, 3.8.4).
    int start() noexcept override { return MPI_ERR_REQUEST; }
    int cancel() noexcept override { return MPI_ERR_REQUEST; }
    void recycle() noexcept override { drop_owner(); }
    std::string_view cause() const noexcept override { return _cause; }

    int begin() noexcept { return _construction->begin(); }
    // true: complete now.
    bool advance() noexcept {
        int code = MPI_SUCCESS;
        if (!_construction->ready() || !_construction->advance(&code)) {
            return false;
        }
        if (code == MPI_SUCCESS) {
            *_result = to_handle(_construction->take().detach());
        }
        if (code != MPI_SUCCESS) {
            keep_cause(code);
        }
        error = code;
        fill_empty_status(status);
        _construction.reset();
        set_state(State::complete);
        return true;
    }

    void drop_owner() noexcept {
        if (_owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }

private:
    // The thread that polls need not be the one that completes the request.
    void keep_cause(int code) noexcept {
        try {
            _cause = noted_cause(code);
        } catch (const std::bad_alloc&) {
            // The code alone has to do.
        }
        forget_cause();
    }

    Ref<Communicator> _parent; // errors are reported to it, also when it has been freed meanwhile
    std::unique_ptr<Construction> _construction;
    MPI_Comm* _result;
    std::atomic<int> _owners{2};
    std::string _cause;
};

ConstructionQueue::~ConstructionQueue() {
    clear();
}

int ConstructionQueue::add(std::unique_ptr<Construction> construction, MPI_Comm* result, Request** request) noexcept {
    auto* entry = new (std::nothrow) Entry(_instance, std::move(construction), result);
    if (entry == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    int code = entry->begin();
    if (code == MPI_SUCCESS) {
        code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
            std::lock_guard lock(_mutex);
            _snapshot.reserve(_active.size() + 1);
            if (!_poller) {
                _poller = _instance.progress().add_poller(&ConstructionQueue::poll, this);
            }
            _active.push_back(entry);
            _used = true;
            return MPI_SUCCESS;
        });
    }
    if (code != MPI_SUCCESS) {
        delete entry;
        return code;
    }
    *request = entry;
    // The first messages should be under way before the caller goes on to compute.
    _instance.progress().poll();
    return MPI_SUCCESS;
}

int ConstructionQueue::poll(void* context) noexcept {
    return static_cast<ConstructionQueue*>(context)->advance_all();
}

int ConstructionQueue::advance_all() noexcept {
    if (_walking) {
        return 0;
    }
    _walking = true;
    std::vector<Entry*> entries;
    {
        std::lock_guard lock(_mutex);
        entries.swap(_snapshot);
        entries.assign(_active.begin(), _active.end()); // there is room: add() has seen to it
    }
    int finished = 0;
    for (Entry* entry : entries) {
        if (!entry->advance()) {
            continue;
        }
        {
            std::lock_guard lock(_mutex);
            _active.remove(entry);
            if (_active.empty()) {
                _poller.reset();
            }
        }
        entry->drop_owner();
        ++finished;
    }
    {
        std::lock_guard lock(_mutex);
        if (entries.capacity() > _snapshot.capacity()) {
            entries.swap(_snapshot);
        }
    }
    _walking = false;
    return finished;
}

void ConstructionQueue::clear() noexcept {
    std::list<Entry*> left;
    bool used;
    {
        std::lock_guard lock(_mutex);
        used = std::exchange(_used, false);
        _poller.reset();
        left.swap(_active);
    }
    if (used) {
        _instance.progress().quiesce();
    }
    for (Entry* entry : left) {
        entry->drop_owner();
    }
}

} // namespace patchbay
