// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/call_site.h"
#include "mpi/check/memory_range.h"
#include "object/datatype.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace patchbay {

class Window;

namespace check {

// What one operation does at a target.
enum class AccessKind : std::uint8_t { read, write, update };

struct TargetAccess {
    const char* function; // "MPI_Put"
    AccessKind kind;
    MemoryRange range;     // whose `buffer` stands for the place in the target's memory, and is not 0
    bool fetches;          // it gives a result: complete at the origin, it is complete at the target, too
    std::uint64_t element; // of an update: the predefined type of the elements, as Signature::Run::type
    CallSite site;
    Ref<Datatype> held; // while the access is kept, the type of the range is
};

// Finds operations of this process that access the same memory of one target in one epoch, with no flush between them
// (MPI-5.0, 12.7): what the memory or the result has afterwards is not defined, unless both only read, or both update
// elements of the same type. What other processes access is not known here. Thread-safe.
class TargetCheck {
public:
    explicit TargetCheck(const Window& window) noexcept
        : _window(window) {}

    // May throw std::bad_alloc.
    void add(int rank, TargetAccess access);
    // The operations to the rank are complete at the target: what follows comes after them.
    void complete(int rank) noexcept;
    void complete_all() noexcept;
    // The operations are complete at the origin.
    void complete_fetches(int rank) noexcept;
    void complete_all_fetches() noexcept;

private:
    struct Accesses {
        void remove_fetches() noexcept {
            std::erase_if(by_begin, [](const auto& entry) { return entry.second.fetches; });
        }

        std::multimap<std::uintptr_t, TargetAccess> by_begin;
        std::uintptr_t longest = 0;
    };

    const TargetAccess* find_conflict(const Accesses& accesses, const TargetAccess& access, std::uintptr_t begin,
        std::uintptr_t end, std::size_t* shared) const;
    std::string text(int rank, const TargetAccess& access) const;

    const Window& _window;
    std::mutex _mutex; // protects what follows
    std::map<int, Accesses> _accesses;
};

} // namespace check
} // namespace patchbay
