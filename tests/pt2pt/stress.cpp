// SPDX-License-Identifier: BSD-3-Clause
// Random messages between all ranks: sizes over every protocol's limits, tags, modes, datatypes on both sides,
// wildcards, probes. Contents, order per source and tag, and statuses are verified.
//     stress [ROUNDS [SEED]]
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

namespace {

constexpr int tags = 3;
#ifdef __SANITIZE_ADDRESS__
constexpr int default_rounds = 25; // they take several times as long
#else
constexpr int default_rounds = 60;
#endif

struct Message {
    int source, dest, tag;
    std::size_t size;  // bytes, a multiple of 16
    unsigned sequence; // among those of the same source, dest and tag
    int mode;          // 0 standard, 1 synchronous, 2 buffered
    int send_type, recv_type;
};

struct Head {
    int source, tag;
    unsigned sequence, round;
};

unsigned char filler(const Head& head, std::size_t i) {
    return static_cast<unsigned char>(i * 7 + (i >> 9) + head.sequence * 13 + unsigned(head.source) * 3 + head.round);
}

// Kind 0: bytes; 1: a vector with gaps; 2: blocks of two sizes, out of order in memory; 3: blocks of 6000 bytes, long
// enough for single copy; 4: blocks of 16 to 48 bytes in an irregular order; 5: blocks of 16 bytes in such an order.
// `extent`: bytes of buffer.
constexpr int kinds = 6;
struct Layout {
    MPI_Datatype type = MPI_BYTE;
    MPI_Count count = 0;
    std::vector<std::pair<std::size_t, std::size_t>> blocks; // offset, length, in order of the data
    std::size_t extent = 0;

    Layout(int kind, std::size_t size) {
        if (kind == 0 || size == 0) {
            count = MPI_Count(size);
            blocks.emplace_back(0, size);
            extent = size;
        } else if (kind == 1) {
            MPI_Type_create_hvector(int(size / 16), 16, 24, MPI_BYTE, &type);
            MPI_Type_commit(&type);
            count = 1;
            for (std::size_t i = 0; i < size / 16; ++i) {
                blocks.emplace_back(i * 24, 16);
            }
            extent = size / 16 * 24;
        } else if (kind >= 3) {
            make_list(kind, size);
        } else {
            const int lengths[2] = {12, 4};
            const MPI_Aint places[2] = {16, 0};
            MPI_Datatype pair, spaced;
            MPI_Type_create_hindexed(2, lengths, places, MPI_BYTE, &pair);
            MPI_Type_create_resized(pair, 0, 32, &spaced);
            type = spaced;
            MPI_Type_commit(&type);
            MPI_Type_free(&pair);
            count = MPI_Count(size / 16);
            for (std::size_t i = 0; i < size / 16; ++i) {
                blocks.emplace_back(i * 32 + 16, 12);
                blocks.emplace_back(i * 32, 4);
            }
            extent = size / 16 * 32;
        }
    }
    Layout(const Layout&) = delete;
    ~Layout() {
        if (type != MPI_BYTE) {
            MPI_Type_free(&type);
        }
    }

    // Neighbours in the data change places in memory, by pairs.
    void make_list(int kind, std::size_t size) {
        std::vector<int> lengths;
        std::vector<MPI_Aint> places;
        for (std::size_t done = 0; done < size; done += std::size_t(lengths.back())) {
            const std::size_t i = lengths.size();
            const std::size_t length = kind == 3 ? 6000 : kind == 4 ? 16 + 16 * (i * i % 3) : 16;
            lengths.push_back(int(std::min(length, size - done)));
            places.push_back(MPI_Aint((i ^ 1) * (kind == 3 ? 6016 : 56) + i % 5));
            blocks.emplace_back(places.back(), lengths.back());
            extent = std::max(extent, std::size_t(places.back() + lengths.back()));
        }
        MPI_Type_create_hindexed(int(lengths.size()), lengths.data(), places.data(), MPI_BYTE, &type);
        MPI_Type_commit(&type);
        count = 1;
    }

