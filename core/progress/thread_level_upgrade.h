// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <mutex>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class ThreadLevelUpgrade;

// A single-thread section: excludes other threads without an atomic read-modify-write or a fence as long as one thread
// uses the library, and can be ended from another thread (thread-level upgrade). On entry the thread sets a flag and
// then reads whether an upgrade has begun. ThreadLevelUpgrade::turn_on first sets that it has begun, then makes every
// core pass a memory barrier, and then waits until no section's flag is set; so one of the two threads sees the other.
// Costs two stores to a line that the calling thread owns, and one predictable branch.
class SingleThreadSection {
public:
    explicit SingleThreadSection(bool threaded = false) noexcept
        : _threaded(threaded) {}
    // A section that `threads` ends.
    explicit SingleThreadSection(ThreadLevelUpgrade& threads);
    ~SingleThreadSection();
    SingleThreadSection(const SingleThreadSection&) = delete;
    SingleThreadSection& operator=(const SingleThreadSection&) = delete;

    // false: several threads use the library; the caller must lock instead, and must not call leave().
    bool enter() noexcept { return enter_from(false); }
    void leave() noexcept { leave_to(false); }
    // For a section that may be entered again while it is entered: `outer` is the argument of the matching leave_to().
    // Where several threads use the library, the flag is what another one has just set and is about to take back: it is
    // not read then, because it would be restored for ever.
    bool enter_again(bool& outer) noexcept {
        if (_threaded.load(std::memory_order_relaxed)) [[unlikely]] {
            return false;
        }
        outer = _inside.load(std::memory_order_relaxed);
        return enter_from(outer);
    }
    void leave_to(bool outer) noexcept { _inside.store(outer, std::memory_order_release); }
    bool is_entered() const noexcept { return _inside.load(std::memory_order_relaxed); }

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

// Whether several threads use the library: off for one, and turned on at any moment. It is turned off again only by a
// caller who knows that no other thread is in the library.
class ThreadLevelUpgrade {
public:
    explicit ThreadLevelUpgrade(bool on) noexcept
        : _on(on),
          _settled(on) {}

    bool on() const noexcept { return _on.load(std::memory_order_acquire); }

    // Returns when no thread is in a section any more, so that all threads lock. Calls `wake(context)` repeatedly until
    // then, so that a thread that sleeps in a section leaves it. The caller must not be in a section. Every further
    // thread that begins to use the library calls this first. Requires that register_all_cores_barrier() has succeeded.
    void turn_on(void (*wake)(void*), void* context) noexcept;

    // The calling thread is the only one that uses the library from now on, and no other one is in it: the others have
    // passed what the caller has synchronised with them by. Another one that comes later calls turn_on() first.
    void turn_off() noexcept;

private:
    friend class SingleThreadSection;
    void add(SingleThreadSection& section);
    void remove(SingleThreadSection& section) noexcept;
    void set(bool on) noexcept;
    bool any_inside() noexcept;

    std::mutex _turning; // held by who turns it on or off
    // Protects the list. Not held while turn_on() waits: a thread in a section may make or destroy others.
    std::mutex _mutex;
    std::vector<SingleThreadSection*> _sections;
    std::atomic<bool> _on;
    std::atomic<bool> _settled;
};

} // namespace patchbay
