// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/socket/event.h"
#include "components/btl/socket/module.h"
#include "core/base/format_into.h"
#include "core/base/out_of_memory.h"
#include "include/mpi.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace patchbay::btl::socket {

namespace {

// Messages taken from one sender, and connections accepted, before the next descriptor is looked at.
constexpr int most_at_once = 32;

// After so many polls in a row that found nothing, most polls make no system call: where the process communicates by
// another btl, its polls are frequent. A poll costs 260 ns with the call (epoll_wait) and 2 ns without.
constexpr unsigned idle_before_skips = 256;
constexpr unsigned skips = polls_for_a_look - 1;

} // namespace

int SocketModule::poll() noexcept {
    if (_epoll < 0) {
        return 0;
    }
    int events = _held != 0 ? deliver_held() : 0;
    if (!_waiting.empty()) [[unlikely]] {
        events += advance_waiting();
    }
    if (has_nothing_to_look_at()) {
        return events;
    }
    std::array<epoll_event, 16> ready;
    const int count = epoll_wait(_epoll, ready.data(), int(ready.size()), 0);
    for (int i = 0; i < count; ++i) {
        events += handle(ready[std::size_t(i)].data.u64, ready[std::size_t(i)].events);
    }
    if (count > 0) {
        _idle_polls = 0;
    } else if (++_idle_polls >= idle_before_skips) {
        _polls_to_skip = skips;
    }
    return events;
}

// A process that is about to sleep does not look either, but does not sleep then: it sleeps on the epoll descriptor.
bool SocketModule::has_nothing_to_look_at() noexcept {
    if (_polls_to_skip != 0) {
        --_polls_to_skip;
        return true;
    }
    return false;
}

int SocketModule::handle(std::uint64_t what, std::uint32_t events) noexcept {
    switch (Event::kind(what)) {
    case Event::of_listener:
        return accept_connections();
    case Event::of_inbound:
        return receive(Event::inbound(what));
    default:
        return handle(Event::endpoint(what), events);
    }
}

int SocketModule::handle(SocketEndpoint& to, std::uint32_t events) noexcept {
    if (to.fd < 0) {
        return 0; // a receiver has found out meanwhile
    }
    if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
        fail(to, "it has ended, or has refused the connection");
        return 1;
    }
    epoll_event event{};
    event.data.u64 = Event::endpoint(to);
    epoll_ctl(_epoll, EPOLL_CTL_MOD, to.fd, &event);
    to.state = SocketEndpoint::State::open;
    return 1;
}

int SocketModule::accept_connections() noexcept {
    for (int i = 0; i < most_at_once; ++i) {
        const int fd = prepare_inbound() ? accept_own(_listener) : -1;
        if (fd < 0 && (errno == EACCES || errno == ECONNABORTED || errno == EINTR)) {
            continue;
        }
        if (fd < 0 && errno != EAGAIN) {
            cannot_accept(errno);
            return i;
        }
        _accepts.end();
        if (fd < 0) {
            return i;
        }
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = Event::inbound(*_next_inbound);
        _next_inbound->fd = fd;
        _inbound.push_back(std::move(_next_inbound));
        if (epoll_ctl(_epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
            end_job("a connection", errno);
        }
    }
    return most_at_once;
}

// false: errno is ENOMEM.
bool SocketModule::prepare_inbound() noexcept {
    const bool is_prepared = unless_out_of_memory(false, [&] {
        _inbound.reserve(_inbound.size() + 1);
        if (_next_inbound == nullptr) {
            _next_inbound = std::make_unique<Inbound>();
        }
        return true;
    });
    errno = is_prepared ? errno : ENOMEM;
    return is_prepared;
}

// Any user of this host can connect, and must not end the job by that: the kernel says whose connection it is when it
// has been accepted.
void SocketModule::cannot_accept(int error) noexcept {
    if (_accepts.add() < _settings.shortage_wait) {
        return;
    }
    if (_spare >= 0) {
        ::close(_spare);
        const int fd = accept_own(_listener);
        if (fd >= 0) {
            ::close(fd);
        }
        _spare = fcntl(_epoll, F_DUPFD_CLOEXEC, 0);
        if (fd < 0) {
            return; // the next poll tries again
        }
    }
    end_job("a connection", error);
}

// A peer waits for that, and no MPI call of this process could return the error.
void SocketModule::end_job(const char* lacking, int error) noexcept {
    const bool lacks_descriptors = error == EMFILE || error == ENFILE;
    std::array<char, 256> text;
    _services->abort(lacks_descriptors ? MPI_ERR_OTHER : MPI_ERR_NO_MEM,
        format_into(text, "btl/socket: {} of another process cannot be accepted: {}{}", lacking, std::strerror(error),
            error == EMFILE ? "; raise the limit of open files (ulimit -n), or close descriptors" : ""));
}

// Returns the number of messages, and counts the end of the connection.
int SocketModule::receive(Inbound& inbound) noexcept {
    if (inbound.held != nullptr) {
        return 0; // deliver_held() comes first
    }
    for (int received = 0; received < most_at_once; ++received) {
        if (_buffer == nullptr && !has_buffer()) {
            return received + 1; // counted: no process wakes this one when there is memory
        }
        // The first message stays there until there is memory for its sender.
        const int peek = inbound.from == nullptr ? MSG_PEEK : 0;
        const std::byte* message = _buffer.get();
        const ssize_t size = recv(inbound.fd, _buffer.get(), largest_message, MSG_DONTWAIT | MSG_TRUNC | peek);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
            return received;
        }
        if (size <= 0) {
            drop(inbound);
            return received + 1;
        }
        if (inbound.from == nullptr) {
            const Sender sender = identify(inbound, message, std::size_t(size));
            if (sender == Sender::refused) {
                drop(inbound);
            }
            if (sender != Sender::known) {
                return received + 1;
            }
            recv(inbound.fd, nullptr, 0, MSG_DONTWAIT);
        } else if (!is_packet(message, std::size_t(size))) {
            _bad_packet.error("btl/socket: a process has sent what is no packet; its connection is closed");
            drop(inbound);
            return received + 1;
        } else if (!deliver(inbound, message)) {
            inbound.held = std::move(_buffer);
            ++_held;
            return received + 1;
        }
    }
    return most_at_once;
}

