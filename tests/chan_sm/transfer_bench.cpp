// SPDX-License-Identifier: BSD-3-Clause
// Half round trips of the transfer alone, without MPI: transfer_bench [chunk ring stores] prints ns through the ring
// and written directly to a mapped buffer, and before each size those of one bare cache line.
#include "object/communicator.h"
#include "tests/chan_sm/two_ends.h"

#include <algorithm>
#include <chrono>
#include <sched.h>
#include <vector>

void patchbay::Communicator::destroy(Communicator*) noexcept {}

using namespace patchbay;
using namespace patchbay::chan::sm;

namespace {

void bind_to(int index) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(index, &one);
    sched_setaffinity(0, sizeof one, &one);
}

struct Both {
    Board boards[2];
    alignas(64) std::atomic<std::uint64_t> line[2 * 16];
};

struct OneWay {
    std::unique_ptr<SendEnd> send;
    std::unique_ptr<ReceiveEnd> receive;
};

double now() {
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void bare(Both& both) {
    both.line[0] = both.line[16] = 0;
    test::run_processes(2, 100, [&](int rank) {
        bind_to(rank);
        std::vector<double> samples;
        std::uint64_t i = 0;
        for (int chunk = 0; chunk < 21; ++chunk) {
            const double begin = now();
            for (int round = 0; round < 20000; ++round) {
                ++i;
                if (rank == 0) {
                    both.line[0].store(i, std::memory_order_release);
                    while (both.line[16].load(std::memory_order_acquire) != i) {
                    }
                } else {
                    while (both.line[0].load(std::memory_order_acquire) != i) {
                    }
                    both.line[16].store(i, std::memory_order_release);
                }
            }
            samples.push_back((now() - begin) / 20000 / 2);
        }
        if (rank == 0) {
            std::printf("bare line %.0f\n", median(samples));
            std::fflush(stdout);
        }
        return true;
    });
}

void pingpong(Both& both, std::size_t bytes, const Plan& plan, const char* name) {
    for (Board& board : both.boards) {
        board.sender = board.receiver = 0;
    }
    const int fd = node_file();
    const int fd2 = node_file();
    test::run_processes(2, 100, [&](int rank) {
        bind_to(rank);
        const WaitPolicy policy;
        std::vector<std::byte> out(bytes + 1);
        // One segment for each direction.
        OneWay there, back;
        auto make_receive = [&](int file, Board& board) {
            auto end = std::make_unique<ReceiveEnd>(file, board, plan, policy);
            auto memory = end->segment->heap().alloc(bytes + 1, end->segment->slot());
            std::byte* in = plan.direct ? memory->bytes.data() : new std::byte[bytes + 1];
            end->begin({in, MPI_Count(bytes), bytes_type(), 1, 0});
            return end;
        };
        auto make_send = [&](int file, Board& board) {
            return std::make_unique<SendEnd>(
                file, board, plan, policy, Buffers(out.data(), MPI_Count(bytes), bytes_type(), 1, 0));
        };
        std::unique_ptr<SendEnd> send;
        std::unique_ptr<ReceiveEnd> receive;
        auto& mine = both.boards[rank];
        auto& other = both.boards[1 - rank];
        if (rank == 0) {
            send = make_send(fd, mine);
            receive = make_receive(fd2, other);
        } else {
            receive = make_receive(fd, other);
            send = make_send(fd2, mine);
        }
        const int rounds = int(std::clamp<std::size_t>(20'000'000 / (bytes + 2000), 20, 10000));
        std::vector<double> samples;
        std::uint64_t message = 0;
        for (int chunk = 0; chunk < 21; ++chunk) {
            const double begin = now();
            for (int round = 0; round < rounds; ++round, ++message) {
                const auto send_it = [&] {
                    if (!send->sender.start()) {
                        while (!send->sender.advance()) {
                        }
                    }
                };
                const auto take_it = [&] {
                    while (!receive->receiver->advance()) {
                    }
                };
                receive->receiver->start();
                if (rank == 0) {
                    send_it();
                    take_it();
                } else {
                    take_it();
                    send_it();
                }
            }
            samples.push_back((now() - begin) / rounds / 2);
        }
        if (rank == 0) {
            std::printf("%8zu %s %8.0f\n", bytes, name, median(samples));
            std::fflush(stdout);
        }
        both.boards[0].step.fetch_add(1);
        while (both.boards[0].step.load() % 2 != 0) {
        }
        return true;
    });
    close(fd);
    close(fd2);
}

} // namespace

int main(int argc, char** argv) {
    auto* both = test::shared_memory<Both>();
    Plan plan;
    if (argc > 2) {
        plan.chunk_bytes = std::size_t(std::atol(argv[1]));
        plan.ring_bytes = std::size_t(std::atol(argv[2]));
    }
    if (argc > 3) {
        plan.stores = Stores(std::atoi(argv[3]));
    }
    for (const std::size_t bytes : {8, 504, 2000, 4096, 8192, 16384, 65536, 262144, 1048576}) {
        bare(*both);
        plan.direct = false;
        pingpong(*both, bytes, plan, "ring  ");
        plan.direct = true;
        if (bytes >= 1024) {
            pingpong(*both, bytes, plan, "direct");
        }
    }
}
