// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/self/module.h"
#include "components/btl/sm/module.h"
#include "components/pml/ob1/module.h"
#include "core/memory/node_segment.h"
#include "core/progress/progress.h"
#include "core/progress/waiter.h"
#include "core/runtime/runtime.h"
#include "frameworks/cid/cid.h"
#include "tests/core_runtime/local_job.h"
#include "tests/core_runtime/processes.h"

#include <cerrno>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace patchbay {

// The library's communicators destroy themselves; these belong to the test.
void Communicator::destroy(Communicator*) noexcept {}

} // namespace patchbay

namespace patchbay::test {

struct JobOptions {
    int ranks = 2;
    bool threaded = false;
    bool sleeps = true;                                            // long waits sleep
    bool get_breaks = false;                                       // single copy succeeds a few times, then it fails
    btl::sm::Settings sm{.single_copy = btl::sm::SingleCopy::cma}; // even where it is slower
    pml::ob1::Settings ob1;
    unsigned seconds = 60;
    // Wraps btl/sm, which the pml then uses through the wrapper; nullptr: no wrapper.
    std::function<std::unique_ptr<btl::Module>(std::unique_ptr<btl::Module>)> wrap = nullptr;
};

inline void PrintTo(const JobOptions& options, std::ostream* out) {
    *out << options.ranks << " ranks";
}

// A btl that forwards each call to another one; tests override some functions.
class WrappedBtl : public btl::Module {
public:
    explicit WrappedBtl(std::unique_ptr<btl::Module> real)
        : _real(std::move(real)) {}
    const char* name() const noexcept override { return "wrapped"; }
    const btl::Limits& limits() const noexcept override { return _real->limits(); }
    void set_receiver(btl::Receiver receiver, void* context) noexcept override {
        _real->set_receiver(receiver, context);
    }
    bool reaches(ProcessId process) const noexcept override { return _real->reaches(process); }
    btl::Endpoint* connect(ProcessId process) noexcept override { return _real->connect(process); }
    btl::SendCode send(btl::Endpoint& to, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept override {
        return _real->send(to, header, header_size, payload, payload_size);
    }
    Reservation reserve(btl::Endpoint& to, std::size_t header_size, std::size_t payload_size) noexcept override {
        return _real->reserve(to, header_size, payload_size);
    }
    btl::SendCode commit(
        btl::Endpoint& to, const void* header, std::size_t header_size, std::size_t payload_size) noexcept override {
        return _real->commit(to, header, header_size, payload_size);
    }
    std::ptrdiff_t get(btl::Endpoint& from, std::uint64_t remote, std::span<const iovec> local) noexcept override {
        return _real->get(from, remote, local);
    }
    std::ptrdiff_t put(btl::Endpoint& to, std::uint64_t remote, std::span<const std::byte> local) noexcept override {
        return _real->put(to, remote, local);
    }
    void resume_packets(btl::Endpoint& to) noexcept override { _real->resume_packets(to); }
    bool can_get(btl::Endpoint& from) noexcept override { return _real->can_get(from); }
    void peer_failed(ProcessId process) noexcept override { _real->peer_failed(process); }
    int poll() noexcept override { return _real->poll(); }

private:
    std::unique_ptr<btl::Module> _real;
};

// btl/sm whose third get() fetches half and whose later ones fail.
class BreakingBtl final : public WrappedBtl {
public:
    using WrappedBtl::WrappedBtl;
    std::ptrdiff_t get(btl::Endpoint& from, std::uint64_t remote, std::span<const iovec> local) noexcept override {
        if (++_gets < 3) {
            return WrappedBtl::get(from, remote, local);
        }
        if (_gets > 3) {
            return -EPERM;
        }
        iovec half = local[0];
        half.iov_len /= 2;
        return WrappedBtl::get(from, remote, std::span(&half, 1));
    }

private:
    int _gets = 0;
};

// The peer CID table of a communicator whose index differs from process to process.
class TestCid final : public cid::CommunicatorId {
public:
    TestCid(const Communicator& comm, const cid::ExtendedId& id)
        : _id(id),
          _indices(std::size_t(comm.remote_size)) {
        _indices[std::size_t(comm.rank)] = comm.index;
    }
    std::optional<std::uint16_t> peer_index(int rank) const noexcept override { return _indices[std::size_t(rank)]; }
    void learned(int rank, std::uint16_t index) noexcept override { _indices[std::size_t(rank)] = index; }
    const cid::ExtendedId* extended_id() const noexcept override { return &_id; }

private:
    const cid::ExtendedId _id;
    std::vector<std::optional<std::uint16_t>> _indices;
};

// pml/ob1 over btl/self and btl/sm in one process of several, without launcher and bindings.
class Ob1Rank {
public:
    Ob1Rank(int fd, int rank, const JobOptions& options)
        : progress(options.threaded,
              WaitPolicy::make(std::chrono::microseconds(200), std::chrono::microseconds(100), options.sleeps,
                  options.ranks > int(std::thread::hardware_concurrency()))),
          rank(rank),
          size(options.ranks),
          jobs(job_with(nonce, std::uint32_t(options.ranks))) {
        (void)register_all_cores_barrier();
        auto attached = NodeSegment::attach_fd(fd, {nonce, std::uint32_t(rank)}, std::uint32_t(size));
        require(bool(attached), attached ? "" : attached.error().text);
        node = std::move(*attached);
        progress.set_doorbell(&node->own_control().bell);
        std::vector<std::unique_ptr<btl::Module>> btls;
        const ProcessId self{0, std::uint32_t(rank)};
        auto alone = Runtime::create({});
        require(bool(alone), alone ? "" : alone.error().text);
        runtime = std::move(*alone);
        btls.push_back(std::make_unique<btl::self::SelfModule>(self, progress, 4096, 1 << 20));
        if (size > 1) {
            auto sm = btl::sm::SmModule::create(*node, jobs, options.sm, decisions);
            require(bool(sm), sm ? "" : sm.error().text);
            btls.push_back(std::move(*sm));
            if (options.get_breaks) {
                btls.back() = std::make_unique<BreakingBtl>(std::move(btls.back()));
            }
            if (options.wrap != nullptr) {
                btls.back() = options.wrap(std::move(btls.back()));
            }
        }
        const pml::ob1::Services services{progress, *runtime, directory, counters, self};
        transports = std::make_unique<btl::Transports>(progress, self, btl::Selection{{}, std::move(btls)});
        pml = std::make_unique<pml::ob1::Ob1>(services, *transports, options.ob1);
        require(bool(pml->start()), "start");
        group = Group::range({0, 0}, size, self);
        world = make_comm(0);
    }
    ~Ob1Rank() {
        pml->drain();
        pml->remove_comm(*world);
    }

