// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/btl/transports.h"

#include "core/base/out_of_memory.h"
#include "core/log.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/core.h>
#include <new>
#include <string>

namespace patchbay::btl {

namespace {

// A process that failed has left a bounded number of packets behind; each poll takes some of them.
constexpr int most_polls = 1000;

std::uint8_t id_of(const void* header) noexcept {
    return std::uint8_t(*static_cast<const std::uint8_t*>(header) >> consumer_shift);
}

} // namespace

Transports::Transports(Progress& progress, ProcessId self, Selection selection)
    : _lock(progress.threads()),
      _progress(progress),
      _self(self),
      _lease(std::move(selection.lease)),
      _modules(std::move(selection.modules)) {
    std::ranges::stable_sort(_modules, {}, [](const auto& module) { return module->limits().latency_ns; });
    _polled.reserve(_modules.size());
    _consumers.fill({this, &Transports::lose});
    for (const auto& module : _modules) {
        module->set_receiver(&Transports::receive, this);
        if (module->limits().unsolicited) {
            _polled.push_back(module.get());
        }
    }
}

Transports::~Transports() {
    _poller.reset();
    _progress.quiesce();
}

Result<ConsumerHandle> Transports::add_consumer(ConsumerId id, const Consumer& consumer) noexcept {
    const Guard guard(*this);
    const std::uint32_t bit = 1u << unsigned(id);
    if ((_present & bit) != 0) {
        Error taken{Errc::invalid, {}};
        unless_out_of_memory(false, [&] {
            taken.text = fmt::format("there is a consumer {} of the btls' packets already", unsigned(id));
            return true;
        });
        return taken;
    }
    _present |= bit;
    if (Status polled = need_poller(); !polled) {
        _present &= ~bit;
        return polled.error();
    }
    Consumer& entry = _consumers[std::size_t(id)];
    entry = consumer;
    if (entry.receive == nullptr) {
        entry.receive = &Transports::lose;
    }
    return ConsumerHandle(*this, id);
}

void Transports::remove_consumer(ConsumerId id) noexcept {
    const Guard guard(*this);
    const std::uint32_t bit = 1u << unsigned(id);
    _present &= ~bit;
    _marked &= ~bit;
    _consumers[std::size_t(id)] = {this, &Transports::lose};
    if (_present == 0) {
        _poller.reset();
    }
}

void ConsumerHandle::reset() noexcept {
    if (Transports* transports = std::exchange(_transports, nullptr)) {
        transports->remove_consumer(_id);
    }
}

Module* Transports::module_to(ProcessId process, std::size_t nth) const noexcept {
    for (const auto& module : _modules) {
        if (module->reaches(process) && nth-- == 0) {
            return module.get();
        }
    }
    return nullptr;
}

Module* Transports::one_sided_to(ProcessId process, Offers wanted) const noexcept {
    for (const auto& module : _modules) {
        OneSided* offered = module->one_sided();
        if (offered != nullptr && has_all(offered->offers(), wanted) && module->reaches(process)) {
            return module.get();
        }
    }
    return nullptr;
}

Way Transports::connect(Module& module, ProcessId process) noexcept {
    if (Status polled = need_poll(module); !polled) {
        log_error("btl: out of memory for a poller");
        return {};
    }
    Endpoint* endpoint = module.connect(process);
    return endpoint == nullptr ? Way() : Way{&module, endpoint};
}

Way Transports::connect(ProcessId process) noexcept {
    Module* best = module_to(process);
    return best != nullptr ? connect(*best, process) : Way();
}

// The other process chooses among the same modules, so that it sends by the one by which this process would.
Status Transports::expect(ProcessId process) noexcept {
    Module* best = process == _self ? nullptr : module_to(process);
    if (best == nullptr || is_polled(*best)) {
        return {};
    }
    if (Status opened = best->open(); !opened) {
        return opened;
    }
    return need_poll(*best);
}

bool Transports::has_failed(ProcessId process) const noexcept {
    return std::ranges::find(_failed, process) != _failed.end();
}

bool Transports::may_deliver() noexcept {
    const Guard guard(*this);
    return _present != 0 && !_polled.empty();
}

// What a process had sent before it ended is received as from any other.
// Without a consumer it stays where it is, for the next library generation of this process.
void Transports::deliver_rest() noexcept {
    for (int polls = 0, idle = 0; may_deliver() && polls < most_polls && idle < polls_for_a_look; ++polls) {
        idle = poll() > 0 ? 0 : idle + 1;
    }
}

void Transports::forget_ended(std::span<const JobNumber> unused) noexcept {
    if (unused.empty()) {
        return;
    }
    deliver_rest();
    const Guard guard(*this);
    for (const JobNumber job : unused) {
        const bool ended =
            std::ranges::all_of(_modules, [job](const auto& module) { return module->has_ended(job); }) &&
            std::ranges::all_of(_consumers, [job](const Consumer& consumer) {
                return consumer.may_forget == nullptr || consumer.may_forget(consumer.context, job);
            });
        if (!ended) {
            continue;
        }
        for (const Consumer& consumer : _consumers) {
            if (consumer.forget != nullptr) {
                consumer.forget(consumer.context, job);
            }
        }
        for (const auto& module : _modules) {
            module->forget(job);
        }
        std::erase_if(_failed, [job](ProcessId process) { return process.job == job; });
    }
}

void Transports::peer_failed(ProcessId process) noexcept {
    deliver_rest();
    {
        const Guard guard(*this);
        if (has_failed(process)) {
            return;
        }
        // Without memory for it, a second report is passed on again.
        unless_out_of_memory(false, [&] {
            _failed.push_back(process);
            return true;
        });
        for (const auto& module : _modules) {
            if (module->reaches(process)) {
                module->peer_failed(process);
            }
        }
        for (const Consumer& consumer : _consumers) {
            if (consumer.peer_failed != nullptr) {
                consumer.peer_failed(consumer.context, process);
            }
        }
    }
    _progress.wake(); // other threads may wait for what has ended
}

bool Transports::receive(void* context, Endpoint& from, const void* header, std::size_t header_size,
    const void* payload, std::size_t payload_size) noexcept {
    const Consumer& consumer = static_cast<Transports*>(context)->_consumers[id_of(header)];
    return consumer.receive(consumer.context, from, header, header_size, payload, payload_size);
}

// A packet for a consumer that this process does not have.
bool Transports::lose(
    void*, Endpoint& from, const void* header, std::size_t, const void*, std::size_t payload_size) noexcept {
    unless_out_of_memory(false, [&] {
        log_error(fmt::format("btl: a packet of {} bytes from process {} of job {} is lost, because this process has "
                              "no consumer {} for it",
            payload_size, from.process.rank, from.process.job, id_of(header)));
        return true;
    });
    return true;
}

int Transports::poll() noexcept {
    const Guard guard(_lock);
    int events = _polled.front()->poll();
    if (_polled.size() > 1 || _marked != 0) [[unlikely]] {
        events += poll_others();
        events += work(); // at the end, as Consumer says
    }
    return events;
}

int Transports::poll_others() noexcept {
    int events = 0;
    // A receiver may connect and thereby append a module.
    for (std::size_t i = 1; i < _polled.size(); ++i) {
        events += _polled[i]->poll();
    }
    return events;
}

int Transports::work() noexcept {
    int events = 0;
    for (std::uint32_t marked = std::exchange(_marked, 0); marked != 0; marked &= marked - 1) {
        const Consumer& consumer = _consumers[std::size_t(std::countr_zero(marked))];
        events += consumer.work(consumer.context);
    }
    return events;
}

bool Transports::is_polled(const Module& module) const noexcept {
    return std::ranges::find(_polled, &module) != _polled.end();
}

Status Transports::need_poll(Module& module) noexcept {
    if (!is_polled(module)) {
        _polled.push_back(&module);
    }
    return need_poller();
}

// A process that has no packet to expect does not poll.
Status Transports::need_poller() noexcept {
    if (_poller || _present == 0 || _polled.empty()) {
        return {};
    }
    return unless_out_of_memory(Status(Error{Errc::out_of_memory, {}}), [this] {
        _poller =
            _progress.add_poller([](void* self) noexcept { return static_cast<Transports*>(self)->poll(); }, this);
        return Status();
    });
}

std::string Transports::unreachable_text(ProcessId process) const {
    if (module_to(process) != nullptr) {
        return {};
    }
    std::string names;
    for (const auto& module : _modules) {
        names += names.empty() ? "" : ", ";
        names += module->name();
    }
    return fmt::format("no btl in use ({}) reaches process {} of job {}; see the parameter btl and mpirun --explain",
        names, process.rank, process.job);
}

} // namespace patchbay::btl
