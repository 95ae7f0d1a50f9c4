// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/check/message.h"
#include "mpi/check/page_guard.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <vector>

namespace patchbay::check {

// Finds out whether the program touches a buffer that an operation uses: from the call that begins the operation to the
// one by which the program learns that it is complete. A send buffer must not change, and no memory may be in two
// buffers unless both are sent. Thread-safe.
class BufferCheck {
public:
    // The use of one buffer by one start of an operation.
    class Use {
    public:
        bool is_active() const noexcept { return _active; }

    private:
        friend class BufferCheck;
        bool _active = false;
        const MessageCall* _call = nullptr;
        const CallSite* _site = nullptr;
        std::uintptr_t _begin = 0; // the memory from the first to the last byte of data
        std::uintptr_t _end = 0;
        std::uint64_t _hash = 0;
        std::vector<std::byte> _copy; // of the data of a send, if that is not long
        PageGuard _pages;
        std::multimap<std::uintptr_t, Use*>::iterator _place;
    };

    explicit BufferCheck(bool on) noexcept
        : _on(on) {}

    // `call` and `site` must exist until end().
    void begin(Use& use, const MessageCall& call, const CallSite& site) noexcept;
    // The program has learned that the operation is complete. Prints what it has done to a send buffer before.
    void end(Use& use) noexcept;
    // The end without a comparison: the program does not learn when the operation is complete.
    void give_up(Use& use) noexcept;
    // A blocking call: compares its buffer with those in use.
    void look_at(const MessageCall& call) noexcept;

private:
    // By the first byte. A class holds the uses of lengths whose highest bit is the same, so that a search visits few
    // uses that do not reach the memory, however many short ones (partitions) are beside a long one.
    using Class = std::multimap<std::uintptr_t, Use*>;

    static constexpr std::size_t longest_copy = std::size_t(1) << 20;

    void compare(const Use& use);
    static std::size_t class_of(const Use& use) noexcept;
    void find_overlap(const Use& use, const CallSite& site);
    const Use* overlapping(const Class& uses, std::uintptr_t longest, const Use& use) const;
    void release(Use& use) noexcept;

    const bool _on;
    std::mutex _mutex; // protects what follows
    std::array<Class, std::numeric_limits<std::uintptr_t>::digits> _classes;
};

} // namespace patchbay::check
