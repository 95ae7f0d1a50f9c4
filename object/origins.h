// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/call_site.h"
#include "object/object.h"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class Communicator;
class Request;

// The handles that the program has to free, with the place where it got each of them: the part `leaks` of parameter
// mpi_check. Thread-safe.
class Origins {
public:
    // nullptr: the check is off. It is switched on when the library is initialized, and off when it is finalized.
    static Origins* active() noexcept { return _active.load(std::memory_order_acquire); }
    static void switch_on();
    // Returns what report() returns; empty if it was off.
    static std::string switch_off();

    // The program has got a handle from `function`, which it has called where it is now. `what` identifies the object:
    // its handle, or another address. An object may have several handles. `on`: the communicator of a request, or
    // empty. When memory is exhausted, nothing is noted.
    void add(const void* what, ObjectKind kind, std::string_view function, std::string_view on) noexcept {
        add(what, kind, function, on, CallSite::here());
    }
    // The same for a handle that the program gets after the call.
    void add(const void* what, ObjectKind kind, std::string_view function, std::string_view on, CallSite site) noexcept;
    // Where the program is now; unknown, which costs nothing, if the check is off.
    static CallSite site() noexcept { return active() != nullptr ? CallSite::here() : CallSite(); }
    // The program has freed one handle. Nothing happens if none is noted.
    void remove(const void* what) noexcept;
    // The library has freed the object, whose handles the program has not freed; another object may have its address.
    // `name`: the object's name.
    void lose(const void* what, std::string_view name) noexcept;

    // The handles that the program has not freed, by the place where it got them; a text for the user, empty if there
    // are none.
    std::string report() const;

private:
    struct Origin {
        ObjectKind kind;
        std::string function;
        std::string on;
        std::string name;
        CallSite site;
    };

    static Origin with_name(Origin origin, const Communicator& comm);

    void clear() noexcept;

    static std::atomic<Origins*> _active;

    mutable std::mutex _mutex; // protects what follows
    bool _is_on = false;       // another thread may have taken active() before it was switched off
    std::unordered_multimap<const void*, Origin> _handles;
    std::vector<Origin> _lost;
};

// The note of a request that ends with the request, of which it is a member.
class OriginNote {
public:
    OriginNote() = default;
    ~OriginNote() {
        if (_what != nullptr) [[unlikely]] {
            take_back();
        }
    }
    OriginNote(const OriginNote&) = delete;
    OriginNote& operator=(const OriginNote&) = delete;

    // Called once, on the thread of the call that gives the program the handle.
    void add_request(const Request& request, const char* function, const Communicator& on) noexcept {
        if (Origins* const origins = Origins::active()) [[unlikely]] {
            add(*origins, request, function, on);
        }
    }

private:
    [[gnu::cold]] void add(
        Origins& origins, const Request& request, const char* function, const Communicator& on) noexcept;
    [[gnu::cold]] void take_back() noexcept;

    const void* _what = nullptr; // the handle; null: nothing is noted
};

} // namespace patchbay
