// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/event_loop.h"
#include "launch/pmix/job_directory.h"
#include "launch/pmix/job_exchange.h"
#include "launch/pmix/port_service.h"
#include "launch/run_links.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace patchbay::launch {

// Processes that connect to ports of other runs. The run of the port brings the two together; the run of the process
// that connects decides whether the pair exists, because that process may have ended or given up meanwhile. Called in
// the event loop's thread only.
class PortExchange {
public:
    PortExchange(EventLoop& loop, JobDirectory& jobs, RunLinks& links, JobExchange& job_exchange, PortService& ports)
        : _loop(loop),
          _jobs(jobs),
          _links(links),
          _job_exchange(job_exchange),
          _ports(ports) {}

    // The run at which the port is, by its name; empty: the name contains none.
    static std::string run_of(const std::string& port);
    // The name of a port that is at this run.
    std::string name_here(const std::string& port) const;

    // A process of this run connects to a port of another one. Answers as PortService::wait(); PMIX_ERR_NOT_FOUND also
    // if the other run has ended.
    void connect(const std::string& port, PortService::Request request);
    // A process of this run has ended.
    void ended(ProcessId process);

    // From other runs.
    void take(const std::string& run, const ConnectRequest& request);
    void take(const ConnectDecision& decision) { _ports.decide(decision.pair, decision.taken); }
    void take(const ConnectCancel& cancel);

private:
    struct Connecting {
        std::string run;
        PortService::Request request;
        std::uint64_t token = 0;
        bool given_up = false;
        std::optional<EventLoop::TimerId> timer;
    };

    void answered(const std::shared_ptr<Connecting>& connecting, const ConnectAnswer* answer);
    // Ends the wait for the answer.
    void remove(Connecting& connecting);
    void give_up(const std::shared_ptr<Connecting>& connecting);

    EventLoop& _loop;
    JobDirectory& _jobs;
    RunLinks& _links;
    JobExchange& _job_exchange;
    PortService& _ports;
    std::map<std::uint64_t, std::shared_ptr<Connecting>> _connecting; // by token
};

} // namespace patchbay::launch