    void scatter(const std::vector<unsigned char>& data, unsigned char* memory) const {
        std::size_t at = 0;
        for (auto [offset, length] : blocks) {
            std::memcpy(memory + offset, data.data() + at, length);
            at += length;
        }
    }
    std::vector<unsigned char> gather(const unsigned char* memory, std::size_t size) const {
        std::vector<unsigned char> data(size);
        std::size_t at = 0;
        for (auto [offset, length] : blocks) {
            const std::size_t part = std::min(length, size - at);
            std::memcpy(data.data() + at, memory + offset, part);
            at += part;
        }
        return data;
    }
};

std::vector<unsigned char> contents(const Message& message, unsigned round) {
    const Head head{message.source, message.tag, message.sequence, round};
    std::vector<unsigned char> data(message.size);
    for (std::size_t i = 0; i < data.size(); ++i) {
        data[i] = filler(head, i);
    }
    if (data.size() >= sizeof head) {
        std::memcpy(data.data(), &head, sizeof head);
    }
    return data;
}

std::size_t random_size(std::mt19937& random) {
    switch (random() % 8) {
    case 0:
        return 16;
    case 1:
        return 32;
    case 2:
        return 48;
    case 3:
        return 16 * (1 + random() % 64);
    case 4:
        return 4096 - 16 + 16 * (random() % 3);
    case 5:
        return 16 * (1 + random() % 2048);
    case 6:
        return 32768 - 32 + 16 * (random() % 5);
    default:
        return 16 * (1 + random() % 20000);
    }
}

class Rank {
public:
    Rank(unsigned seed, MPI_Comm comm)
        : _random(seed),
          _comm(comm) {
        MPI_Comm_rank(comm, &_rank);
        MPI_Comm_size(comm, &_size);
    }

    // Every rank draws the same messages.
    void round(unsigned number) {
        std::map<std::tuple<int, int, int>, unsigned> sequences;
        std::vector<Message> all;
        const int count = 10 + int(_random() % 30) * _size / 2;
        for (int i = 0; i < count; ++i) {
            Message message{int(_random() % unsigned(_size)), int(_random() % unsigned(_size)), int(_random() % tags),
                random_size(_random), 0, int(_random() % 3), int(_random() % kinds), int(_random() % kinds)};
            message.sequence = sequences[{message.source, message.dest, message.tag}]++;
            all.push_back(message);
        }
        const unsigned style = _random() % 4;
        const bool post_first = _random() % 2 == 0;
        if (post_first && style == 0) {
            post_receives(all);
        }
        start_sends(all, number);
        if (!post_first && style == 0) {
            post_receives(all);
        }
        if (style == 0) {
            finish_receives(number);
        } else {
            receive_by_probe(all, number, style);
        }
        MPI_Waitall(int(_sends.size()), _sends.data(), MPI_STATUSES_IGNORE);
        _sends.clear();
        _buffers.clear();
        _layouts.clear();
        MPI_Barrier(_comm); // a probe for anything must not see the next round
    }

private:
    struct Receive {
        Message message;
        Layout* layout;
        unsigned char* memory;
    };

    unsigned char* buffer(std::size_t size) {
        _buffers.emplace_back(new std::vector<unsigned char>(size + 1, 0xa5));
        return _buffers.back()->data();
    }
    Layout* layout(int kind, std::size_t size) {
        _layouts.emplace_back(new Layout(kind, size));
        return _layouts.back().get();
    }

    void start_sends(const std::vector<Message>& all, unsigned number) {
        for (const Message& message : all) {
            if (message.source != _rank) {
                continue;
            }
            Layout* how = layout(message.send_type, message.size);
            unsigned char* memory = buffer(how->extent);
            how->scatter(contents(message, number), memory);
            MPI_Request request;
            const auto start = message.mode == 0 ? MPI_Isend_c : message.mode == 1 ? MPI_Issend_c : MPI_Ibsend_c;
            CHECK(start(memory, how->count, how->type, message.dest, message.tag, _comm, &request) == MPI_SUCCESS);
            _sends.push_back(request);
        }
    }