bool SocketModule::has_buffer() noexcept {
    if (unless_out_of_memory(false, [&] { return bool(prepare_buffer()); })) {
        _buffers.end();
        return true;
    }
    if (_buffers.add() >= _settings.shortage_wait) {
        end_job("a packet", ENOMEM);
    }
    return false;
}

// Refused: the first message shows no process that may connect, or one that has a connection already.
SocketModule::Sender SocketModule::identify(Inbound& inbound, const std::byte* message, std::size_t size) noexcept {
    Hello hello;
    if (size != sizeof hello) {
        return Sender::refused;
    }
    std::memcpy(&hello, message, sizeof hello);
    if (!is_valid(hello, _address)) {
        return Sender::refused;
    }
    const Sender sender = unless_out_of_memory(Sender::no_memory, [&] { return identify(inbound, hello); });
    if (sender != Sender::no_memory) {
        _senders.end();
    } else if (_senders.add() >= _settings.shortage_wait) {
        end_job("a connection", ENOMEM);
    }
    return sender;
}

SocketModule::Sender SocketModule::identify(Inbound& inbound, const Hello& hello) {
    const Result<ProcessId> process = process_of(hello);
    if (!process) {
        return process.error().code == Errc::out_of_memory ? Sender::no_memory : Sender::refused;
    }
    SocketEndpoint& from = endpoint_of(process.value());
    if (std::exchange(from.sends_to_us, true)) {
        return Sender::refused;
    }
    from.address = hello.sender;
    inbound.from = &from;
    return Sender::known;
}

// The job may be one that this process does not know yet.
Result<ProcessId> SocketModule::process_of(const Hello& hello) {
    const Error no_process{Errc::invalid, "no such process"};
    if (hello.nonce == 0) {
        return no_process;
    }
    JobNumber number = own_job;
    if (hello.nonce != _jobs.nonce_of(own_job)) {
        const Result<JobNumber> added = hold_job(hello.nonce);
        if (!added) {
            return added.error();
        }
        number = added.value();
    }
    const std::shared_ptr<const Job> job = _jobs.job(number);
    const bool is_known = job != nullptr && !job->nspace.empty();
    const ProcessId process{number, hello.rank};
    if ((is_known && hello.rank >= job->size) || process == ProcessId{own_job, _self}) {
        return no_process;
    }
    return process;
}

// Its number stays the same as long as this module exists.
Result<JobNumber> SocketModule::hold_job(std::uint64_t nonce) {
    _held_jobs.reserve(_held_jobs.size() + 1);
    const Result<JobNumber> job = _jobs.hold(nonce);
    if (job && std::ranges::find(_held_jobs, job.value()) == _held_jobs.end()) {
        _held_jobs.push_back(job.value());
    } else if (job) {
        _jobs.end_hold(job.value()); // one is enough
    }
    return job;
}

bool SocketModule::is_packet(const std::byte* message, std::size_t size) noexcept {
    Prefix prefix;
    if (size < sizeof prefix || size > largest_message) {
        return false;
    }
    std::memcpy(&prefix, message, sizeof prefix);
    return prefix.header_size > 0 && prefix.header_size <= header_room && prefix.payload_size <= largest_packet &&
        sizeof prefix + prefix.header_size + prefix.payload_size == size;
}

bool SocketModule::deliver(Inbound& inbound, const std::byte* message) noexcept {
    Prefix prefix;
    std::memcpy(&prefix, message, sizeof prefix);
    const std::byte* header = message + sizeof prefix;
    return _receiver(
        _context, *inbound.from, header, prefix.header_size, header + prefix.header_size, prefix.payload_size);
}

// Counts those that the receiver does not take.
int SocketModule::deliver_held() noexcept {
    int events = 0;
    for (const std::unique_ptr<Inbound>& inbound : _inbound) {
        if (inbound->held == nullptr) {
            continue;
        }
        ++events;
        if (deliver(*inbound, inbound->held.get())) {
            _buffer = std::move(inbound->held);
            --_held;
        }
    }
    return events;
}

void SocketModule::drop(Inbound& inbound) noexcept {
    close_watched(inbound.fd);
    if (inbound.from != nullptr) {
        inbound.from->sends_to_us = false;
    }
    std::erase_if(_inbound, [&](const std::unique_ptr<Inbound>& each) { return each.get() == &inbound; });
}

} // namespace patchbay::btl::socket
