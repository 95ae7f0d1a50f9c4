// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/sm/collectives.h"
#include "components/coll/sm/errors.h"
#include "components/common/short_copy.h"
#include "core/progress/waiter.h"
#include "object/error_code.h"
#include "object/handle.h"
#include "object/typed_copy.h"

#include <chrono>
#include <type_traits>

namespace patchbay::coll::sm {

// The parts of one step of a member (place.h), and the whole, which waits between them.

// A member that has failed rings no doorbell; so often a wait looks whether all of them exist.
inline constexpr std::chrono::milliseconds between_looks{200};

// Shows what this member contributes, `bytes` in all, or that it has failed, when there is room. MPI code.
inline int contribute(Place& place, const Elements& own, std::size_t bytes) noexcept {
    int code = place.take_memory();
    if (code == MPI_SUCCESS && bytes > 0) {
        std::byte* const room = place.own_room(bytes);
        if (own.type->dense) [[likely]] {
            common::copy_any(room, static_cast<const std::byte*>(own.data) + own.type->true_lower_bound, bytes);
        } else {
            code = typed_copy(own.data, own.count, *own.type, room, MPI_Count(bytes), *to_object<Datatype>(MPI_BYTE));
        }
    }
    place.show(code == MPI_SUCCESS ? std::uint16_t(bytes) : 0, code);
    return code;
}

// Tells those that wait for what this member contributes, `bytes`.
template <class What>
void announce(Place& place, const What& what, Waits waits, int root, std::uint16_t bytes) noexcept {
    if (waits == Waits::for_join) {
        place.come(bytes, [&] { return what.make_result(place); });
    } else if (waits == Waits::for_each_other) {
        place.wake(1 - place.rank());
    } else if (waits == Waits::for_none) {
        place.rank() == root ? place.wake_others() : place.wake(root);
    }
}

// Contributes, and tells those that wait for it. `failed`: not MPI_SUCCESS: the member shows this code instead. MPI
// code.
template <class What>
int arrive(Place& place, const What& what, Waits waits, int root, int failed) noexcept {
    int code = failed;
    std::size_t bytes = 0;
    if (what.contributes(place)) {
        if (failed == MPI_SUCCESS) [[likely]] {
            const Elements own = what.own(place);
            bytes = own.bytes();
            code = contribute(place, own, bytes);
        } else {
            place.show(0, failed);
        }
    }
    announce(place, what, waits, root, std::uint16_t(bytes));
    return code;
}

inline bool is_ready(const Place& place, Waits waits, int root) noexcept {
    switch (waits) {
    case Waits::for_none:
        return true;
    case Waits::for_root:
        return place.has_shown(root);
    case Waits::for_each_other:
        return place.has_shown(1 - place.rank());
    case Waits::for_join:
        return place.has_ended();
    case Waits::for_all:
        break;
    }
    for (int rank = place.size() - 1; rank >= 0; --rank) {
        if (rank != root && !place.has_shown(rank)) {
            return false;
        }
    }
    return true;
}

// Takes what the member has waited for, unless it has failed before, and ends the step. `code`: of arrive(). MPI code.
template <class What>
int leave(Place& place, const What& what, Waits waits, int code, int failed) noexcept {
    what.look(place);
    const int taken = failed == MPI_SUCCESS ? what.take(place) : failed;
    const bool mutual = waits == Waits::for_join || waits == Waits::for_each_other;
    place.end(mutual || waits == Waits::for_all, mutual);
    return first_error(code, taken);
}

// false: a process of the communicator has failed.
template <class Done>
bool wait(Place& place, const Done& done) noexcept {
    constexpr int looks = 16; // a look costs a nanosecond, a poll ten times that
    const auto look = [&done] {
        for (int i = 0; i < looks; ++i) {
            if (done()) {
                return true;
            }
        }
        return false;
    };
    if (look()) [[likely]] {
        return true;
    }
    place.publish_all();
    Progress& progress = place.progress();
    for (std::uint32_t polls = progress.policy().first_polls; polls != 0; --polls) {
        progress.poll();
        if (look()) {
            return true;
        }
    }
    while (!wait_for(progress, between_looks, look)) {
        if (place.look_for_failures()) {
            return done(); // by now
        }
    }
    return true;
}

// Begins a step to which the member contributes up to that many bytes, when there is room. false: as wait().
inline bool begin(Place& place, std::size_t contributes) noexcept {
    if (place.has_failed()) [[unlikely]] {
        return false;
    }
    place.next_step(contributes);
    return wait(place, [&place] { return place.try_begin(); });
}

// The whole step. `root`: of a collective without one, any number. `failed`: as in arrive().
template <class What>
int run(Place& place, const What& what, int root = 0, int failed = MPI_SUCCESS) noexcept {
    const Waits waits = what.waits(place);
    std::size_t bytes = what.contributes(place) && failed == MPI_SUCCESS ? what.own(place).bytes() : 0;
    if constexpr (std::is_base_of_v<Blocks, What>) {
        if (bytes > longest_contribution) [[unlikely]] { // this member sends more than it receives
            bytes = 0;
            failed = too_long();
        }
    }
    if (!begin(place, bytes)) [[unlikely]] {
        return failed_process();
    }
    const int code = arrive(place, what, waits, root, failed);
    if (!wait(place, [&] { return is_ready(place, waits, root); })) [[unlikely]] {
        return failed_process();
    }
    return leave(place, what, waits, code, failed);
}

// The root's part of a broadcast that it passes on: the others learn that from its slot.
inline int run_passed_on(Place& place) noexcept {
    if (!begin(place, 0)) [[unlikely]] {
        return failed_process();
    }
    place.show(Slot::passed_on, MPI_SUCCESS);
    place.wake_others();
    place.end(false, false);
    return MPI_SUCCESS;
}

} // namespace patchbay::coll::sm
