// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/port_service.h"

#include "core/runtime/dynamic_protocol.h"
#include "launch/pmix/info_list.h"
#include "launch/pmix/pmix_thread.h"

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
            answer_error(waiter->request.callback, waiter->request.callback_data, PMIX_ERR_NOT_FOUND);
        }
    }
    return _ports.erase(port);
}

void PortService::wait(Side side, const std::string& name, const Request& request) {
    const auto found = _ports.find(name);
    if (found == _ports.end()) {
        answer_error(request.callback, request.callback_data, PMIX_ERR_NOT_FOUND);
        return;
    }
    Port& port = found->second;
    Waiters& waiters = side == Side::accept ? port.accepting : port.connecting;
    const auto waiter = waiters.insert(waiters.end(), Waiter{request, std::nullopt});
    if (request.limit.count() > 0) {
        waiter->timer = _loop.after(request.limit, [&waiters, waiter] {
            answer_error(waiter->request.callback, waiter->request.callback_data, PMIX_ERR_TIMEOUT);
            waiters.erase(waiter);
        });
    }
    bring_together(port);
}

void PortService::bring_together(Port& port) {
    while (!port.accepting.empty() && !port.connecting.empty()) {
        const Request ends[] = {port.accepting.front().request, port.connecting.front().request};
        remove(port.accepting, port.accepting.begin());
        remove(port.connecting, port.connecting.begin());
        ++_pairs;
        for (const int end : {0, 1}) {
            if (ends[0].process == ends[1].process) {
                answer_error(ends[end].callback, ends[end].callback_data, PMIX_ERR_BAD_PARAM);
                continue;
            }
            InfoList results;
            results.add_proc(port_peer_key, _jobs.name_of(ends[1 - end].process));
            results.add_u64(port_pair_key, _pairs);
            answer(ends[end].callback, ends[end].callback_data, std::move(results));
        }
    }
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
}

} // namespace patchbay::launch
