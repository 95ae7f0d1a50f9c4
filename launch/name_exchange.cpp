// SPDX-License-Identifier: BSD-3-Clause
#include "launch/name_exchange.h"

#include "core/base/random.h"
#include "launch/user_socket.h"

#include <cstring>

namespace patchbay::launch {

namespace {

// A question: one of these, the number of the claim, and the name.
constexpr char asks_for_value = 'L';
constexpr char asks_for_claim = 'C';
constexpr std::size_t name_begin = 1 + sizeof(std::uint64_t);
constexpr char yes = 'y'; // begins an answer; the value follows it

constexpr std::chrono::seconds time_to_answer{1};

std::string question(char kind, std::uint64_t claim, const std::string& name) {
    std::string bytes(name_begin, kind);
    std::memcpy(bytes.data() + 1, &claim, sizeof claim);
    return bytes + name;
}

} // namespace

NameExchange::NameExchange(EventLoop& loop, UserListener& listener)
    : _loop(loop),
      _listener(listener) {
    for (const char kind : {asks_for_value, asks_for_claim}) {
        _listener.serve(kind,
            {[this](UserListener::Connection asker, std::string_view question) {
                 _listener.send(asker, answer(question));
             },
                {}});
    }
}

std::string NameExchange::answer(std::string_view question) {
    if (question.size() < name_begin) {
        return "";
    }
    std::uint64_t claim = 0;
    std::memcpy(&claim, question.data() + 1, sizeof claim);
    const auto found = _names.find(question.substr(name_begin));
    if (found == _names.end()) {
        return "";
    }
    Name& name = found->second;
    if (question.front() == asks_for_value) {
        return name.known ? yes + name.value : "";
    }
    const bool taken = name.known || name.claim < claim;
    name.lost |= !taken;
    return taken ? std::string(1, yes) : "";
}

void NameExchange::claim(const std::string& name, std::string value, Claimed done) {
    if (_names.contains(name)) {
        done(Error{Errc::invalid, "the name is in use"});
        return;
    }
    if (Status listening = _listener.listen(); !listening) {
        done(listening);
        return;
    }
    const std::uint64_t number = random_bits();
    _names.emplace(name, Name{std::move(value), number});
    ask(question(asks_for_claim, number, name), [this, name, number, done = std::move(done)](const std::string& taken) {
        claimed(name, number, !taken.empty(), done);
    });
}

// The name may have been given up, and even claimed again, while the others were asked.
void NameExchange::claimed(const std::string& name, std::uint64_t claim, bool taken, const Claimed& done) {
    const auto own = _names.find(name);
    const bool is_own = own != _names.end() && own->second.claim == claim;
    taken = taken || (is_own && own->second.lost);
    if (is_own && taken) {
        _names.erase(own);
    } else if (is_own) {
        own->second.known = true;
    }
    done(is_own && !taken ? Status() : Error{Errc::invalid, "the name is in use"});
}

void NameExchange::look_up(const std::string& name, Found found) {
    ask(question(asks_for_value, 0, name), [found = std::move(found)](std::string answer) {
        found(answer.empty() ? std::nullopt : std::optional(answer.substr(1)));
    });
}

void NameExchange::ask(const std::string& question, std::function<void(std::string)> done) {
    const auto inquiry = _inquiries.emplace(_inquiries.end());
    inquiry->done = std::move(done);
    std::vector<FileDescriptor> sockets = connect_to_user(_listener.file());
    inquiry->missing = sockets.size();
    for (FileDescriptor& socket : sockets) {
        const auto open = std::make_shared<bool>(true); // an answer is missing
        const auto got = [this, inquiry, open](std::string_view answer) {
            if (std::exchange(*open, false)) {
                answered(inquiry, answer);
            }
        };
        inquiry->others.push_back(std::make_unique<Link>(_loop, std::move(socket), got, [got] { got(""); }));
    }
    for (const std::unique_ptr<Link>& other : inquiry->others) {
        other->send(question);
    }
    if (inquiry->missing == 0) {
        finish(inquiry);
        return;
    }
    inquiry->timer = _loop.after(time_to_answer, [this, inquiry] {
        inquiry->timer.reset();
        finish(inquiry);
    });
}

void NameExchange::answered(Inquiries::iterator inquiry, std::string_view answer) {
    if (answer.starts_with(yes)) {
        inquiry->answer = answer;
    }
    if (--inquiry->missing == 0 && inquiry->timer) {
        _loop.cancel(*inquiry->timer);
        inquiry->timer.reset();
        _loop.post([this, inquiry] { finish(inquiry); }); // not within a call of a link, which it destroys
    }
}

void NameExchange::finish(Inquiries::iterator inquiry) {
    const auto done = std::move(inquiry->done);
    std::string answer = std::move(inquiry->answer);
    _inquiries.erase(inquiry);
    done(std::move(answer));
}

} // namespace patchbay::launch
