// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/socket/module.h"
#include "core/progress/progress.h"
#include "tests/btl/packet_node.h"
#include "tests/core_runtime/local_job.h"
#include "tests/core_runtime/processes.h"
#include "tests/core_runtime/sleeping.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::test {

// What the processes of a test have published, in memory that all of them share, by rank.
struct AddressBook {
    struct Entry {
        std::atomic<bool> is_there;
        btl::socket::Address address;
    };
    Entry entries[32];
};

// The services of one process: the test's address book stands for the launcher.
class SocketServices final : public btl::socket::Services {
public:
    SocketServices(AddressBook& book, std::uint32_t rank, Progress& progress, std::vector<std::byte>& kept,
        std::string& aborted) noexcept
        : _book(book),
          _rank(rank),
          _progress(progress),
          _kept(kept),
          _aborted(aborted) {}

    Status publish(const btl::socket::Address& address) override {
        AddressBook::Entry& entry = _book.entries[_rank];
        entry.address = address;
        entry.is_there.store(true, std::memory_order_release);
        return {};
    }
    std::optional<Result<btl::socket::Address>> find(ProcessId process) override {
        const AddressBook::Entry& entry = _book.entries[process.rank];
        if (!entry.is_there.load(std::memory_order_acquire)) {
            return std::nullopt;
        }
        return Result<btl::socket::Address>(entry.address);
    }
    Status watch(int fd) override { return _progress.watch(fd); }
    void unwatch(int fd) noexcept override { _progress.unwatch(fd); }
    void keep(std::vector<std::byte> bytes) override { _kept = std::move(bytes); }
    std::vector<std::byte> take_kept() override { return std::exchange(_kept, {}); }
    void abort(int, std::string_view text) noexcept override { _aborted = text; }

private:
    AddressBook& _book;
    const std::uint32_t _rank;
    Progress& _progress;
    std::vector<std::byte>& _kept;
    std::string& _aborted;
};

// One process with btl/socket. Several of them may be in one process of the system.
class SocketNode : public PacketNode {
public:
    SocketNode(AddressBook& book, std::uint32_t rank, std::uint32_t ranks, const btl::socket::Settings& settings = {},
        std::uint64_t nonce = 1, const WaitPolicy& policy = {})
        : PacketNode(rank),
          jobs(job_with(nonce, ranks)),
          progress(false, policy),
          _book(book),
          _settings(settings) {
        start();
    }

    // The library is finalized and initialized again.
    void restart() {
        poller.reset();
        socket.reset();
        endpoints.assign(endpoints.size(), nullptr);
        start();
    }

    DecisionLog decisions;
    JobTable jobs;
    Progress progress;
    std::vector<std::byte> kept;
    std::string aborted; // why the module has ended the job
    std::unique_ptr<btl::socket::SocketModule> socket;
    PollerHandle poller; // so that waits of `progress` poll the module

private:
    void start() {
        auto made = btl::socket::SocketModule::create(
            rank, jobs, _settings, std::make_unique<SocketServices>(_book, rank, progress, kept, aborted), decisions);
        require(bool(made), made ? "" : made.error().text.c_str());
        socket = std::move(*made);
        use(*socket);
        poller = progress.add_poller(
            [](void* module) noexcept { return static_cast<btl::socket::SocketModule*>(module)->poll(); },
            socket.get());
    }

    AddressBook& _book;
    const btl::socket::Settings _settings;
};

// Several processes in this one, which take their turns as the test wants.
class SocketNodes : public testing::Test {
protected:
    void make(std::uint32_t ranks, const btl::socket::Settings& settings = {}) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            nodes.push_back(std::make_unique<SocketNode>(*book, rank, ranks, settings, 1, always_sleep()));
        }
    }
    SocketNode& node(std::size_t rank) { return *nodes[rank]; }
    void poll_all() {
        for (int quiet = 0; quiet < 40;) { // a module does not look in each poll
            int events = 0;
            for (auto& each : nodes) {
                events += each->socket->poll();
            }
            quiet = events == 0 ? quiet + 1 : 0;
        }
    }
    bool all_good() {
        return std::all_of(nodes.begin(), nodes.end(), [](const auto& each) { return each->good; });
    }
    // Rank 0 has an address and rank 1 is connected to it.
    void connect_pair() {
        make(2);
        ASSERT_TRUE(node(0).socket->open());
        ASSERT_EQ(node(1).send(0), btl::SendCode::ok);
        poll_all();
        ASSERT_EQ(node(0).received[1], 1u);
    }

    AddressBook* book = test::shared_memory<AddressBook>();
    std::vector<std::unique_ptr<SocketNode>> nodes;
};

} // namespace patchbay::test
