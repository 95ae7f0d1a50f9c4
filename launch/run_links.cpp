// SPDX-License-Identifier: BSD-3-Clause
#include "launch/run_links.h"

#include "launch/user_socket.h"

#include <optional>

namespace patchbay::launch {

namespace {

// The token of an answer; 0: the message is none.
std::uint64_t token_of_answer(const RunMessage& message) {
    return std::visit(
        []<class T>(const T& m) -> std::uint64_t {
            if constexpr (std::is_same_v<T, ConnectAnswer> || std::is_same_v<T, JobAnswer> ||
                std::is_same_v<T, ModexAnswer> || std::is_same_v<T, GroupAnswer>) {
                return m.token;
            }
            return 0;
        },
        message);
}

} // namespace

RunLinks::RunLinks(EventLoop& loop, UserListener& listener, std::uint32_t prefix)
    : _loop(loop),
      _listener(listener),
      _prefix(prefix) {
    _listener.serve(run_message_kind,
        {[this](UserListener::Connection from, std::string_view bytes) { accepted(from, bytes); },
            [this](UserListener::Connection connection) { connection_closed(connection); }});
}

bool RunLinks::reach(const std::string& run) {
    if (_runs.contains(run)) {
        return true;
    }
    FileDescriptor socket = run == own() ? FileDescriptor() : connect_to_user_at(run);
    if (!socket) {
        return false;
    }
    // A third run may learn of this one's jobs from the other one. Without a socket it cannot connect to them.
    (void)_listener.listen();
    Run& other = _runs[run];
    other.made = std::make_unique<Link>(
        _loop, std::move(socket), [this, run](std::string_view bytes) { received(run, bytes); },
        [this, run] { _loop.post([this, run] { run_ended(run); }); }); // not within a call of the link
    send(run, Hello{own(), _prefix});
    return true;
}

std::vector<std::string> RunLinks::connected() const {
    std::vector<std::string> runs;
    for (const auto& [run, links] : _runs) {
        runs.push_back(run);
    }
    return runs;
}

void RunLinks::send(const std::string& run, const RunMessage& message) {
    const auto found = _runs.find(run);
    if (found == _runs.end()) {
        return;
    }
    const std::string bytes = encode(message);
    if (found->second.made) {
        found->second.made->send(bytes);
    } else {
        _listener.send(found->second.accepted.front(), bytes);
    }
}

void RunLinks::send_to_all(const RunMessage& message) {
    for (const std::string& run : connected()) {
        send(run, message);
    }
}

void RunLinks::send_request(const std::string& run, std::uint64_t token, RunMessage request) {
    if (_runs.contains(run)) {
        send(run, request);
    } else {
        _loop.post([this, token] { finish(token, nullptr); });
    }
}

void RunLinks::accepted(UserListener::Connection from, std::string_view bytes) {
    if (const auto known = _run_of.find(from); known != _run_of.end()) {
        received(known->second, bytes);
        return;
    }
    const std::optional<RunMessage> message = decode_run_message(bytes);
    const Hello* hello = message ? std::get_if<Hello>(&*message) : nullptr;
    if (hello == nullptr || hello->prefix == _prefix || hello->run == own() || hello->run.empty()) {
        _listener.close(from);
        return;
    }
    _run_of.emplace(from, hello->run);
    _runs[hello->run].accepted.push_back(from);
}

void RunLinks::received(const std::string& run, std::string_view bytes) {
    std::optional<RunMessage> message = decode_run_message(bytes);
    if (!message || std::holds_alternative<Hello>(*message)) {
        return;
    }
    // Posted, as is what a closed connection leads to: the handlers may end this connection. The order stays.
    _loop.post([this, run, message = std::move(*message)] {
        const std::uint64_t token = token_of_answer(message);
        const auto asked = _asked.find(token);
        if (token == 0) {
            _handlers.received(run, message);
        } else if (asked != _asked.end() && asked->second.run == run) {
            finish(token, &message);
        }
    });
}

void RunLinks::finish(std::uint64_t token, const RunMessage* answer) {
    if (auto asked = _asked.extract(token); !asked.empty()) {
        asked.mapped().answered(answer);
    }
}

void RunLinks::connection_closed(UserListener::Connection connection) {
    if (const auto run = _run_of.extract(connection); !run.empty()) {
        _loop.post([this, run = run.mapped()] { run_ended(run); });
    }
}

void RunLinks::run_ended(const std::string& run) {
    const auto ended = _runs.extract(run);
    if (ended.empty()) {
        return; // another connection to it has closed before
    }
    for (const UserListener::Connection connection : ended.mapped().accepted) {
        _run_of.erase(connection);
        _listener.close(connection);
    }
    std::vector<std::uint64_t> unanswered;
    for (const auto& [token, asked] : _asked) {
        if (asked.run == run) {
            unanswered.push_back(token);
        }
    }
    for (const std::uint64_t token : unanswered) {
        finish(token, nullptr);
    }
    _handlers.closed(run);
}

} // namespace patchbay::launch
