// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/event_loop.h"
#include "launch/link.h"
#include "launch/run_messages.h"
#include "launch/user_listener.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::launch {

// The connections to other mpirun of this user whose jobs have to do with those of this one. There is none before a
// process connects to a port of another run, or one of these to a port of this run. Once made, a connection lasts until
// one of the two runs ends: when it closes, the other run has ended. Used in the event loop's thread only; no function
// waits.
class RunLinks {
public:
    // `prefix`: of this run's group identifiers (group_service.h).
    RunLinks(EventLoop& loop, UserListener& listener, std::uint32_t prefix);

    // The handlers are called in the event loop, never within a call of this object.
    struct Handlers {
        std::function<void(const std::string& run, const RunMessage&)> received; // but answers to ask()
        std::function<void(const std::string& run)> closed;                      // after what ask() has called for it
    };
    void set_handlers(Handlers handlers) { _handlers = std::move(handlers); }

    const std::string& own() const { return _listener.file(); }
    // Whether there is a connection. Makes one if there is none and the run exists.
    bool reach(const std::string& run);
    std::vector<std::string> connected() const;

    // Nothing if there is no connection.
    void send(const std::string& run, const RunMessage& message);
    void send_to_all(const RunMessage& message);
    // Sends a request, of which this function sets the token, and returns the token. `answered` is called once;
    // nullptr: the other run has ended, or there is no connection.
    using Answered = std::function<void(const RunMessage* answer)>;
    template <class Request>
    std::uint64_t ask(const std::string& run, Request request, Answered answered) {
        request.token = _next_token++;
        const std::uint64_t token = request.token;
        _asked.emplace(token, Asked{run, std::move(answered)});
        send_request(run, token, std::move(request));
        return token;
    }

private:
    struct Run {
        std::unique_ptr<Link> made;                     // by this run; messages go here if there is one
        std::vector<UserListener::Connection> accepted; // otherwise to the first of these
    };
    struct Asked {
        std::string run;
        Answered answered;
    };

    void send_request(const std::string& run, std::uint64_t token, RunMessage request);
    void accepted(UserListener::Connection from, std::string_view bytes);
    void received(const std::string& run, std::string_view bytes);
    void finish(std::uint64_t token, const RunMessage* answer);
    void connection_closed(UserListener::Connection connection);
    void run_ended(const std::string& run);

    EventLoop& _loop;
    UserListener& _listener;
    std::uint32_t _prefix;
    Handlers _handlers;
    std::map<std::string, Run> _runs;
    std::map<UserListener::Connection, std::string> _run_of; // the accepted ones
    std::uint64_t _next_token = 1;
    std::map<std::uint64_t, Asked> _asked;
};

} // namespace patchbay::launch
