// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/construction_queue.h"

#include "core/base/out_of_memory.h"
#include "mpi/instance/instance.h"
#include "object/error_cause.h"

#include <new>
#include <string>
#include <utility>
#include <vector>

namespace patchbay {

// The request of a nonblocking constructor. The queue is its owner while it is active.
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
        set_active();
    }

    // The request is never persistent, and a constructor cannot be cancelled (MPI-5.0, 3.8.4).
    int start() noexcept override { return MPI_ERR_REQUEST; }
    int cancel() noexcept override { return MPI_ERR_REQUEST; }
    std::string_view cause() const noexcept override { return _cause; }

    int begin() noexcept { return _construction->begin(); }
    // true: the constructor is finished; complete() is to follow.
    bool advance() noexcept {
        int code = MPI_SUCCESS;
        if (!_construction->ready() || !_construction->advance(&code)) {
            return false;
        }
        if (code == MPI_SUCCESS) {
            *_result = to_handle(_construction->take().detach());
        }
        if (code != MPI_SUCCESS) {
            store_cause(code);
        }
        end(code);
        return true;
    }
    // The library or the session is finalized before the constructor is complete.
    void withdraw() noexcept {
        end(MPI_ERR_OTHER);
        complete_outside();
    }
    int retire() noexcept override {
        delete this;
        return MPI_SUCCESS;
    }

private:
    void end(int code) noexcept {
        error = code;
        fill_empty_status(status);
        _construction.reset();
    }
    // Moves the cause to the request, because another thread may complete the request than the one that polls.
    void store_cause(int code) noexcept {
        try {
            _cause = noted_cause(code);
        } catch (const std::bad_alloc&) {
            // Only the code is reported.
        }
        forget_cause();
    }

    Ref<Communicator> _parent; // errors are reported to it, also after the program has freed it
    std::unique_ptr<Construction> _construction;
    MPI_Comm* _result;
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
        entry->retire();
        return code;
    }
    *request = entry;
    // Sends the first messages before the caller continues its computation.
    _instance.progress().poll();
    return MPI_SUCCESS;
}

int ConstructionQueue::poll(void* context) noexcept {
    return static_cast<ConstructionQueue*>(context)->advance_all();
}

int ConstructionQueue::advance_all() noexcept {
    if (_advancing) {
        return 0;
    }
    _advancing = true;
    std::vector<Entry*> entries;
    {
        std::lock_guard lock(_mutex);
        entries.swap(_snapshot);
        entries.assign(_active.begin(), _active.end()); // does not allocate, because add() has reserved the memory
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
        entry->complete();
        ++finished;
    }
    {
        std::lock_guard lock(_mutex);
        if (entries.capacity() > _snapshot.capacity()) {
            entries.swap(_snapshot);
        }
    }
    _advancing = false;
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
        entry->withdraw();
    }
}

} // namespace patchbay
