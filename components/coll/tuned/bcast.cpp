// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/tuned/bytes.h"
#include "components/coll/tuned/tuned.h"

#include <algorithm>
#include <array>
#include <type_traits>

namespace patchbay::coll::tuned {

namespace {

// The root sends to each rank.
template <class Steps>
void linear(Steps& steps, const Call& call) noexcept {
    const Communicator& comm = steps.comm();
    if (comm.rank != call.root) {
        steps.recv(call.recv, call.recv_count, *call.recv_type, call.root);
        return;
    }
    typename Steps::Batch batch(steps);
    for (int distance = 1; distance < comm.size; ++distance) {
        batch.isend(call.recv, call.recv_count, *call.recv_type, (comm.rank + distance) % comm.size);
    }
    batch.finish();
}

// Down a binomial tree, whole messages.
template <class Steps>
void binomial(Steps& steps, const Call& call) noexcept {
    const int rank = steps.comm().rank;
    const int ranks = steps.comm().size;
    const int relative = (rank - call.root + ranks) % ranks;
    int mask = subtree_of(relative, ranks);
    if (relative != 0) {
        steps.recv(call.recv, call.recv_count, *call.recv_type, (rank - mask + ranks) % ranks);
        steps.round();
    }
    for (mask >>= 1; mask > 0; mask >>= 1) {
        if (relative + mask < ranks) {
            steps.send(call.recv, call.recv_count, *call.recv_type, (rank + mask) % ranks);
        }
    }
}

// A block of bytes in segments, of which each is received from one member and sent to another one; MPI_PROC_NULL:
// there is none.
struct Segments {
    std::byte* data;
    MPI_Count size;
    MPI_Count segment;
    int source;
    int dest;

    MPI_Count count() const noexcept { return size == 0 ? 1 : (size - 1) / segment + 1; }
    std::byte* at(MPI_Count i) const noexcept { return data + i * segment; }
    MPI_Count bytes(MPI_Count i) const noexcept { return std::min(segment, size - i * segment); }
};

void pass_on(Schedule& schedule, const Segments& segments) noexcept {
    for (MPI_Count i = 0; i < segments.count(); ++i) {
        StepId received = no_step;
        if (segments.source != MPI_PROC_NULL) {
            received = schedule.recv(segments.at(i), segments.bytes(i), byte_type(), segments.source);
        }
        if (segments.dest != MPI_PROC_NULL) {
            schedule.after(schedule.send(segments.at(i), segments.bytes(i), byte_type(), segments.dest), received);
        }
    }
}

// While a segment is sent, the next one is received: its receive has been started before.
void pass_on(Immediate& steps, const Segments& segments) noexcept {
    Transfer transfer(steps.comm(), tag_of(Function::bcast));
    transfer.fail(steps.code());
    const bool receives = segments.source != MPI_PROC_NULL;
    const MPI_Count count = segments.count();
    std::array<Request*, 2> ahead{};
    const auto start = [&](MPI_Count i) {
        if (receives && i < count) {
            ahead[std::size_t(i % 2)] =
                transfer.start_recv(segments.at(i), segments.bytes(i), byte_type(), segments.source);
        }
    };
    Batch sends(transfer);
    start(0);
    for (MPI_Count i = 0; i < count; ++i) {
        start(i + 1);
        if (receives) {
            Request* request = ahead[std::size_t(i % 2)];
            if (request != nullptr) {
                transfer.finish_recv(request, segments.bytes(i), segments.source);
            } else {
                transfer.recv(nullptr, 0, byte_type(), segments.source);
            }
        }
        if (segments.dest != MPI_PROC_NULL) {
            sends.isend(segments.at(i), segments.bytes(i), byte_type(), segments.dest);
        }
    }
    sends.finish();
    steps.fail(transfer.code());
}

// From each rank to the next one, in segments.
template <class Steps>
void chain(Steps& steps, const Call& call, std::size_t segment) noexcept {
    constexpr MPI_Count most_segments = 1024; // a plan has a step for each
    const int rank = steps.comm().rank;
    const int ranks = steps.comm().size;
    const int relative = (rank - call.root + ranks) % ranks;
    Bytes<Steps> block(steps, call.recv, call.recv_count, *call.recv_type);
    if (relative == 0) {
        block.pack();
    }
    pass_on(steps,
        Segments{block.at(0), block.size(), std::max({MPI_Count(segment), block.size() / most_segments, MPI_Count(1)}),
            relative == 0 ? MPI_PROC_NULL : (rank - 1 + ranks) % ranks,
            relative == ranks - 1 ? MPI_PROC_NULL : (rank + 1) % ranks});
    if (relative != 0) {
        block.unpack();
    }
}

// One piece for each rank, in the order of the ranks relative to the root.
struct Pieces {
    MPI_Count size;
    MPI_Count piece; // of all but the last ones

