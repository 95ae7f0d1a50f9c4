// SPDX-License-Identifier: BSD-3-Clause
// Random channels between random processes, with datatypes from contiguous to nested, slack, increments of both signs
// and synchronous sends, whose starts and completions are interleaved at random, beside ordinary messages on the same
// communicator. Every process derives the same plan from a seed, and so knows what each message must be.
//   model_program SEED ROUNDS STARTS
#include "tests/mpi_check/check.h"

#include <mpix.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

int rank, size;

// A committed datatype of 24 bytes of data; 0 is contiguous.
MPI_Datatype make_type(int kind) {
    MPI_Datatype type, inner;
    switch (kind) {
    case 0:
        MPI_Type_contiguous(24, MPI_BYTE, &type);
        break;
    case 1:
        MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &type);
        break;
    case 2: {
        const int lengths[] = {2, 1, 3}, places[] = {5, 0, 9};
        MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
        break;
    }
    case 3: {
        // A struct of a vector, a char array and an int.
        MPI_Type_vector(2, 2, 3, MPI_SHORT, &inner);
        const int lengths[] = {1, 12, 1};
        const MPI_Aint places[] = {24, 0, 16};
        const MPI_Datatype types[] = {inner, MPI_CHAR, MPI_INT};
        MPI_Type_create_struct(3, lengths, places, types, &type);
        MPI_Type_free(&inner);
        break;
    }
    default: {
        MPI_Datatype vector;
        MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
        MPI_Type_create_resized(vector, 0, 40, &inner);
        MPI_Type_contiguous(2, inner, &type);
        MPI_Type_free(&inner);
        MPI_Type_free(&vector);
        break;
    }
    }
    MPI_Type_commit(&type);
    return type;
}

// What all processes know about a channel.
struct Plan {
    int sender, receiver, tag, count, slackness, starts;
    int types[2]; // of the sender and the receiver
    int directions[2];
    bool synchronous;
};

std::uint8_t byte_of(int channel, int start, int i) {
    return std::uint8_t(channel * 31 + start * 7 + i * 13 + (i >> 8) * 5);
}

// One side of a channel in this process.
class Side {
public:
    Side(const Plan& plan, int number, bool sends, MPI_Comm comm)
        : _plan(plan),
          _number(number),
          _sends(sends),
          _comm(comm),
          _type(make_type(plan.types[sends ? 0 : 1])) {
        MPI_Aint lower, extent;
        MPI_Type_get_extent(_type, &lower, &extent);
        // Between two slots there is room for one element.
        _step = extent * (plan.count + 1);
        _buffer.assign(std::size_t(_step) * std::size_t(plan.slackness) + 64, 0xa5);
        const bool backwards = plan.directions[sends ? 0 : 1] < 0;
        _base = _buffer.data() + (backwards ? _step * (plan.slackness - 1) : 0);
        _step = backwards ? -_step : _step;
        MPI_Info_create(&_info);
        MPI_Info_set(_info, "address_base_increment", std::to_string(_step / extent).c_str());
        if (!sends) {
            MPI_Recv_init(_base, plan.count, _type, plan.sender, plan.tag, comm, &_in);
        } else if (plan.synchronous) {
            MPI_Ssend_init(_base, plan.count, _type, plan.receiver, plan.tag, comm, &_in);
        } else {
            MPI_Send_init(_base, plan.count, _type, plan.receiver, plan.tag, comm, &_in);
        }
    }
    void clean_up() {
        MPI_Request_free(&_in);
        MPI_Type_free(&_type);
        MPI_Info_free(&_info);
    }

    MPI_Request in() const { return _in; }
    MPI_Info info() const { return _info; }
    int slackness() const { return _plan.slackness; }
    void set_bound(MPI_Request bound) { _bound = bound; }
    MPI_Request bound() const { return _bound; }
    bool is_done() const { return _completed == _plan.starts; }

    // A random action, if it is possible now.
    void act(std::mt19937& random) {
        if (random() % 2 == 0) {
            start();
        } else {
            test(random);
        }
    }

private:
    int bytes() const { return 24 * _plan.count; }
    std::uint8_t* slot(int start) const { return _base + _step * (start % _plan.slackness); }

    void start() {
        if (_started == _plan.starts || _started - _completed == _plan.slackness || (_sends && !has_permission())) {
            return;
        }
        if (_sends) {
            std::vector<std::uint8_t> packed(std::size_t(bytes()) + 1);
            for (int i = 0; i < bytes(); ++i) {
                packed[std::size_t(i)] = byte_of(_number, _started, i);
            }
            int position = 0;
            MPI_Unpack(packed.data(), bytes(), &position, slot(_started), _plan.count, _type, _comm);
        }
        CHECK_OK(MPI_Start(&_bound));
        ++_started;
        if (!_sends) { // the permission is an ordinary message with the channel's tag
            CHECK_OK(MPI_Send(&_started, 1, MPI_INT, _plan.sender, _plan.tag, _comm));
        }
    }

    // Channels are ready: the receive has been started before.
    bool has_permission() {
        int flag;
        CHECK_OK(MPI_Iprobe(_plan.receiver, _plan.tag, _comm, &flag, MPI_STATUS_IGNORE));
        if (flag) {
            int number;
            CHECK_OK(MPI_Recv(&number, 1, MPI_INT, _plan.receiver, _plan.tag, _comm, MPI_STATUS_IGNORE));
            CHECK_EQUAL(number, _started + 1);
        }
        return flag != 0;
    }

