// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>

namespace [[gnu::visibility("default")]] patchbay {

// Something that the next poll is to run. The object that it belongs to owns it; it is in one list at most.
struct ReadyItem {
    // Called by Progress::poll() after its pollers, once for each time that the item was linked. Then the item is in no
    // list, and no other code uses it: run() may link it again, and may destroy it. It may start operations, but must
    // not block.
    using Run = void (*)(ReadyItem& item) noexcept;

    // A Run that calls a member function of T, which derives from ReadyItem.
    template <class T, void (T::*Function)() noexcept>
    static void call(ReadyItem& item) noexcept {
        (static_cast<T&>(item).*Function)();
    }

    Run run;
    ReadyItem* next;
};

// The items that are ready to run. Each Progress has one list, which its polls run: however many operations are
// outstanding, a poll visits only those that are ready. As only one thread polls at a time, no two items of a list run
// at the same time on two threads; an item that polls (through a callback of the program) lets others run meanwhile.
class ReadyList {
public:
    // Links an item, behind those that are linked already. `threaded`: as in Request::complete(). Takes no lock and
    // wakes no thread.
    void link(ReadyItem& item, bool threaded) noexcept {
        item.next = _linked.load(std::memory_order_relaxed);
        if (!threaded) {
            _linked.store(&item, std::memory_order_relaxed);
            return;
        }
        while (!_linked.compare_exchange_weak(item.next, &item, std::memory_order_release, std::memory_order_relaxed)) {
        }
    }

    // These are called by the thread that polls.
    bool empty() const noexcept { return (_linked.load(std::memory_order_relaxed) == nullptr) & (_taken == nullptr); }
    // Runs the items that are linked when it is called; what they link is left to the next poll. Returns their number.
    int run(bool threaded) noexcept;

private:
    void take(bool threaded) noexcept;

    std::atomic<ReadyItem*> _linked{nullptr}; // the last one first
    ReadyItem* _taken = nullptr;              // the first one first: those that the poll under way has still to run
};

} // namespace patchbay
