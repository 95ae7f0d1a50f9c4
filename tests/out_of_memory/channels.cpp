// SPDX-License-Identifier: BSD-3-Clause
// Binding and unbinding of channels where memory is short. What is tried again, because another process waits for it,
// is tried with memory. The two sides of each channel end alike, and what was bound transfers messages.
#include "tests/mpi_check/check.h"
#include "tests/out_of_memory/failing_malloc.h"
#include "tests/out_of_memory/scenarios.h"

#include <mpix.h>

#include <array>
#include <cstddef>

namespace {

int next() {
    return (world_rank + 1) % world_size;
}
int previous() {
    return (world_rank + world_size - 1) % world_size;
}

constexpr int most = 8;
using Requests = std::array<MPI_Request, std::size_t(2) * most>;

// Channels to the next process, and as many from the previous one. Index 2i is a send, 2i + 1 the receive of the
// previous process's send with this index. What this class itself needs is not on the heap.
class Channels {
public:
    Channels(int count, bool wildcards)
        : _count(count) {
        ins.fill(MPI_REQUEST_NULL);
        outs.fill(MPI_REQUEST_NULL);
        failing_malloc::pause();
        for (int i = 0; i < count; ++i) {
            const int source = wildcards ? MPI_ANY_SOURCE : previous();
            const int tag = wildcards && count == 1 ? MPI_ANY_TAG : i;
            CHECK(MPI_Send_init(&_values[2 * i], 1, MPI_INT, next(), i, comm, &ins[2 * i]) == MPI_SUCCESS);
            CHECK(MPI_Recv_init(&_values[2 * i + 1], 1, MPI_INT, source, tag, comm, &ins[2 * i + 1]) == MPI_SUCCESS);
        }
        failing_malloc::resume();
    }
    ~Channels() {
        for (int i = 0; i < size(); ++i) {
            CHECK(MPI_Request_free(&ins[i]) == MPI_SUCCESS);
        }
    }
    Channels(const Channels&) = delete;
    Channels& operator=(const Channels&) = delete;

    int size() const { return 2 * _count; }