    void post_receives(const std::vector<Message>& all) {
        for (const Message& message : all) {
            if (message.dest != _rank) {
                continue;
            }
            Layout* how = layout(message.recv_type, message.size);
            unsigned char* memory = buffer(how->extent);
            MPI_Request request;
            CHECK(MPI_Irecv_c(memory, how->count, how->type, message.source, message.tag, _comm, &request) ==
                MPI_SUCCESS);
            _requests.push_back(request);
            _receives.push_back({message, how, memory});
        }
    }

    void finish_receives(unsigned number) {
        std::vector<MPI_Status> statuses(_requests.size());
        CHECK(MPI_Waitall(int(_requests.size()), _requests.data(), statuses.data()) == MPI_SUCCESS);
        for (std::size_t i = 0; i < _receives.size(); ++i) {
            const Receive& receive = _receives[i];
            MPI_Count bytes = 0;
            MPI_Get_count_c(&statuses[i], MPI_BYTE, &bytes);
            CHECK(std::size_t(bytes) == receive.message.size && statuses[i].MPI_SOURCE == receive.message.source &&
                statuses[i].MPI_TAG == receive.message.tag);
            CHECK(receive.layout->gather(receive.memory, receive.message.size) == contents(receive.message, number));
        }
        _requests.clear();
        _receives.clear();
    }

    // Takes messages as they come, by any source and tag.
    void receive_by_probe(const std::vector<Message>& all, unsigned number, unsigned style) {
        std::map<std::pair<int, int>, std::vector<Message>> expected;
        int left = 0;
        for (const Message& message : all) {
            if (message.dest == _rank) {
                expected[{message.source, message.tag}].push_back(message);
                ++left;
            }
        }
        for (; left > 0; --left) {
            MPI_Status status;
            MPI_Message handle = MPI_MESSAGE_NULL;
            if (style == 1) {
                MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, _comm, &status);
            } else if (style == 2) {
                MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, _comm, &handle, &status);
            } else {
                for (int found = 0; found == 0;) {
                    MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, _comm, &found, &handle, &status);
                }
            }
            auto& queue = expected[{status.MPI_SOURCE, status.MPI_TAG}];
            CHECK(!queue.empty());
            if (queue.empty()) {
                MPI_Abort(_comm, 2);
            }
            const Message message = queue.front();
            queue.erase(queue.begin());
            MPI_Count bytes = 0;
            MPI_Get_count_c(&status, MPI_BYTE, &bytes);
            CHECK(std::size_t(bytes) == message.size);
            Layout how(message.recv_type, message.size);
            std::vector<unsigned char> memory(how.extent);
            if (style == 1) {
                MPI_Recv_c(memory.data(), how.count, how.type, status.MPI_SOURCE, status.MPI_TAG, _comm, &status);
            } else if (style == 2) {
                MPI_Mrecv_c(memory.data(), how.count, how.type, &handle, &status);
            } else {
                MPI_Request request;
                MPI_Imrecv_c(memory.data(), how.count, how.type, &handle, &request);
                MPI_Wait(&request, &status);
            }
            CHECK(how.gather(memory.data(), message.size) == contents(message, number));
        }
    }

    std::mt19937 _random;
    MPI_Comm _comm;
    int _rank = 0;
    int _size = 0;
    std::vector<MPI_Request> _sends, _requests;
    std::vector<Receive> _receives;
    std::vector<std::unique_ptr<std::vector<unsigned char>>> _buffers;
    std::vector<std::unique_ptr<Layout>> _layouts;
};

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int rounds = argc > 1 ? std::atoi(argv[1]) : default_rounds;
    const unsigned seed = argc > 2 ? unsigned(std::atoi(argv[2])) : 1;
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    {
        Rank on_world(seed, MPI_COMM_WORLD), on_other(seed + 1, other);
        for (int i = 0; i < rounds && !failures(); ++i) {
            (i % 3 == 2 ? on_other : on_world).round(unsigned(i));
        }
    }
    MPI_Comm_free(&other);
    void* buffer;
    int size;
    MPI_Buffer_detach(&buffer, &size);
    CHECK(buffer == MPI_BUFFER_AUTOMATIC);
    return finish();
}
