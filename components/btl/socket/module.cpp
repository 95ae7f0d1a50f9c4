// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/socket/module.h"

#include "components/btl/socket/event.h"
#include "core/base/out_of_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <new>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace patchbay::btl::socket {

namespace {
Error system_error(const char* what) {
    return {Errc::system, fmt::format("btl/socket: {}: {}", what, std::strerror(errno))};
}

// Whether the error ends when this process or another one gives something back.
bool is_shortage(int error) noexcept {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}
} // namespace

Result<std::unique_ptr<SocketModule>> SocketModule::create(std::uint32_t self, JobTable& jobs, const Settings& settings,
    std::unique_ptr<Services> services, DecisionLog& decisions) {
    std::unique_ptr<SocketModule> module(new SocketModule(self, jobs, settings, std::move(services), decisions));
    if (const std::vector<std::byte> kept = module->_services->take_kept(); !kept.empty()) {
        if (Status adopted = module->adopt(kept); !adopted) {
            return adopted.error();
        }
    }
    return module;
}

SocketModule::SocketModule(std::uint32_t self, JobTable& jobs, const Settings& settings,
    std::unique_ptr<Services> services, DecisionLog& decisions)
    : _self(self),
      _jobs(jobs),
      _settings(settings),
      _services(std::move(services)),
      _decisions(decisions) {
    _limits.header = header_room;
    _limits.eager = settings.eager_limit;
    _limits.packet = settings.packet_size;
    // Between two cores of a virtual machine, as those of btl/sm.
    _limits.latency_ns = 7000;
    _limits.bandwidth_mbps = 3000;
    _limits.unsolicited = false;
}

// Peers cannot know when the library goes down, and go on sending over their connections. What they send waits in the
// kernel for the next generation.
SocketModule::~SocketModule() {
    if (_epoll >= 0) {
        _services->unwatch(_epoll);
        ::close(_epoll);
        if (_spare >= 0) {
            ::close(_spare);
        }
        const bool left = unless_out_of_memory(false, [&] {
            _services->keep(kept());
            return true;
        });
        if (!left) {
            close_all();
        }
    }
    for (const JobNumber job : _held_jobs) {
        _jobs.end_hold(job);
    }
}

bool SocketModule::reaches(ProcessId process) const noexcept {
    if (process == ProcessId{own_job, _self}) {
        return false;
    }
    // An mpirun starts its jobs on its own host.
    const std::shared_ptr<const Job> job = _jobs.job(process.job);
    return job != nullptr &&
        (job->is_foreign ? process.rank < job->size : std::ranges::binary_search(job->local_ranks, process.rank));
}

Status SocketModule::open() noexcept {
    return unless_out_of_memory([&] { return open_sockets(); });
}

Status SocketModule::open_sockets() {
    if (_is_published) {
        return {};
    }
    Status done = prepare_buffer();
    done = done ? make_epoll() : done;
    done = done ? start_listening() : done;
    done = done ? _services->publish(_address) : done;
    if (done) {
        _is_published = true;
        _decisions.record("btl", "address of this process", "socket", Outcome::chosen, 0,
            "published, because processes reach this one by no other btl");
    }
    return done;
}

Status SocketModule::prepare_buffer() {
    if (_buffer == nullptr) {
        _buffer.reset(new (std::nothrow) std::byte[largest_message]);
    }
    return _buffer != nullptr ? Status() : Status(Error{Errc::out_of_memory, "btl/socket: out of memory for a packet"});
}

Status SocketModule::make_epoll() {
    if (_epoll >= 0) {
        return {};
    }
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) {
        return system_error("cannot wait for sockets");
    }
    if (Status watched = _services->watch(epoll); !watched) {
        ::close(epoll);
        return watched;
    }
    _epoll = epoll;
    _spare = fcntl(_epoll, F_DUPFD_CLOEXEC, 0);
    return {};
}

Status SocketModule::start_listening() {
    if (_listener >= 0) {
        return {};
    }
    const Address address = random_address();
    const int listener = listen_at(address);
    if (listener < 0) {
        return system_error("cannot make a socket for connections");
    }
    if (Status added = add_to_epoll(listener, EPOLLIN, Event::listener()); !added) {
        ::close(listener);
        return added;
    }
    _listener = listener;
    _address = address;
    return {};
}

Status SocketModule::add_to_epoll(int fd, std::uint32_t events, std::uint64_t what) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = what;
    return epoll_ctl(_epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? Status()
                                                             : Status(system_error("cannot wait for a socket"));
}

