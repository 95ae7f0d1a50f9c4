// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/immediate.h"
#include "frameworks/coll/schedule.h"
#include "object/op.h"
#include "object/typed_copy.h"

#include <algorithm>
#include <array>

namespace patchbay::coll::tuned {

// A vector goes to a partner while another one comes from it and is joined, segment by segment: a segment is joined as
// soon as it is here, when it is still in the cache, and while the partner sends the next one. All of it is one round.
struct JoinedExchange {
    static constexpr MPI_Count none = -1; // as a count: no message in this direction

    const void* outgoing;
    MPI_Count outgoing_count;
    MPI_Count incoming_count;
    // What the incoming vector is joined to, and where the result is. They may be the same memory.
    const void* mine;
    void* result;
    // nullptr: the incoming vector belongs to higher ranks, and is received in `result`, which is not `mine`. Otherwise
    // it belongs to lower ranks, or the op commutes: room for slots() segments.
    void* slots;
    int peer;
    MPI_Count segment; // elements of a message; both partners have the same one
    const Datatype& type;
    const Op& op;
    Function function;

    // A vector of no elements is one message.
    MPI_Count segments(MPI_Count count) const noexcept {
        return count == none ? 0 : count == 0 ? 1 : (count - 1) / segment + 1;
    }
    MPI_Count elements(MPI_Count i, MPI_Count count) const noexcept { return std::min(segment, count - i * segment); }
    const void* sent(MPI_Count i) const noexcept { return element(outgoing, i * segment, type); }
    const void* own(MPI_Count i) const noexcept { return element(mine, i * segment, type); }
    void* joined(MPI_Count i) const noexcept { return element(result, i * segment, type); }
    void* received(MPI_Count i) const noexcept {
        return slots == nullptr ? joined(i) : element(slots, i % most_slots * segment, type);
    }

    static constexpr MPI_Count most_slots = 4;
    // The elements of the room that `slots` has to be.
    static MPI_Count slots_for(MPI_Count count, MPI_Count segment) noexcept {
        return std::min(count, most_slots * segment);
    }
};

// The elements of a segment of that many bytes; 0 bytes: one segment. A plan has some steps for each segment.
inline MPI_Count segment_elements(std::size_t bytes, MPI_Count count, const Datatype& type) noexcept {
    constexpr MPI_Count most_segments = 1024;
    if (bytes == 0 || type.size == 0) {
        return std::max(count, MPI_Count(1));
    }
    return std::max({MPI_Count(bytes) / MPI_Count(type.size), count / most_segments, MPI_Count(1)});
}

inline void run(Schedule& schedule, const JoinedExchange& x) noexcept {
    std::array<StepId, JoinedExchange::most_slots> last; // the reduction of the segment that was in the slot before
    last.fill(no_step);
    for (MPI_Count i = 0; i < x.segments(x.incoming_count); ++i) {
        const MPI_Count count = x.elements(i, x.incoming_count);
        StepId& before = last[std::size_t(i % x.most_slots)];
        const StepId received = schedule.recv(x.received(i), count, x.type, x.peer);
        schedule.after(received, before);
        if (x.slots == nullptr) {
            before = schedule.reduce(x.own(i), x.joined(i), count, x.type, x.op);
        } else {
            const StepId copied =
                x.mine == x.result ? no_step : schedule.copy(x.own(i), count, x.type, x.joined(i), count, x.type);
            before = schedule.reduce(x.received(i), x.joined(i), count, x.type, x.op);
            schedule.after(before, copied);
        }
        schedule.after(before, received);
    }
    Schedule::Batch sends(schedule);
    for (MPI_Count i = 0; i < x.segments(x.outgoing_count); ++i) {
        sends.isend(x.sent(i), x.elements(i, x.outgoing_count), x.type, x.peer);
    }
    sends.finish();
}

// A segment that has been received.
inline int join(const JoinedExchange& x, MPI_Count i) noexcept {
    const MPI_Count count = x.elements(i, x.incoming_count);
    if (count == 0) {
        return MPI_SUCCESS;
    }
    if (x.slots == nullptr) {
        return x.op.apply(x.own(i), x.joined(i), count, x.type);
    }
    if (x.mine != x.result) {
        typed_copy(x.own(i), count, x.type, x.joined(i), count, x.type);
    }
    return x.op.apply(x.received(i), x.joined(i), count, x.type);
}

inline void run(Immediate& steps, const JoinedExchange& x) noexcept {
    constexpr MPI_Count ahead = 2; // receives that have been started before the one that is waited for
    static_assert(ahead < JoinedExchange::most_slots);
    Transfer transfer(steps.comm(), tag_of(x.function));
    transfer.fail(steps.code());
    std::array<Request*, ahead + 1> receives{};
    const MPI_Count outgoing = x.segments(x.outgoing_count);
    const MPI_Count incoming = x.segments(x.incoming_count);
    Batch sends(transfer);
    for (MPI_Count i = 0; i < std::max(outgoing, incoming + ahead); ++i) {
        if (i < incoming) {
            receives[std::size_t(i % (ahead + 1))] =
                transfer.start_recv(x.received(i), x.elements(i, x.incoming_count), x.type, x.peer);
        }
        if (i < outgoing) {
            sends.isend(x.sent(i), x.elements(i, x.outgoing_count), x.type, x.peer);
        }
        const MPI_Count k = i - ahead;
        if (k < 0 || k >= incoming) {
            continue;
        }
        if (Request* request = receives[std::size_t(k % (ahead + 1))]; request != nullptr) {
            transfer.finish_recv(request, x.elements(k, x.incoming_count) * x.type.size, x.peer);
        } else {
            transfer.recv(nullptr, 0, x.type, x.peer);
        }
        if (!transfer.failed()) {
            transfer.fail(join(x, k));
        }
    }
    sends.finish();
    steps.fail(transfer.code());
}

} // namespace patchbay::coll::tuned