    Pieces(MPI_Count bytes, int ranks) noexcept
        : size(bytes),
          piece((bytes / ranks + 64) / 64 * 64) {} // whole cache lines
    MPI_Count first(int i) const noexcept { return std::min(i * piece, size); }
    MPI_Count bytes(int i, int count = 1) const noexcept { return first(i + count) - first(i); }
};

// Down a binomial tree, each rank gets the pieces of the ranks below it.
template <class Steps>
void scatter_pieces(Steps& steps, const Bytes<Steps>& block, const Pieces& pieces, int relative) noexcept {
    const int rank = steps.comm().rank;
    const int ranks = steps.comm().size;
    int mask = subtree_of(relative, ranks);
    const auto bytes_below = [&](int top, int most) { return pieces.bytes(top, std::min(most, ranks - top)); };
    if (relative != 0) {
        steps.recv(
            block.at(pieces.first(relative)), bytes_below(relative, mask), byte_type(), (rank - mask + ranks) % ranks);
        steps.round();
    }
    for (mask >>= 1; mask > 0; mask >>= 1) {
        const int child = relative + mask;
        if (child < ranks) {
            steps.send(block.at(pieces.first(child)), bytes_below(child, mask), byte_type(), (rank + mask) % ranks);
        }
    }
    steps.round();
}

// The pieces go round a ring, which ends before the root, because that has all of them.
template <class Steps>
void allgather_pieces(Steps& steps, const Bytes<Steps>& block, const Pieces& pieces, int relative) noexcept {
    const int rank = steps.comm().rank;
    const int ranks = steps.comm().size;
    const int right = (rank + 1) % ranks;
    const int left = (rank - 1 + ranks) % ranks;
    for (int step = 0; step < ranks - 1; ++step) {
        const int out = (relative - step + ranks) % ranks;
        const int in = (out - 1 + ranks) % ranks;
        std::byte* outgoing = block.at(pieces.first(out));
        std::byte* incoming = block.at(pieces.first(in));
        if (relative == 0) {
            steps.send(outgoing, pieces.bytes(out), byte_type(), right);
        } else if (relative == ranks - 1) {
            steps.recv(incoming, pieces.bytes(in), byte_type(), left);
        } else {
            steps.exchange(
                outgoing, pieces.bytes(out), byte_type(), right, incoming, pieces.bytes(in), byte_type(), left);
        }
        steps.round();
    }
}

template <class Steps>
void scatter_allgather(Steps& steps, const Call& call) noexcept {
    const int ranks = steps.comm().size;
    const int relative = (steps.comm().rank - call.root + ranks) % ranks;
    Bytes<Steps> block(steps, call.recv, call.recv_count, *call.recv_type);
    const Pieces pieces(block.size(), ranks);
    if (relative == 0) {
        block.pack();
    }
    scatter_pieces(steps, block, pieces, relative);
    allgather_pieces(steps, block, pieces, relative);
    if (relative != 0) {
        block.unpack();
    }
}

} // namespace

template <class Steps>
void bcast(Steps& steps, const Call& call, const Choice& choice) noexcept {
    switch (choice.algorithm) {
    case Algorithm::linear:
        return linear(steps, call);
    case Algorithm::chain:
        return chain(steps, call, choice.segment);
    case Algorithm::scatter_allgather:
        return scatter_allgather(steps, call);
    default:
        return binomial(steps, call);
    }
}

template void bcast(Immediate&, const Call&, const Choice&) noexcept;
template void bcast(Schedule&, const Call&, const Choice&) noexcept;

} // namespace patchbay::coll::tuned
