// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/core.h"
#include "core/progress/waiter.h"
#include "frameworks/pml/partitioned_engine.h"
#include "frameworks/pml/partitioned_recv.h"
#include "frameworks/pml/partitioned_send.h"
#include "frameworks/pml/partitioned_tags.h"
#include "mpi/instance/mpi_params.h"
#include "tests/part/loopback_pml.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace patchbay::pml {

inline constexpr int partitions = 8;
inline constexpr std::size_t partition_bytes = 64 << 10; // two make a message

// A send and a receive of this process to itself; the parameter: whether several threads use the library.
class RequestFixture : public testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        auto made = Core::create({}, ParamSources(), {});
        ASSERT_TRUE(made) << made.error().text;
        core = std::move(*made);
        ASSERT_TRUE(core->params.define("mpi", "", mpi_params));
        core->progress = &progress;
        engine = std::make_unique<PartitionedEngine>(*core);
        comm.pml = &pml;
        comm.size = comm.remote_size = 1;
        std::iota(out.begin(), out.end(), 0);
    }

    PartitionedSend& make_send() { return *static_cast<PartitionedSend*>(make(out.data(), partitions, true)); }
    PartitionedRecv& make_receive(int count) { return *static_cast<PartitionedRecv*>(make(in.data(), count, false)); }
    Request* make(void* data, int count, bool sends) {
        Request* request = nullptr;
        const MPI_Count bytes = MPI_Count(out.size()) / count;
        EXPECT_EQ(
            make_partitioned(*engine, {data, count, bytes, to_object<Datatype>(MPI_BYTE), 0, 3, sends}, comm, &request),
            MPI_SUCCESS);
        return request;
    }
    void poll() {
        for (int i = 0; i < 20; ++i) {
            progress.poll();
        }
    }
    static void make_all_ready(PartitionedSend& send) {
        for (int i = 0; i < partitions; ++i) {
            EXPECT_TRUE(send.make_ready(i));
        }
    }
    // Begins threads that write and make ready the partitions, each its share, in random order.
    void write_in_threads(
        std::vector<std::thread>& running, PartitionedSend& send, int threads, unsigned seed, unsigned char value) {
        order.resize(partitions);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), std::mt19937(seed));
        for (int t = 0; t < threads; ++t) {
            running.emplace_back([this, &send, threads, value, t] {
                for (std::size_t k = std::size_t(t); k < order.size(); k += std::size_t(threads)) {
                    const std::size_t first = std::size_t(order[k]) * partition_bytes;
                    std::fill_n(out.begin() + std::ptrdiff_t(first), partition_bytes, value);
                    EXPECT_TRUE(send.make_ready(order[k]));
                }
            });
        }
    }
    // New requests each time, with two starts: in the first one the threads run beside the setup. `threads` threads
    // make partitions ready, and `readers` threads ask for them, also before the receive is started.
    void exchange_among_threads(int threads, int readers, int times) {
        for (int i = 0; i < times; ++i) {
            PartitionedSend& send = make_send();
            PartitionedRecv& receive = make_receive(16);
            for (int round = 0; round < 2; ++round) {
                const auto value = (unsigned char)(i + round);
                ASSERT_EQ(send.start(), MPI_SUCCESS);
                std::vector<std::thread> running;
                write_in_threads(running, send, threads, unsigned(i), value);
                for (int t = 0; t < readers; ++t) {
                    running.emplace_back([&, t] {
                        for (int partition = t; partition < 16; partition += readers) {
                            wait_until(progress, [&] { return receive.is_active() && receive.has_arrived(partition); });
                            EXPECT_EQ(in[std::size_t(partition) * (in.size() / 16)], value);
                        }
                    });
                }
                ASSERT_EQ(receive.start(), MPI_SUCCESS);
                wait_until(progress, [&] { return send.has_completed() && receive.has_completed(); });
                for (std::thread& thread : running) {
                    thread.join();
                }
                end(send);
                end(receive);
            }
            send.recycle();
            receive.recycle();
        }
        expect_nothing_left();
    }
    static void end(Request& request) {
        EXPECT_TRUE(request.is_complete());
        EXPECT_EQ(request.error, MPI_SUCCESS);
        request.end_start();
    }
    void expect_nothing_left() {
        poll();
        EXPECT_EQ(pml.existing(), 0);
        EXPECT_EQ(comm.references(), 1);
        EXPECT_EQ(comm.persistent_requests, nullptr);
        EXPECT_EQ(engine->take_tags(partitioned_tags), 0);
        engine->give_back_tags(0);
    }

    Progress progress{GetParam()};
    test::LoopbackPml pml{progress};
    Communicator comm;
    std::unique_ptr<Core> core;
    std::unique_ptr<PartitionedEngine> engine;
    std::vector<int> order;
    std::vector<unsigned char> out = std::vector<unsigned char>(partitions * partition_bytes);
    std::vector<unsigned char> in = std::vector<unsigned char>(partitions * partition_bytes);
};

} // namespace patchbay::pml