SocketEndpoint& SocketModule::endpoint_of(ProcessId process) {
    std::unique_ptr<SocketEndpoint>& known = _endpoints[process];
    if (known == nullptr) {
        known = std::make_unique<SocketEndpoint>(process);
    }
    return *known;
}

Endpoint* SocketModule::connect(ProcessId process) noexcept {
    return unless_out_of_memory(static_cast<Endpoint*>(nullptr), [&]() -> Endpoint* {
        if (Status opened = open_sockets(); !opened) {
            log_error(opened.error().text);
            return nullptr;
        }
        SocketEndpoint& to = endpoint_of(process);
        if (to.state == SocketEndpoint::State::none) {
            _waiting.push_back(&to);
            to.state = SocketEndpoint::State::asking;
            advance_waiting();
        }
        return &to;
    });
}

// Returns the number of connections that came a step further, or that nothing but a poll brings further.
int SocketModule::advance_waiting() noexcept {
    int events = 0;
    for (std::size_t i = 0; i < _waiting.size();) {
        SocketEndpoint& to = *_waiting[i];
        // Without memory the next poll tries again.
        const bool done = unless_out_of_memory(false, [&] { return advance(to); });
        events += done || to.state == SocketEndpoint::State::connecting;
        if (done) {
            _waiting.erase(_waiting.begin() + std::ptrdiff_t(i));
        } else {
            ++i;
        }
    }
    return events;
}

// true: it is connected, or has failed.
bool SocketModule::advance(SocketEndpoint& to) {
    if (to.state == SocketEndpoint::State::asking && !to.address.is_set()) {
        const std::optional<Result<Address>> found = _services->find(to.process);
        if (!found.has_value()) {
            return false;
        }
        if (!*found) {
            fail(to, found->error().text);
            return true;
        }
        to.address = found->value();
    }
    to.state = SocketEndpoint::State::connecting;
    return try_to_connect(to);
}

bool SocketModule::try_to_connect(SocketEndpoint& to) {
    const int fd = connect_to(to.address, _settings.buffer);
    if (fd < 0 && (errno == EAGAIN || (is_shortage(errno) && may_wait(to)))) {
        return false;
    }
    if (fd < 0) {
        fail(to,
            errno == EACCES             ? "the socket at its address belongs to another user"
                : errno == ECONNREFUSED ? "it has ended, or is in another network namespace"
                                        : std::strerror(errno));
        return true;
    }
    // A new connection has room for it.
    const Hello hello = hello_for(to);
    if (::send(fd, &hello, sizeof hello, MSG_DONTWAIT | MSG_NOSIGNAL) != ssize_t(sizeof hello)) {
        return give_up(to, fd, errno, std::strerror(errno));
    }
    if (Status added = add_to_epoll(fd, 0, Event::endpoint(to)); !added) { // reports the end of the peer
        return give_up(to, fd, 0, added.error().text);
    }
    to.fd = fd;
    to.state = SocketEndpoint::State::open;
    return true;
}

// The connection cannot be used. As try_to_connect().
bool SocketModule::give_up(SocketEndpoint& to, int fd, int error, std::string_view problem) noexcept {
    const bool waits = is_shortage(error) && may_wait(to);
    ::close(fd);
    if (!waits) {
        fail(to, problem);
    }
    return !waits;
}

// A peer to which nothing can be sent may wait for an answer, and a shortage may end soon: other descriptors are
// closed.
bool SocketModule::may_wait(SocketEndpoint& to) const noexcept {
    return to.attempts.add() < _settings.shortage_wait;
}

Hello SocketModule::hello_for(const SocketEndpoint& to) const {
    Hello hello;
    hello.rank = _self;
    hello.secret = to.address.secret;
    hello.nonce = _jobs.nonce_of(own_job);
    hello.sender = _address;
    return hello;
}

// A child of fork() may have a duplicate of the descriptor: then close() does not remove it from the set of epoll.
void SocketModule::close_watched(int fd) noexcept {
    if (fd >= 0) {
        epoll_ctl(_epoll, EPOLL_CTL_DEL, fd, nullptr);
        ::close(fd);
    }
}

// The cause is reported when something is to be sent there: a process that ends after its last message is no failure.
void SocketModule::fail(SocketEndpoint& to, std::string_view problem) noexcept {
    close_watched(std::exchange(to.fd, -1));
    to.state = SocketEndpoint::State::failed;
    to.failed_at = std::chrono::steady_clock::now();
    unless_out_of_memory(false, [&] {
        to.problem = problem;
        return true;
    });
}

} // namespace patchbay::btl::socket
