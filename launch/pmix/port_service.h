// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/event_loop.h"
#include "launch/pmix/job_directory.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <pmix.h>
#include <string>

namespace patchbay::launch {

// The ports of MPI_Open_port (core/runtime/dynamic_protocol.h): brings a process that accepts and one that connects
// together, in the order of their requests. The one that connects may be of another run (port_exchange.h). Called in
// the event loop's thread only.
class PortService {
public:
    // `run_number`: begins the numbers of the pairs, so that no pairs of two runs have the same one.
    PortService(EventLoop& loop, const JobDirectory& jobs, std::uint32_t run_number)
        : _loop(loop),
          _jobs(jobs),
          _pairs(std::uint64_t(run_number) << 32) {}

    // PMIX_ERR_DUPLICATE_KEY: there is such a port.
    pmix_status_t open(ProcessId owner, const std::string& name);
    // Processes that wait at the port get PMIX_ERR_NOT_FOUND. So does the caller if there is no such port.
    pmix_status_t close(const std::string& name);
    bool is_open(const std::string& name) const { return _ports.contains(name); }

    enum class Side { accept, connect };
    struct Pair {
        pmix_proc_t peer;
        std::uint64_t number = 0;
    };
    // `pair` is null unless the status is PMIX_SUCCESS.
    using Answer = std::function<void(pmix_status_t status, const Pair* pair)>;
    struct Request {
        ProcessId process;
        std::chrono::milliseconds limit{0}; // 0: none
        Answer answer;
        // A process of another run connects: the pair exists only once decide() has been called.
        bool is_remote = false;
        std::uint64_t token = 0; // for withdraw()
    };
    // Answers once, maybe within this call, when a process of the other side has come or the time is over.
    // PMIX_ERR_NOT_FOUND: there is no such port, or the process has ended before its request was read.
    void wait(Side side, const std::string& name, Request request);
    // The request of the process with this token waits no longer, and is not answered.
    void withdraw(ProcessId process, std::uint64_t token);
    // The pair exists, or the process that wanted to connect no longer does: then the other one accepts the next one.
    void decide(std::uint64_t pair, bool taken);

    // The process has ended: its ports are closed, and it waits at no other one.
    void ended(ProcessId process);

private:
    struct Waiter {
        Request request;
        std::optional<EventLoop::TimerId> timer;
    };
    using Waiters = std::list<Waiter>;
    struct Port {
        ProcessId owner;
        Waiters accepting;
        Waiters connecting;
    };
    using Ports = std::map<std::string, Port>;
    struct Undecided {
        std::string port;
        Request accepting;
        ProcessId connecting;
    };

    void add(Waiters& waiters, Waiters::iterator place, Request request);
    Waiters::iterator remove(Waiters& waiters, Waiters::iterator waiter);
    Ports::iterator remove(Ports::iterator port);
    void bring_together(const std::string& name);
    void introduce(const Request& to, ProcessId peer, std::uint64_t pair) const;

    EventLoop& _loop;
    const JobDirectory& _jobs;
    Ports _ports;
    std::uint64_t _pairs;
    std::map<std::uint64_t, Undecided> _undecided; // by the number of the pair
};

} // namespace patchbay::launch
