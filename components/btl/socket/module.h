// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/socket/endpoint.h"
#include "components/btl/socket/services.h"
#include "components/btl/socket/settings.h"
#include "core/explain.h"
#include "core/log.h"
#include "core/runtime/job_table.h"
#include "frameworks/btl/btl.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace patchbay::btl::socket {

// Sockets between the processes of this host, of the own job and of others. There is no socket and no descriptor until
// the first connect() or open().
class SocketModule final : public Module {
public:
    // `self`: the rank in the own job. Continues the connections of an earlier module of this process. Errc::system,
    // out_of_memory: that is impossible.
    static Result<std::unique_ptr<SocketModule>> create(std::uint32_t self, JobTable& jobs, const Settings& settings,
        std::unique_ptr<Services> services, DecisionLog& decisions);
    ~SocketModule() override;

    const char* name() const noexcept override { return "socket"; }
    const Limits& limits() const noexcept override { return _limits; }
    void set_receiver(Receiver receiver, void* context) noexcept override {
        _receiver = receiver;
        _context = context;
    }
    bool reaches(ProcessId process) const noexcept override;
    Status open() noexcept override;
    Endpoint* connect(ProcessId process) noexcept override;
    SendCode send(Endpoint& to, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept override;
    Reservation reserve(Endpoint& to, std::size_t header_size, std::size_t payload_size) noexcept override;
    SendCode commit(
        Endpoint& to, const void* header, std::size_t header_size, std::size_t payload_size) noexcept override;
    // A process keeps its sockets when its library ends.
    bool may_answer(Endpoint& peer) noexcept override {
        return static_cast<SocketEndpoint&>(peer).state != SocketEndpoint::State::failed;
    }
    // Connections to processes of other jobs stay until the processes close them.
    bool has_ended(JobNumber job) noexcept override {
        return std::find(_held_jobs.begin(), _held_jobs.end(), job) == _held_jobs.end();
    }
    int poll() noexcept override;

    // For tests.
    const Address& address() const noexcept { return _address; }
    std::size_t inbound_connections() const noexcept { return _inbound.size(); }

private:
    SocketModule(std::uint32_t self, JobTable& jobs, const Settings& settings, std::unique_ptr<Services> services,
        DecisionLog& decisions);

    // module.cpp: endpoints and the connections to them.
    SocketEndpoint& endpoint_of(ProcessId process);
    Status open_sockets();
    Status start_listening();
    Status make_epoll();
    Status add_to_epoll(int fd, std::uint32_t events, std::uint64_t what);
    Status prepare_buffer();
    int advance_waiting() noexcept;
    bool advance(SocketEndpoint& to);
    bool try_to_connect(SocketEndpoint& to);
    bool give_up(SocketEndpoint& to, int fd, int error, std::string_view problem) noexcept;
    bool may_wait(SocketEndpoint& to) const noexcept;
    Hello hello_for(const SocketEndpoint& to) const;
    void fail(SocketEndpoint& to, std::string_view problem) noexcept;

    // send.cpp
    SendCode transmit(SocketEndpoint& to, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept;
    SendCode not_sent(SocketEndpoint& to, int error) noexcept;
    SendCode cannot_send(SocketEndpoint& to) noexcept;

    // poll.cpp
    bool has_nothing_to_look_at() noexcept;
    int handle(std::uint64_t what, std::uint32_t events) noexcept;
    int handle(SocketEndpoint& to, std::uint32_t events) noexcept;
    int accept_connections() noexcept;
    bool prepare_inbound() noexcept;
    void cannot_accept(int error) noexcept;
    int receive(Inbound& inbound) noexcept;
    bool has_buffer() noexcept;
    void end_job(const char* lacking, int error) noexcept;
    enum class Sender { known, refused, no_memory };
    Sender identify(Inbound& inbound, const std::byte* message, std::size_t size) noexcept;
    Sender identify(Inbound& inbound, const Hello& hello);
    Result<ProcessId> process_of(const Hello& hello);
    Result<JobNumber> hold_job(std::uint64_t nonce);
    static bool is_packet(const std::byte* message, std::size_t size) noexcept;
    bool deliver(Inbound& inbound, const std::byte* message) noexcept;
    int deliver_held() noexcept;
    void drop(Inbound& inbound) noexcept;
    void close_watched(int fd) noexcept; // -1: there is none

    // kept.cpp: what a module leaves to the next one of this process.
    Status adopt(const std::vector<std::byte>& kept);
    Status adopt(bool is_outbound, int fd, std::uint64_t nonce, std::uint32_t rank, std::span<const std::byte> held);
    std::vector<std::byte> kept() const;
    void close_all() noexcept;

    const std::uint32_t _self;
    JobTable& _jobs;
    std::vector<JobNumber> _held_jobs; // other jobs with an endpoint here: their numbers stay the same
    const Settings _settings;
    const std::unique_ptr<Services> _services;
    DecisionLog& _decisions;
    Limits _limits;
    Receiver _receiver = nullptr;
    void* _context = nullptr;

    // All -1 or empty until open().
    int _epoll = -1;
    int _listener = -1;
    int _spare = -1; // closed to see whose connection waits when there is no descriptor
    Address _address;
    bool _is_published = false;
    std::unique_ptr<std::byte[]> _buffer; // for one message; null: a receiver has taken none since it was read to
    unsigned _idle_polls = 0;             // in a row that found nothing
    unsigned _polls_to_skip = 0;
    unsigned _held = 0;                    // connections with a packet that the receiver has not taken
    std::vector<SocketEndpoint*> _waiting; // asking or connecting
    std::vector<std::unique_ptr<Inbound>> _inbound;
    std::map<ProcessId, std::unique_ptr<SocketEndpoint>> _endpoints;
    std::unique_ptr<Inbound> _next_inbound; // prepared, so that a connection is accepted only if there is memory for it
    FailedAttempts _accepts;
    FailedAttempts _buffers; // for a packet
    FailedAttempts _senders;
    LogOnce _bad_packet;
};

} // namespace patchbay::btl::socket
