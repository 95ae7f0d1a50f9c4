// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/construction_queue.h"

#include "core/base/out_of_memory.h"
#include "core/progress/waiter.h"
#include "mpi/communicators/new_communicator.h"
#include "mpi/instance/instance.h"
#include "object/error_cause.h"
#include "object/origins.h"

#include <new>
#include <string>
#include <utility>

namespace patchbay {

// The request of a nonblocking constructor. After the constructor's call it goes on in polls, so never in two threads
// at once.
class ConstructionQueue::Entry final : public Request {
public:
    Entry(ConstructionQueue& queue, std::unique_ptr<Construction> construction, MPI_Comm* result) noexcept
        : _queue(queue),
          _parent(Ref<Communicator>::share(construction->parent())),
          _copy(Ref<Communicator>::share(&construction->comm())),
          _construction(std::move(construction)),
          _result(result),
          _allocation(*this, Construction::Part::allocation),
          _local_side(*this, Construction::Part::local_side) {
        if (_parent) {
            belong_to(*_parent);
        }
        progress = &queue._instance.progress();
    }

    // The request is never persistent, and a constructor cannot be cancelled (MPI-5.0, 3.8.4).
    int start() noexcept override { return MPI_ERR_REQUEST; }
    int cancel() noexcept override { return MPI_ERR_REQUEST; }
    std::string_view cause() const noexcept override { return _cause; }

    int begin() noexcept { return _construction->begin(); }
    // The step in the constructor's call. If the construction is not finished, it goes on in the next poll.
    void follow() noexcept {
        set_active();
        int code;
        if (_construction->advance(&code)) {
            end(code);
            set_complete();
        } else {
            _allocation.is_linked = true;
            _allocation.post();
        }
    }
    // What the construction waits for is detached, so that the next poll ends it. Runs in a poll.
    void withdraw() noexcept {
        _copy.reset(); // the program calls nothing on the session any more
        give_up(MPI_ERR_OTHER);
    }
    // After an error.
    int finish(MPI_Status*) noexcept override {
        if (_copy) {
            delete_copied_attributes(*std::exchange(_copy, {}));
        }
        return error;
    }
    int retire() noexcept override {
        forget_origin();
        delete this;
        return MPI_SUCCESS;
    }
    void prepare_release() noexcept override { forget_origin(); }
    void note_origin() noexcept {
        if (Origins* const origins = Origins::active()) {
            unless_out_of_memory(false, [&] {
                origins->add(to_handle<Request>(this), ObjectKind::request, function,
                    _parent ? _parent->describe() : std::string(), _site);
                return true;
            });
        }
    }

private:
    static constexpr std::string_view function = "MPI_Comm_idup"; // the only constructor that is nonblocking

    // What follows when the messages of one part are complete.
    class Follower final : public Continuation {
    public:
        Follower(Entry& entry, Construction::Part part) noexcept
            : Continuation(entry._queue._instance.progress(), &ReadyItem::call<Follower, &Follower::go_on>),
              part(part),
              _entry(entry) {}

        const Construction::Part part;
        bool is_linked = false; // to messages, or into the ready list: a poll will call go_on()

    private:
        void go_on() noexcept {
            is_linked = false;
            _entry.step();
        }
        Entry& _entry;
    };

    // The step in a poll. The request is complete when neither part waits, and may not exist afterwards.
    void step() noexcept {
        follow(_allocation);
        follow(_local_side);
        if (_allocation.is_linked || _local_side.is_linked) {
            return;
        }
        end(_construction != nullptr ? _construction->open() : _given_up);
        complete();
    }
    void follow(Follower& follower) noexcept {
        while (_construction != nullptr && !follower.is_linked && !_construction->advance(follower.part)) {
            follower.open();
            const int code = _construction->attach(follower.part, follower);
            follower.is_linked = !follower.close();
            if (code != MPI_SUCCESS) {
                give_up(code);
            }
        }
    }
    void give_up(int code) noexcept {
        _given_up = code;
        _construction.reset(); // detaches both parts
    }
    void end(int code) noexcept {
        if (code == MPI_SUCCESS) {
            _copy.reset();
            *_result = to_handle(_construction->take().detach());
            if (Origins* const origins = Origins::active()) {
                origins->add(*_result, ObjectKind::communicator, function, {}, _site);
            }
        } else {
            store_cause(code);
            calls_back = _copy && !_copy->attributes.empty();
        }
        error = code;
        fill_empty_status(status);
        _construction.reset();
        if (_parent) {
            _complete_reference.set(*_parent);
        }
        const std::lock_guard lock(_queue._mutex);
        _queue._active.erase(place);
    }
    void forget_origin() const noexcept {
        if (Origins* const origins = Origins::active()) {
            origins->remove(to_handle<Request>(this));
        }
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

public:
    Place place{this};

private:
    ConstructionQueue& _queue;
    Ref<Communicator> _parent;             // errors are reported to it, also after the program has freed it
    CompleteReference _complete_reference; // that one
    Ref<Communicator> _copy;               // the new communicator, until it is the program's
    std::unique_ptr<Construction> _construction;
    MPI_Comm* _result;
    const CallSite _site = Origins::site();
    Follower _allocation;
    Follower _local_side;
    int _given_up = MPI_SUCCESS;
    std::string _cause;
};

ConstructionQueue::ConstructionQueue(Instance& instance) noexcept
    : Continuation(instance.progress(), &ReadyItem::call<ConstructionQueue, &ConstructionQueue::withdraw_all>),
      _instance(instance) {}

ConstructionQueue::~ConstructionQueue() {
    clear();
}

int ConstructionQueue::add(std::unique_ptr<Construction> construction, MPI_Comm* result, Request** request) noexcept {
    auto* entry = new (std::nothrow) Entry(*this, std::move(construction), result);
    if (entry == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    if (const int code = entry->begin(); code != MPI_SUCCESS) {
        entry->retire();
        return code;
    }
    {
        const std::lock_guard lock(_mutex);
        _active.push_back(entry->place);
        _used = true;
    }
    *request = entry;
    entry->note_origin();
    entry->follow();
    return MPI_SUCCESS;
}

bool ConstructionQueue::empty() noexcept {
    const std::lock_guard lock(_mutex);
    return _active.empty();
}

// Runs in a poll, so that no construction is advanced meanwhile.
void ConstructionQueue::withdraw_all() noexcept {
    const std::lock_guard lock(_mutex);
    for (Place* place = _active.first(); place != nullptr; place = decltype(_active)::next(*place)) {
        place->entry->withdraw();
    }
}

void ConstructionQueue::clear() noexcept {
    if (!empty()) {
        post();
        wait_until(_instance.progress(), [this] { return empty(); });
    }
    std::unique_lock lock(_mutex);
    const bool used = std::exchange(_used, false);
    lock.unlock();
    if (used) {
        _instance.progress().quiesce();
    }
}

} // namespace patchbay
