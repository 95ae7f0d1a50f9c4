// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/event_loop.h"
#include "launch/pmix/job_directory.h"

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <pmix.h>
#include <string>

namespace patchbay::launch {

// The ports of MPI_Open_port (core/runtime/dynamic_protocol.h): brings a process that accepts and one that connects
// together, in the order of their requests. Called in the event loop's thread only.
class PortService {
public:
    PortService(EventLoop& loop, const JobDirectory& jobs)
        : _loop(loop),
          _jobs(jobs) {}

    // PMIX_ERR_DUPLICATE_KEY: there is such a port.
    pmix_status_t open(ProcessId owner, const std::string& name);
    // Processes that wait at the port get PMIX_ERR_NOT_FOUND. So does the caller if there is no such port.
    pmix_status_t close(const std::string& name);

    enum class Side { accept, connect };
    struct Request {
        ProcessId process;
        std::chrono::milliseconds limit{0}; // 0: none
        pmix_info_cbfunc_t callback = nullptr;
        void* callback_data = nullptr;
    };
    // Answers through the callback, when a process of the other side has come or the time is over.
    void wait(Side side, const std::string& name, const Request& request);

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

    Waiters::iterator remove(Waiters& waiters, Waiters::iterator waiter);
    Ports::iterator remove(Ports::iterator port);
    void bring_together(Port& port);

    EventLoop& _loop;
    const JobDirectory& _jobs;
    Ports _ports;
    std::uint64_t _pairs = 0;
};

} // namespace patchbay::launch
