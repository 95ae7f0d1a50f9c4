// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/immediate.h"
#include "frameworks/coll/schedule.h"
#include "object/op.h"

#include <algorithm>
#include <array>

namespace patchbay::coll::tuned {

// A vector goes to a partner while another one comes from it and is joined, segment by segment: a segment is joined as
// soon as it is here, when it is still in the cache, and while the partner sends the next one.
struct JoinedExchange {
    const void* outgoing;
    MPI_Count outgoing_count;
    void* incoming;
    MPI_Count incoming_count;
    // The reduction inout[i] = in[i] op inout[i], where one of the two is `incoming`.
    const void* in;
    void* inout;
    int peer;
    MPI_Count segment; // elements of a message; both partners have the same one
    const Datatype& type;
    const Op& op;
    Function function;

    // A vector of no elements is one message.
    MPI_Count segments(MPI_Count count) const noexcept { return count == 0 ? 1 : (count - 1) / segment + 1; }
    MPI_Count first(MPI_Count i) const noexcept { return i * segment; }
    MPI_Count elements(MPI_Count i, MPI_Count count) const noexcept { return std::min(segment, count - i * segment); }
};

// The elements of a segment of that many bytes. A plan has a step for each segment.
inline MPI_Count segment_elements(std::size_t bytes, MPI_Count count, const Datatype& type) noexcept {
    constexpr MPI_Count most_segments = 1024;
    if (bytes == 0 || type.size == 0) {
        return std::max(count, MPI_Count(1));
    }
    return std::max({MPI_Count(bytes) / MPI_Count(type.size), count / most_segments, MPI_Count(1)});
}

// All of it is one round. A receive starts when an earlier segment has been joined, so that few are under way.
inline void run(Schedule& schedule, const JoinedExchange& x) noexcept {
    std::array<StepId, 8> joined;
    joined.fill(no_step);
    for (MPI_Count i = 0; i < x.segments(x.incoming_count); ++i) {
        const MPI_Count count = x.elements(i, x.incoming_count);
        StepId& earlier = joined[std::size_t(i) % joined.size()];
        const StepId received = schedule.recv(element(x.incoming, x.first(i), x.type), count, x.type, x.peer);
        schedule.after(received, earlier);
        earlier = schedule.reduce(
            element(x.in, x.first(i), x.type), element(x.inout, x.first(i), x.type), count, x.type, x.op);
        schedule.after(earlier, received);
    }
    Schedule::Batch sends(schedule);
    for (MPI_Count i = 0; i < x.segments(x.outgoing_count); ++i) {
        sends.isend(element(x.outgoing, x.first(i), x.type), x.elements(i, x.outgoing_count), x.type, x.peer);
    }
    sends.finish();
}

inline void run(Immediate& steps, const JoinedExchange& x) noexcept {
    constexpr MPI_Count ahead = 2; // receives that have been started before the one that is waited for
    Transfer transfer(steps.comm(), tag_of(x.function));
    transfer.fail(steps.code());
    std::array<Request*, ahead + 1> receives{};
    const MPI_Count outgoing = x.segments(x.outgoing_count);
    const MPI_Count incoming = x.segments(x.incoming_count);
    Batch sends(transfer);
    for (MPI_Count i = 0; i < std::max(outgoing, incoming + ahead); ++i) {
        if (i < incoming) {
            receives[std::size_t(i % (ahead + 1))] = transfer.start_recv(
                element(x.incoming, x.first(i), x.type), x.elements(i, x.incoming_count), x.type, x.peer);
        }
        if (i < outgoing) {
            sends.isend(element(x.outgoing, x.first(i), x.type), x.elements(i, x.outgoing_count), x.type, x.peer);
        }
        const MPI_Count k = i - ahead;
        if (k < 0 || k >= incoming) {
            continue;
        }
        const MPI_Count count = x.elements(k, x.incoming_count);
        if (Request* request = receives[std::size_t(k % (ahead + 1))]; request != nullptr) {
            transfer.finish_recv(request, count * x.type.size, x.peer);
        } else {
            transfer.recv(nullptr, 0, x.type, x.peer);
        }
        if (!transfer.failed() && count > 0) {
            transfer.fail(
                x.op.apply(element(x.in, x.first(k), x.type), element(x.inout, x.first(k), x.type), count, x.type));
        }
    }
    sends.finish();
    steps.fail(transfer.code());
}

} // namespace patchbay::coll::tuned