    // `id`: its exCID, when the index may differ from process to process.
    std::unique_ptr<Communicator> make_comm(std::uint16_t index, const cid::ExtendedId* id = nullptr) {
        auto comm = std::make_unique<Communicator>();
        comm->set_predefined(0x101); // so that requests do not take references
        comm->pml = pml.get();
        comm->rank = rank;
        comm->size = size;
        comm->remote_size = size;
        comm->index = index;
        comm->group = group;
        comm->remote_group = group.get();
        if (id != nullptr) {
            cids.push_back(std::make_unique<TestCid>(*comm, *id));
            comm->id = cids.back().get();
            require(directory.bind(*id, comm.get()), "bind");
        }
        require(pml->add_comm(*comm) == MPI_SUCCESS, "add_comm");
        return comm;
    }
    void wait(Request* request) {
        wait_until(progress, [request] { return request->is_complete(); });
    }
    // No process returns before all have called: rank 0 receives from all of them, then sends to all of them.
    void barrier(int tag = -1000) {
        const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
        if (rank != 0) {
            pml->send(nullptr, 0, byte, 0, tag, pml::SendMode::standard, *world);
            pml->recv(nullptr, 0, byte, 0, tag, *world, nullptr);
            return;
        }
        for (int peer = 1; peer < size; ++peer) {
            pml->recv(nullptr, 0, byte, peer, tag, *world, nullptr);
        }
        for (int peer = 1; peer < size; ++peer) {
            pml->send(nullptr, 0, byte, peer, tag, pml::SendMode::standard, *world);
        }
    }
    static void require(bool fine, const std::string& what) {
        if (!fine) {
            std::fprintf(stderr, "%s\n", what.c_str());
            _exit(99);
        }
    }

    static constexpr std::uint64_t nonce = 1; // of the job

    DecisionLog decisions;
    Progress progress;
    const int rank;
    const int size;
    JobTable jobs;
    std::unique_ptr<NodeSegment> node;
    cid::Directory directory;
    cid::Counters counters;
    std::vector<std::unique_ptr<cid::CommunicatorId>> cids;
    std::unique_ptr<Runtime> runtime; // of a singleton, because these processes have no launcher
    std::unique_ptr<btl::Transports> transports;
    std::unique_ptr<pml::ob1::Ob1> pml;
    Ref<Group> group;
    std::unique_ptr<Communicator> world;
};

inline bool run_job(const JobOptions& options, const std::function<bool(Ob1Rank&)>& body) {
    const int fd = memfd_create("ob1_test", MFD_CLOEXEC);
    const bool good = run_processes(options.ranks, options.seconds, [&](int rank) {
        Ob1Rank self(fd, rank, options);
        return body(self);
    });
    close(fd);
    return good;
}

} // namespace patchbay::test