    void test(std::mt19937& random) {
        if (_started == _completed) {
            return;
        }
        int flag = 0;
        MPI_Status status;
        switch (random() % 4) {
        case 0: {
            int index;
            CHECK_OK(MPI_Testany(1, &_bound, &index, &flag, &status));
            break;
        }
        case 1:
            CHECK_OK(MPI_Testall(1, &_bound, &flag, &status));
            break;
        case 2: {
            int index;
            CHECK_OK(MPI_Testsome(1, &_bound, &flag, &index, &status));
            break;
        }
        default:
            CHECK_OK(MPI_Test(&_bound, &flag, &status));
        }
        if (flag) {
            if (!_sends) {
                check_data(status);
            }
            ++_completed;
        }
    }

    void check_data(const MPI_Status& status) {
        MPI_Count got;
        MPI_Get_elements_x(&status, MPI_BYTE, &got);
        CHECK_EQUAL(status.MPI_SOURCE, _plan.sender);
        CHECK_EQUAL(status.MPI_TAG, _plan.tag);
        int count;
        MPI_Get_count(&status, _type, &count);
        CHECK_EQUAL(count, _plan.count);
        std::vector<std::uint8_t> packed(std::size_t(bytes()) + 1);
        int position = 0;
        MPI_Pack(slot(_completed), _plan.count, _type, packed.data(), bytes(), &position, _comm);
        for (int i = 0; i < bytes(); ++i) {
            if (packed[std::size_t(i)] != byte_of(_number, _completed, i)) {
                std::fprintf(stderr, "channel %d from %d to %d, start %d: byte %d of %d is wrong\n", _number,
                    _plan.sender, _plan.receiver, _completed, i, bytes());
                CHECK(false);
                return;
            }
        }
        // Nothing is written behind the message.
        const std::uint8_t* const slot_end = slot(_completed);
        std::memset(slot(_completed), 0xa5, std::size_t(std::abs(_step)));
        CHECK(slot_end == slot(_completed));
    }

    const Plan _plan;
    const int _number;
    const bool _sends;
    const MPI_Comm _comm;
    MPI_Datatype _type;
    MPI_Aint _step = 0;
    std::vector<std::uint8_t> _buffer;
    std::uint8_t* _base = nullptr;
    MPI_Info _info = MPI_INFO_NULL;
    MPI_Request _in = MPI_REQUEST_NULL, _bound = MPI_REQUEST_NULL;
    int _started = 0, _completed = 0;
};

Plan make_plan(std::mt19937& random, int number, int most_starts) {
    const auto below = [&](int limit) { return int(random() % unsigned(limit)); };
    constexpr int slacks[] = {1, 1, 2, 3, 5, 8, 16, 64};
    Plan plan{};
    plan.sender = below(size);
    plan.receiver = below(size);
    plan.tag = number;
    const int kind = below(6);
    plan.count = kind == 0 ? 0 : kind < 4 ? 1 + below(5) : kind == 4 ? below(300) : below(20000);
    plan.slackness = slacks[below(plan.count > 1000 ? 3 : 8)];
    plan.starts = 1 + below(plan.count > 1000 ? 8 : most_starts);
    plan.types[0] = below(5);
    plan.types[1] = below(5);
    plan.directions[0] = below(2) * 2 - 1;
    plan.directions[1] = below(2) * 2 - 1;
    plan.synchronous = below(3) == 0;
    return plan;
}

void run_round(unsigned seed, int most_starts, MPI_Comm comm) {
    std::mt19937 common(seed), own(seed * 1000 + unsigned(rank));
    const int channels = 1 + int(common() % 6);
    std::vector<Side> sides;
    for (int i = 0; i < channels; ++i) {
        const Plan plan = make_plan(common, i, most_starts);
        if (plan.sender == rank) {
            sides.emplace_back(plan, i, true, comm);
        }
        if (plan.receiver == rank) {
            sides.emplace_back(plan, i, false, comm);
        }
    }
    std::vector<MPI_Request> ins, outs(sides.size());
    std::vector<MPI_Info> infos;
    std::vector<int> slackness;
    for (const Side& side : sides) {
        ins.push_back(side.in());
        infos.push_back(side.info());
        slackness.push_back(side.slackness());
    }
    CHECK_OK(MPIX_Bind_slack_channels(ins.data(), outs.data(), int(sides.size()), slackness.data(), infos.data()));
    for (std::size_t i = 0; i < sides.size(); ++i) {
        sides[i].set_bound(outs[i]);
    }
    for (bool busy = !sides.empty() && !failures(); busy;) {
        sides[own() % sides.size()].act(own);
        busy = false;
        for (const Side& side : sides) {
            busy = busy || !side.is_done();
        }
    }
    CHECK_OK(MPIX_Unbind_channels(outs.data(), int(outs.size())));
    for (Side& side : sides) {
        side.clean_up();
    }
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const unsigned seed = argc > 1 ? unsigned(std::atoi(argv[1])) : 1;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 60;
    const int starts = argc > 3 ? std::atoi(argv[3]) : 60;
    if (rank == 0) {
        std::printf("seed %u\n", seed);
    }
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int round = 0; round < rounds && !failures(); ++round) {
        run_round(seed * 10000 + unsigned(round), starts, comm);
    }
    MPI_Comm_free(&comm);
    return finish();
}
