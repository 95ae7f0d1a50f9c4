// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/page_guard.h"

#include "core/base/faults.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace patchbay::check {

namespace {

// Fewer pages are not worth two system calls: the copy or hash of the data shows a change as well.
constexpr std::size_t fewest_pages = 16;

// A range of protected pages. The signal handler reads these without a lock.
struct Slot {
    std::atomic<std::uintptr_t> begin{0};
    std::atomic<std::uintptr_t> end{0};            // 0: the slot is free
    std::atomic<std::uintptr_t> released_begin{0}; // the range that it had before
    std::atomic<std::uintptr_t> released_end{0};
    std::atomic<std::uintptr_t> write{0};
    std::atomic<std::uintptr_t> instruction{0};
};

std::array<Slot, 256> slots;
std::mutex mutex; // of those that change the slots, besides the signal handler
std::atomic<bool> guards{false};

void set_protection(const Slot& slot, int protection) noexcept {
    const std::uintptr_t begin = slot.begin.load(std::memory_order_relaxed);
    mprotect(reinterpret_cast<void*>(begin), slot.end.load(std::memory_order_relaxed) - begin, protection);
}

std::uintptr_t instruction_of([[maybe_unused]] void* context) noexcept {
#if defined(__x86_64__)
    return static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.pc);
#else
    return 0;
#endif
}

// Not of an instruction fetch, say, which the protection does not prevent.
bool may_be_write(const siginfo_t& info, [[maybe_unused]] void* context) noexcept {
#if defined(__x86_64__)
    constexpr greg_t is_write = 2; // of the error code of a page fault
    return info.si_code == SEGV_ACCERR &&
        (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & is_write) != 0;
#else
    return info.si_code == SEGV_ACCERR;
#endif
}

// Another thread has made the pages writable between the fault and this handler: the instruction is repeated. Once: a
// second fault of it has another cause.
bool is_late(std::uintptr_t address, std::uintptr_t instruction) noexcept {
    static std::atomic<std::uintptr_t> last_address{0};
    static std::atomic<std::uintptr_t> last_instruction{0};
    static std::atomic<long> last_thread{0};
    const bool released = std::ranges::any_of(slots, [address](const Slot& slot) {
        return address < slot.released_end.load(std::memory_order_acquire) &&
            address >= slot.released_begin.load(std::memory_order_relaxed);
    });
    if (!released) {
        return false;
    }
    const long thread = syscall(SYS_gettid);
    const bool repeated = last_thread.exchange(thread) == thread;
    return (last_address.exchange(address) != address) | (last_instruction.exchange(instruction) != instruction) |
        !repeated;
}

// Whether the fault was a write to protected pages, which are writable then. A FaultUser.
bool note_write(siginfo_t* info, void* context) noexcept {
    if (!may_be_write(*info, context)) {
        return false;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    bool noted = false;
    for (Slot& slot : slots) {
        if (address < slot.end.load(std::memory_order_acquire) &&
            address >= slot.begin.load(std::memory_order_relaxed)) {
            if (slot.write.load(std::memory_order_relaxed) == 0) {
                slot.instruction.store(instruction_of(context), std::memory_order_relaxed);
                slot.write.store(address, std::memory_order_relaxed);
            }
            set_protection(slot, PROT_READ | PROT_WRITE);
            noted = true;
        }
    }
    return noted || is_late(address, instruction_of(context));
}

// Whether the program may read and write all of this memory, and no more: what release() makes of it.
bool is_plain_memory(std::uintptr_t begin, std::uintptr_t end) noexcept {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"), &std::fclose);
    std::array<char, 512> line;
    std::uintptr_t checked = begin;
    while (maps != nullptr && checked < end && std::fgets(line.data(), int(line.size()), maps.get()) != nullptr) {
        unsigned long first = 0;
        unsigned long last = 0;
        char read = '-';
        char write = '-';
        char execute = '-';
        if (std::sscanf(line.data(), "%lx-%lx %c%c%c", &first, &last, &read, &write, &execute) == 5 &&
            first <= checked && checked < last) {
            if (read != 'r' || write != 'w' || execute != '-') {
                return false;
            }
            checked = last;
        }
    }
    return checked >= end;
}

} // namespace

void PageGuard::protect(std::uintptr_t begin, std::uintptr_t end) noexcept {
    static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    begin = (begin + page - 1) / page * page;
    end = end / page * page;
    if (end < begin + fewest_pages * page || !guards.load() || !faults_reach_users()) {
        return;
    }
    const std::lock_guard lock(mutex);
    bool overlaps = false; // then the memory is not writable now, and it was before
    std::size_t free = none;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const std::uintptr_t other = slots[i].end.load(std::memory_order_relaxed);
        free = other == 0 && free == none ? i : free;
        overlaps = overlaps || (begin < other && slots[i].begin.load(std::memory_order_relaxed) < end);
    }
    if (free == none || overlaps || !is_plain_memory(begin, end)) {
        return;
    }
    Slot& slot = slots[free];
    slot.write.store(0, std::memory_order_relaxed);
    slot.begin.store(begin, std::memory_order_relaxed);
    slot.end.store(end, std::memory_order_release);
    set_protection(slot, PROT_READ);
    _slot = free;
}

Status PageGuard::start() noexcept {
    Status handled = handle_faults(note_write);
    guards.store(bool(handled));
    return handled;
}

void PageGuard::stop() noexcept {
    {
        const std::lock_guard lock(mutex);
        guards.store(false);
        for (const Slot& slot : slots) {
            if (slot.end.load(std::memory_order_relaxed) != 0) {
                set_protection(slot, PROT_READ | PROT_WRITE);
            }
        }
    }
    stop_handling_faults(note_write);
}

PageGuard::Write PageGuard::release() noexcept {
    if (_slot == none) {
        return {};
    }
    const std::lock_guard lock(mutex);
    Slot& slot = slots[_slot];
    _slot = none;
    set_protection(slot, PROT_READ | PROT_WRITE);
    const Write write{slot.write.load(std::memory_order_relaxed), slot.instruction.load(std::memory_order_relaxed)};
    slot.released_begin.store(slot.begin.load(std::memory_order_relaxed), std::memory_order_relaxed);
    slot.released_end.store(slot.end.load(std::memory_order_relaxed), std::memory_order_release);
    slot.end.store(0, std::memory_order_release);
    return write;
}

} // namespace patchbay::check