    // With memory: messages by all that are bound.
    void use() {
        failing_malloc::pause();
        expect_alike();
        for (int i = 0; i < size(); i += 2) {
            _values[i] = 100 * world_rank + i;
            _values[i + 1] = -1;
            if (outs[i + 1] != MPI_REQUEST_NULL) {
                CHECK(MPI_Start(&outs[i + 1]) == MPI_SUCCESS);
            }
        }
        CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
        for (int i = 0; i < size(); i += 2) {
            if (outs[i] != MPI_REQUEST_NULL) {
                CHECK(MPI_Start(&outs[i]) == MPI_SUCCESS);
            }
        }
        CHECK(MPI_Waitall(size(), outs.data(), MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        for (int i = 0; i < size(); i += 2) {
            CHECK_EQUAL(_values[i + 1], outs[i + 1] != MPI_REQUEST_NULL ? 100 * previous() + i : -1);
        }
        CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
        failing_malloc::resume();
    }
    // Those that are bound, all at a time.
    void unbind_all() {
        Requests bound{};
        int count = 0;
        for (int i = 0; i < size(); ++i) {
            if (outs[i] != MPI_REQUEST_NULL) {
                bound[count++] = outs[i];
            }
        }
        if (count != 0 && !fine(MPIX_Unbind_channels(bound.data(), count)) && bound[0] != MPI_REQUEST_NULL) {
            failing_malloc::pause();
            CHECK(MPIX_Unbind_channels(bound.data(), count) == MPI_SUCCESS);
            failing_malloc::resume();
        }
        for (int i = 0; i < count; ++i) {
            CHECK(bound[i] == MPI_REQUEST_NULL);
        }
    }
    void unbind_one_after_the_other() {
        for (int i = 0; i < size(); ++i) {
            if (outs[i] != MPI_REQUEST_NULL && !fine(MPIX_Iunbind_channel(outs[i], MPI_INFO_NULL))) {
                failing_malloc::pause();
                CHECK(MPIX_Iunbind_channel(outs[i], MPI_INFO_NULL) == MPI_SUCCESS);
                failing_malloc::resume();
            }
        }
        for (int i = 0; i < size(); ++i) {
            fine(MPI_Wait(&outs[i], MPI_STATUS_IGNORE));
            CHECK(outs[i] == MPI_REQUEST_NULL);
        }
    }

    Requests ins, outs;

private:
    // With memory: a send is bound where the other side's receive is bound, and only there.
    void expect_alike() {
        int mine[most] = {}, theirs[most] = {};
        for (int i = 0; i < _count; ++i) {
            mine[i] = outs[2 * i] != MPI_REQUEST_NULL;
        }
        CHECK(MPI_Sendrecv(mine, most, MPI_INT, next(), 1, theirs, most, MPI_INT, previous(), 1, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE) == MPI_SUCCESS);
        for (int i = 0; i < _count; ++i) {
            CHECK_EQUAL(theirs[i], outs[2 * i + 1] != MPI_REQUEST_NULL);
        }
    }

    const int _count;
    int _values[std::size_t(2) * most] = {};
};

void begin_to_bind(Channels& channels, int i) {
    const auto begin = [&] { return MPIX_Ibind_channel(channels.ins[i], &channels.outs[i], MPI_INFO_NULL); };
    if (!fine(begin())) {
        failing_malloc::pause();
        CHECK(begin() == MPI_SUCCESS);
        failing_malloc::resume();
    }
}

void end_to_bind(Channels& channels) {
    for (int i = 0; i < channels.size(); ++i) {
        fine(MPI_Wait(&channels.ins[i], MPI_STATUS_IGNORE));
    }
}

void bind_one_after_the_other(bool wildcards) {
    Channels channels(1, wildcards);
    for (int i = 0; i < channels.size(); ++i) {
        begin_to_bind(channels, i);
    }
    end_to_bind(channels);
    channels.use();
    channels.unbind_one_after_the_other();
}

// By a call that blocks: it has bound all, or it has not begun and leaves `outs` as they were, or it has failed for
// some of them on both sides.
void bind_all(bool wildcards, int slackness) {
    Channels channels(3, wildcards);
    int slacknesses[] = {slackness, slackness, slackness, slackness, slackness, slackness};
    const auto bind = [&] {
        return slackness == 1 ? MPIX_Bind_channels(channels.ins.data(), channels.outs.data(), channels.size(), nullptr)
                              : MPIX_Bind_slack_channels(
                                    channels.ins.data(), channels.outs.data(), channels.size(), slacknesses, nullptr);
    };
    channels.outs = channels.ins;
    if (!fine(bind()) && channels.outs == channels.ins) {
        failing_malloc::pause();
        CHECK(bind() == MPI_SUCCESS);
        failing_malloc::resume();
    }
    channels.use();
    channels.unbind_all();
}

} // namespace

void bind_one_after_the_other() {
    bind_one_after_the_other(false);
    bind_one_after_the_other(true);
}

void bind_all() {
    bind_all(false, 1);
    bind_all(true, 3);
}

// Of each two processes one has the send and the other one the receive.
void bind_one() {
    const int peer = world_rank ^ 1;
    if (peer >= world_size) {
        return;
    }
    int value = world_rank;
    MPI_Request in = MPI_REQUEST_NULL;
    MPI_Request out = MPI_REQUEST_NULL;
    const auto bind = [&] { return MPIX_Bind_channel(in, &out, MPI_INFO_NULL); };
    const auto unbind = [&] { return MPIX_Unbind_channel(&out); };
    failing_malloc::pause();
    CHECK((world_rank < peer ? MPI_Send_init(&value, 1, MPI_INT, peer, 0, comm, &in)
                             : MPI_Recv_init(&value, 1, MPI_INT, peer, 0, comm, &in)) == MPI_SUCCESS);
    failing_malloc::resume();
    out = in;
    if (!fine(bind()) && out == in) {
        failing_malloc::pause();
        CHECK(bind() == MPI_SUCCESS);
        failing_malloc::resume();
    }
    if (out != MPI_REQUEST_NULL && !fine(unbind()) && out != MPI_REQUEST_NULL) {
        failing_malloc::pause();
        CHECK(unbind() == MPI_SUCCESS);
        failing_malloc::resume();
    }
    CHECK(MPI_Request_free(&in) == MPI_SUCCESS);
}

// A receive waits, and the proposals that arrive before its own one are for receives that are bound later: they are
// kept.
void bind_in_another_order() {
    constexpr int count = 8;
    Channels channels(count, false);
    begin_to_bind(channels, channels.size() - 1);
    for (int i = 0; i < count; ++i) {
        begin_to_bind(channels, 2 * i);
    }
    for (int i = 0; i < 20; ++i) {
        int flag = 0;
        fine(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
    }
    for (int i = count - 2; i >= 0; --i) {
        begin_to_bind(channels, 2 * i + 1);
    }
    end_to_bind(channels);
    channels.use();
    channels.unbind_all();
}
