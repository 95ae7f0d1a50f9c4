// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/progress.h"

#include "core/progress/descriptor_set.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <sched.h>
#include <thread>

namespace patchbay {

namespace {
// What stands in a slot without a poller: cheaper than asking in every poll whether there is one.
int poll_nothing(void*) noexcept {
    return 0;
}

std::uintptr_t this_thread() noexcept {
    return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
}
} // namespace

void PollerHandle::reset() noexcept {
    if (_slot != nullptr) {
        _progress->remove(static_cast<Progress::Slot*>(std::exchange(_slot, nullptr)));
    }
}

Progress::Block::Block() noexcept {
    for (Slot& slot : slots) {
        slot.poll.store(poll_nothing, std::memory_order_relaxed);
        slot.context.store(nullptr, std::memory_order_relaxed);
        slot.longest_sleep_ns = 0;
        slot.retired_in = 0;
        slot.in_use = false;
    }
}

Progress::Progress(bool threaded, const WaitPolicy& policy, PolledBy polled_by) noexcept
    : _fenced(bool(register_all_cores_barrier())),
      _threads(threaded || !_fenced),
      _polling_alone(polled_by == PolledBy::own_thread ? SingleThreadSection() : SingleThreadSection(_threads)),
      _sleeping_alone(_threads),
      _changing_alone(_threads),
      _bell(&_private_bell),
      _longest_sleep_ns(sleeps_well.count()),
      _list_lock(_threads),
      _polled_by(polled_by),
      _policy_on_own_core(policy),
      _policy_on_shared_core(policy.on_shared_core()) {}

Progress::~Progress() {
    delete _descriptors.load();
    for (Block* block = _first.next.load(); block != nullptr;) {
        delete std::exchange(block, block->next.load());
    }
}

namespace {
struct Beside {
    const Progress* of = nullptr;
    Progress* own = nullptr;
};
thread_local Beside beside_of_thread;
} // namespace

void Progress::begin_beside(Progress& own) noexcept {
    own._is_beside = true;
    beside_of_thread = {this, &own};
    _beside.fetch_add(1, std::memory_order_relaxed);
}

void Progress::end_beside() noexcept {
    _beside.fetch_sub(1, std::memory_order_relaxed);
    beside_of_thread = {};
}

Progress* Progress::beside() const noexcept {
    return has_beside() && beside_of_thread.of == this ? beside_of_thread.own : nullptr;
}

int Progress::poll_beside() noexcept {
    Progress* const own = beside();
    return own != nullptr ? own->poll() : 0;
}

void Progress::enable_threads() noexcept {
    _threads.turn_on([](void* self) { static_cast<Progress*>(self)->doorbell().ring(); }, this);
}

void Progress::disable_threads() noexcept {
    if (_fenced) {
        _threads.turn_off();
    }
}

PollerHandle Progress::add_poller(PollFunction poll, void* context, std::chrono::nanoseconds longest_sleep) {
    std::lock_guard hold(_list_lock);
    Slot* slot = find_free_slot();
    slot->context.store(context, std::memory_order_relaxed);
    slot->longest_sleep_ns = longest_sleep.count();
    slot->in_use = true;
    slot->poll.store(poll, std::memory_order_release);
    update_longest_sleep();
    return PollerHandle(this, slot);
}

int Progress::poll_others() noexcept {
    int events = 0;
    std::uint32_t first = 1;
    for (Block* block = &_first; block != nullptr; block = block->next.load(std::memory_order_acquire)) {
        for (std::uint32_t i = first; i < block->used.load(std::memory_order_acquire); ++i) {
            events += call(block->slots[i]);
        }
        first = 0;
    }
    return events;
}

Progress::Slot* Progress::find_free_slot() {
    // A poll under way in another thread may have read the function of a slot that was removed meanwhile, so the slot
    // gets its next owner only after that poll.
    std::uint64_t epoch = _epoch.load(std::memory_order_seq_cst);
    for (Block* block = &_first;; block = block->next.load(std::memory_order_relaxed)) {
        std::uint32_t used = block->used.load(std::memory_order_relaxed);
        for (std::uint32_t i = 0; i < block_slots; ++i) {
            Slot& slot = block->slots[i];
            bool settled = slot.retired_in % 2 == 0 || slot.retired_in != epoch;
            if (!slot.in_use && settled) {
                block->used.store(std::max(used, i + 1), std::memory_order_release);
                return &slot;
            }
        }
        if (block->next.load(std::memory_order_relaxed) == nullptr) {
            block->next.store(new Block, std::memory_order_release);
        }
    }
}

void Progress::remove(Slot* slot) noexcept {
    std::lock_guard hold(_list_lock);
    slot->poll.store(poll_nothing, std::memory_order_seq_cst);
    slot->in_use = false;
    slot->retired_in = _epoch.load(std::memory_order_seq_cst);
    for (Block* block = &_first; block != nullptr; block = block->next.load(std::memory_order_relaxed)) {
        std::uint32_t used = block->used.load(std::memory_order_relaxed);
        while (used > 0 && !block->slots[used - 1].in_use) {
            --used;
        }
        block->used.store(used, std::memory_order_release);
    }
    update_longest_sleep();
}

Status Progress::watch(int fd) {
    std::lock_guard hold(_list_lock);
    DescriptorSet* set = _descriptors.load(std::memory_order_relaxed);
    if (set == nullptr) {
        auto made = DescriptorSet::make();
        if (!made) {
            return made.error();
        }
        set = made->release();
        _descriptors.store(set, std::memory_order_release);
    }
    const Status added = set->add(fd);
    wake(); // a thread that sleeps on the doorbell alone
    return added;
}

void Progress::unwatch(int fd) noexcept {
    std::lock_guard hold(_list_lock);
    if (DescriptorSet* set = _descriptors.load(std::memory_order_relaxed)) {
        set->remove(fd);
    }
}

bool Progress::sleep(Doorbell& bell, std::uint32_t seq, std::chrono::nanoseconds limit) noexcept {
    DescriptorSet* set = _descriptors.load(std::memory_order_acquire);
    return set == nullptr ? bell.sleep(seq, limit) : set->sleep(bell, seq, limit);
}

void Progress::update_longest_sleep() noexcept {
    std::int64_t shortest = sleeps_well.count();
    for (Block* block = &_first; block != nullptr; block = block->next.load(std::memory_order_relaxed)) {
        for (const Slot& slot : block->slots) {
            if (slot.in_use) {
                shortest = std::min(shortest, slot.longest_sleep_ns);
            }
        }
    }
    _longest_sleep_ns.store(shortest, std::memory_order_relaxed);
}

int Progress::try_poll() noexcept {
    bool outer;
    if (_polling_alone.enter_again(outer)) {
        const int events = poll_each();
        _polling_alone.leave_to(outer);
        return events;
    }
    std::uintptr_t self = this_thread();
    if (_polling_thread.load(std::memory_order_relaxed) == self) {
        return poll_each();
    }
    std::uint64_t epoch = _epoch.load(std::memory_order_relaxed);
    if (epoch % 2 != 0 || !_epoch.compare_exchange_strong(epoch, epoch + 1, std::memory_order_seq_cst)) {
        return busy;
    }
    _polling_thread.store(self, std::memory_order_relaxed);
    int events = poll_each();
    _polling_thread.store(0, std::memory_order_relaxed);
    _epoch.store(epoch + 2, std::memory_order_release);
    if (events > 0) {
        doorbell().notify(); // what was completed may be what a sleeping thread of ours waits for
    }
    return events;
}

int Progress::poll_exclusively() noexcept {
    return std::max(try_poll(), 0);
}

// Where only one thread polls, it has entered the section.
bool Progress::is_in_poll() const noexcept {
    return threaded() && _polled_by == PolledBy::any_thread
        ? _polling_thread.load(std::memory_order_relaxed) == this_thread()
        : _polling_alone.is_entered();
}

// A poll takes as long as the functions of the program that it calls, so that this sleeps after a while.
void Progress::quiesce() noexcept {
    const std::uint64_t epoch = _epoch.load(std::memory_order_seq_cst);
    if (epoch % 2 == 0 || _polling_thread.load(std::memory_order_relaxed) == this_thread()) {
        return;
    }
    constexpr int yields = 100;
    for (int looks = 0; _epoch.load(std::memory_order_acquire) == epoch; ++looks) {
        if (looks < yields) {
            sched_yield();
        } else {
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
    }
}

void Progress::wake() noexcept {
    doorbell().notify();
}

} // namespace patchbay
