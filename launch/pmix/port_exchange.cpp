// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/port_exchange.h"

#include "launch/pmix/info_list.h"

#include <algorithm>
#include <utility>

namespace patchbay::launch {

namespace {

constexpr char before_run = '@';
// How much longer than its limit a process waits for a mpirun that does not answer, because it is stopped.
constexpr std::chrono::seconds time_to_answer{1};

} // namespace

std::string PortExchange::run_of(const std::string& port) {
    const std::size_t place = port.rfind(before_run);
    return place == std::string::npos ? std::string() : port.substr(place + 1);
}

std::string PortExchange::name_here(const std::string& port) const {
    return port + before_run + _links.own();
}

void PortExchange::connect(const std::string& port, PortService::Request request) {
    const std::string run = run_of(port);
    if (!_jobs.is_running(request.process) || !_links.reach(run)) {
        request.answer(PMIX_ERR_NOT_FOUND, nullptr);
        return;
    }
    auto connecting = std::make_shared<Connecting>(Connecting{run, std::move(request), 0, false, {}});
    const ProcessId process = connecting->request.process;
    const auto limit = connecting->request.limit;
    connecting->token = _links.ask(run,
        ConnectRequest{0, port, std::uint64_t(limit.count()), _job_exchange.describe(process.job), process.rank},
        [this, connecting](const RunMessage* answer) {
            answered(connecting, answer == nullptr ? nullptr : std::get_if<ConnectAnswer>(answer));
        });
    _connecting.emplace(connecting->token, connecting);
    if (limit.count() > 0) {
        connecting->timer = _loop.after(
            std::min<EventLoop::Clock::duration>(limit, EventLoop::longest_delay) + time_to_answer, [this, connecting] {
                connecting->timer.reset();
                connecting->request.answer(PMIX_ERR_TIMEOUT, nullptr);
                give_up(connecting);
            });
    }
}

void PortExchange::remove(Connecting& connecting) {
    _connecting.erase(connecting.token);
    if (connecting.timer) {
        _loop.cancel(*connecting.timer);
        connecting.timer.reset();
    }
}

void PortExchange::give_up(const std::shared_ptr<Connecting>& connecting) {
    connecting->given_up = true; // an answer may be on its way
    remove(*connecting);
    const pmix_proc_t process = _jobs.name_of(connecting->request.process);
    _links.send(connecting->run, ConnectCancel{connecting->token, {process.nspace, process.rank}});
}

void PortExchange::ended(ProcessId process) {
    for (auto it = _connecting.begin(); it != _connecting.end();) {
        const std::shared_ptr<Connecting> connecting = it->second;
        ++it;
        if (connecting->request.process == process) {
            give_up(connecting);
        }
    }
}

void PortExchange::answered(const std::shared_ptr<Connecting>& connecting, const ConnectAnswer* answer) {
    remove(*connecting);
    const pmix_status_t status = answer == nullptr ? PMIX_ERR_NOT_FOUND : answer->status;
    if (status != PMIX_SUCCESS) {
        if (!connecting->given_up) {
            connecting->request.answer(status, nullptr);
        }
        return;
    }
    const bool taken = !connecting->given_up && answer->job.run == connecting->run && _job_exchange.learn(answer->job);
    _links.send(connecting->run, ConnectDecision{answer->pair, taken});
    if (taken) {
        const PortService::Pair pair{make_proc(answer->job.nspace, answer->rank), answer->pair};
        connecting->request.answer(PMIX_SUCCESS, &pair);
    } else if (!connecting->given_up) {
        connecting->request.answer(PMIX_ERROR, nullptr);
    }
}

void PortExchange::take(const std::string& run, const ConnectRequest& request) {
    const std::uint64_t token = request.token;
    const auto answer = [this, run, token](pmix_status_t status, const PortService::Pair* pair) {
        ConnectAnswer message{token, status, {}, 0, 0};
        if (pair != nullptr) {
            message.job = _job_exchange.describe(_jobs.find(pair->peer)->job);
            message.rank = pair->peer.rank;
            message.pair = pair->number;
        }
        _links.send(run, message);
    };
    const bool is_known = request.job.run == run && _job_exchange.learn(request.job);
    const auto process = is_known ? _jobs.find(make_proc(request.job.nspace, request.rank)) : std::nullopt;
    if (!process) {
        answer(PMIX_ERROR, nullptr);
        return;
    }
    _ports.wait(PortService::Side::connect, request.port,
        {*process, std::chrono::milliseconds(request.limit_milliseconds), answer, true, token});
}

void PortExchange::take(const ConnectCancel& cancel) {
    if (const auto process = _jobs.find(make_proc(cancel.process.nspace, cancel.process.rank))) {
        _ports.withdraw(*process, cancel.token);
    }
}

} // namespace patchbay::launch
