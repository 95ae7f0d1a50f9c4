// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <mutex>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class ThreadLevelUpgrade;

// A stretch of code that excludes other threads without an atomic read-modify-write or a fence as long as only one
// thread uses the library, and that can still be told from outside that this has ended. The thread says that it is
// inside and then looks whether it is still alone; who ends that (ThreadLevelUpgrade::turn_on) first says so, then
// makes every core pass a barrier, and then waits until nobody is inside. One of the two sees the other. Two stores to
// a line that the caller owns and one predictable branch.
class SingleThreadSection {
public:
    explicit SingleThreadSection(bool threaded = false) noexcept
        : _threaded(threaded) {}
    // One of those that `threads` ends.
    explicit SingleThreadSection(ThreadLevelUpgrade& threads);
    ~SingleThreadSection();
    SingleThreadSection(const SingleThreadSection&) = delete;
    SingleThreadSection& operator=(const SingleThreadSection&) = delete;

    // false: several threads run, so the caller must lock instead; nothing to leave then.
    bool enter() noexcept { return enter_from(false); }
    void leave() noexcept { leave_to(false); }
    // For a section that may be entered again from inside: `outer` is for the matching leave_to().
    bool enter_again(bool& outer) noexcept {
        outer = _inside.load(std::memory_order_relaxed);
        return enter_from(outer);
    }
    void leave_to(bool outer) noexcept { _inside.store(outer, std::memory_order_release); }

private:
    bool enter_from(bool outer) noexcept {
        _inside.store(true, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst); // the processor is handled by turn_on()
        if (!_threaded.load(std::memory_order_relaxed)) [[likely]] {
            return true;
        }
        _inside.store(outer, std::memory_order_release);
        return false;
    }

    friend class ThreadLevelUpgrade;
    std::atomic<bool> _inside{false};
    std::atomic<bool> _threaded;
    ThreadLevelUpgrade* _switch = nullptr;
};

// Whether several threads use the library: off for one, and turned on at most once, at any moment.
class ThreadLevelUpgrade {
public:
    explicit ThreadLevelUpgrade(bool on) noexcept
        : _on(on),
          _settled(on) {}

    bool on() const noexcept { return _on.load(std::memory_order_acquire); }

    // Returns when all other threads lock, too: nobody is in a section any more. Meanwhile calls `wake(context)` again
    // and again, so that who sleeps in one gets up. The caller must not be inside one itself; whoever else begins to
    // use the library calls this first. Needs register_all_cores_barrier() to have succeeded.
    void turn_on(void (*wake)(void*), void* context) noexcept;

private:
    friend class SingleThreadSection;
    void add(SingleThreadSection& section);
    void remove(SingleThreadSection& section) noexcept;

    std::mutex _mutex;
    std::vector<SingleThreadSection*> _sections;
    std::atomic<bool> _on;
    std::atomic<bool> _settled;
};

} // namespace patchbay
