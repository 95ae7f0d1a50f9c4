// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/port_service.h"

#include <utility>
#include <vector>

namespace patchbay::launch {

pmix_status_t PortService::open(ProcessId owner, const std::string& name) {
    return _ports.try_emplace(name, Port{owner, {}, {}}).second ? PMIX_SUCCESS : PMIX_ERR_DUPLICATE_KEY;
}

pmix_status_t PortService::close(const std::string& name) {
    const auto port = _ports.find(name);
    if (port == _ports.end()) {
        return PMIX_ERR_NOT_FOUND;
    }
    remove(port);
    return PMIX_SUCCESS;
}

PortService::Waiters::iterator PortService::remove(Waiters& waiters, Waiters::iterator waiter) {
    if (waiter->timer) {
        _loop.cancel(*waiter->timer);
    }
    return waiters.erase(waiter);
}

PortService::Ports::iterator PortService::remove(Ports::iterator port) {
    for (Waiters* waiters : {&port->second.accepting, &port->second.connecting}) {
        for (auto waiter = waiters->begin(); waiter != waiters->end(); waiter = remove(*waiters, waiter)) {
            waiter->request.answer(PMIX_ERR_NOT_FOUND, nullptr);
        }
    }
    return _ports.erase(port);
}

void PortService::add(Waiters& waiters, Waiters::iterator place, Request request) {
    const auto limit = request.limit;
    const auto waiter = waiters.insert(place, Waiter{std::move(request), std::nullopt});
    if (limit.count() > 0) {
        waiter->timer = _loop.after(limit, [&waiters, waiter] {
            waiter->request.answer(PMIX_ERR_TIMEOUT, nullptr);
            waiters.erase(waiter);
        });
    }
}

void PortService::wait(Side side, const std::string& name, Request request) {
    const auto found = _ports.find(name);
    if (found == _ports.end() || !_jobs.is_running(request.process)) {
        request.answer(PMIX_ERR_NOT_FOUND, nullptr);
        return;
    }
    Waiters& waiters = side == Side::accept ? found->second.accepting : found->second.connecting;
    add(waiters, waiters.end(), std::move(request));
    bring_together(name);
}

void PortService::bring_together(const std::string& name) {
    Port& port = _ports.at(name);
    while (!port.accepting.empty() && !port.connecting.empty()) {
        Request accepting = std::move(port.accepting.front().request);
        const Request connecting = std::move(port.connecting.front().request);
        remove(port.accepting, port.accepting.begin());
        remove(port.connecting, port.connecting.begin());
        if (accepting.process == connecting.process) {
            accepting.answer(PMIX_ERR_BAD_PARAM, nullptr);
            connecting.answer(PMIX_ERR_BAD_PARAM, nullptr);
            continue;
        }
        ++_pairs;
        introduce(connecting, accepting.process, _pairs);
        if (connecting.is_remote) {
            _undecided.emplace(_pairs, Undecided{name, std::move(accepting), connecting.process});
        } else {
            introduce(accepting, connecting.process, _pairs);
        }
    }
}

void PortService::introduce(const Request& to, ProcessId peer, std::uint64_t pair) const {
    const Pair found{_jobs.name_of(peer), pair};
    to.answer(PMIX_SUCCESS, &found);
}

void PortService::withdraw(ProcessId process, std::uint64_t token) {
    for (auto& [name, port] : _ports) {
        for (auto waiter = port.connecting.begin(); waiter != port.connecting.end();) {
            const bool is_it = waiter->request.process == process && waiter->request.token == token;
            waiter = is_it ? remove(port.connecting, waiter) : std::next(waiter);
        }
    }
}

// The limit of the process that accepts begins anew after a pair that does not exist. It could not end meanwhile: the
// other process may have been told that there is a pair.
void PortService::decide(std::uint64_t pair, bool taken) {
    auto found = _undecided.extract(pair);
    if (found.empty()) {
        return; // one of the two has ended
    }
    Undecided& undecided = found.mapped();
    if (taken) {
        introduce(undecided.accepting, undecided.connecting, pair);
        return;
    }
    const auto port = _ports.find(undecided.port);
    if (port == _ports.end()) {
        undecided.accepting.answer(PMIX_ERR_NOT_FOUND, nullptr);
        return;
    }
    add(port->second.accepting, port->second.accepting.begin(), std::move(undecided.accepting));
    bring_together(undecided.port);
}

void PortService::ended(ProcessId process) {
    for (auto port = _ports.begin(); port != _ports.end();) {
        if (port->second.owner == process) {
            port = remove(port);
            continue;
        }
        for (Waiters* waiters : {&port->second.accepting, &port->second.connecting}) {
            for (auto waiter = waiters->begin(); waiter != waiters->end();) {
                waiter = waiter->request.process == process ? remove(*waiters, waiter) : std::next(waiter);
            }
        }
        ++port;
    }
    std::erase_if(_undecided, [process](const auto& entry) { return entry.second.accepting.process == process; });
    std::vector<std::uint64_t> declined;
    for (const auto& [pair, undecided] : _undecided) {
        if (undecided.connecting == process) {
            declined.push_back(pair);
        }
    }
    for (const std::uint64_t pair : declined) {
        decide(pair, false);
    }
}

} // namespace patchbay::launch
