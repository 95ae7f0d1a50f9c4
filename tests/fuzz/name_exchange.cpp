// SPDX-License-Identifier: BSD-3-Clause
// What reaches the socket of an mpirun: two of them claim, give up and look up names, while strangers of the same user
// send any bytes. No name has two owners, every question has the answer that a table of the owners gives, and a
// connection that does not begin as one of another run is closed and leaves nothing behind.
#include "launch/name_exchange.h"
#include "launch/run_links.h"
#include "launch/user_socket.h"
#include "tests/fuzz/bytes.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace patchbay;
using namespace patchbay::launch;

namespace {

// The sockets are in a directory of this process, so that no other mpirun takes part.
class Directory {
public:
    Directory() {
        REQUIRE(::mkdtemp(_name) != nullptr);
        REQUIRE(::setenv("XDG_RUNTIME_DIR", _name, 1) == 0);
    }
    ~Directory() { ::rmdir(_name); }

private:
    char _name[32] = "/tmp/patchbay-fuzz-XXXXXX";
};

struct Run {
    Run(EventLoop& loop, std::uint32_t prefix)
        : prefix(prefix),
          listener(loop, make_socket_file()),
          names(loop, listener),
          links(loop, listener, prefix) {
        REQUIRE(listener.listen());
        links.set_handlers(
            {[this](const std::string&, const RunMessage& message) { received.push_back(encode(message)); },
                [](const std::string&) {}});
    }
    ~Run() { remove_user_socket(listener.file()); }

    const std::uint32_t prefix;
    UserListener listener;
    NameExchange names;
    RunLinks links;
    std::vector<std::string> received;
};

// A process that is connected to a run, and what the run ought to think of it.
struct Stranger {
    Stranger(EventLoop& loop, const Run& run)
        : link(
              loop, connect_to_user_at(run.listener.file()),
              [this](std::string_view answer) { answers.emplace_back(answer); }, [this] { closed = true; }) {}

    Link link;
    std::vector<std::string> answers;
    bool closed = false;
    std::string says_it_is; // empty: it has not said which run it is
};

class Exchange {
public:
    // false: the input is over.
    bool step(fuzz::Bytes& input) {
        if (input.empty()) {
            return false;
        }
        const int kind = int(input.number(0, 5));
        const auto run = std::size_t(input.number(0, 1));
        const std::string name(1, char('a' + input.number(0, 2)));
        switch (kind) {
        case 0:
            claim(run, name);
            break;
        case 1:
            claim_at_once(name);
            break;
        case 2:
            _runs[run].names.give_up(name);
            if (const auto owner = _owners.find(name); owner != _owners.end() && owner->second == run) {
                _owners.erase(owner);
            }
            break;
        case 3:
            look_up(run, name);
            break;
        case 4:
            send(run, input);
            break;
        default:
            reconnect(run);
        }
        check_connected();
        return true;
    }

private:
    static std::string value_of(const std::string& name, std::size_t run) { return name + char('0' + run); }

    void turn() {
        _loop.post([this] { _loop.stop(); });
        _loop.run();
    }
    template <class Done>
    void wait_for(const Done& done) {
        const auto end = EventLoop::Clock::now() + std::chrono::seconds(20);
        while (!done()) {
            REQUIRE(EventLoop::Clock::now() < end);
            turn();
        }
    }

    void start_claim(std::size_t run, const std::string& name, int* calls, bool* own) {
        _runs[run].names.claim(name, value_of(name, run), [calls, own](const Status& status) {
            ++*calls;
            *own = bool(status);
        });
    }
    void claim(std::size_t run, const std::string& name) {
        int calls = 0;
        bool own = false;
        start_claim(run, name, &calls, &own);
        wait_for([&] { return calls > 0; });
        REQUIRE(own == !_owners.contains(name));
        if (own) {
            _owners[name] = run;
        }
        turn();
        REQUIRE(calls == 1);
    }
    // Of two that claim a name at once at most one gets it, and none if it has an owner.
    void claim_at_once(const std::string& name) {
        std::array<int, 2> calls{};
        std::array<bool, 2> own{};
        const bool was_free = !_owners.contains(name);
        for (std::size_t run = 0; run < 2; ++run) {
            start_claim(run, name, &calls[run], &own[run]);
        }
        wait_for([&] { return calls[0] > 0 && calls[1] > 0; });
        REQUIRE(!(own[0] && own[1]) && (was_free || (!own[0] && !own[1])));
        for (std::size_t run = 0; run < 2; ++run) {
            if (own[run]) {
                _owners[name] = run;
            }
        }
    }
    // Asks the others only.
    void look_up(std::size_t run, const std::string& name) {
        int calls = 0;
        std::optional<std::string> value;
        _runs[run].names.look_up(name, [&](std::optional<std::string> found) {
            ++calls;
            value = std::move(found);
        });
        wait_for([&] { return calls > 0; });
        const auto owner = _owners.find(name);
        const bool known = owner != _owners.end() && owner->second != run;
        REQUIRE(value == (known ? std::optional(value_of(name, owner->second)) : std::nullopt));
    }

    // Some messages at once. The last one is a question whose answer shows that the run has read all.
    void send(std::size_t run, fuzz::Bytes& input) {
        Stranger& from = *_strangers[run];
        from.answers.clear();
        _runs[run].received.clear();
        std::vector<std::string> answers;
        std::vector<std::string> received;
        bool closes = false;
        for (auto count = input.number(1, 3); count >= 0; --count) {
            std::string message = "L" + std::string(sizeof(std::uint64_t), '\0');
            if (count > 0) {
                message.resize(std::size_t(input.byte()));
                std::generate(message.begin(), message.end(), [&] { return char(input.byte()); });
            }
            from.link.send(message);
            if (!closes) {
                closes = !expect(run, message, answers, received);
            }
        }
        if (closes) {
            wait_for([&] { return from.closed; });
            REQUIRE(from.answers.size() <= answers.size());
            answers.resize(from.answers.size()); // the others were on their way
            _strangers[run] = std::make_unique<Stranger>(_loop, _runs[run]);
        } else {
            wait_for([&] { return from.closed || from.answers.size() >= answers.size(); });
            REQUIRE(!from.closed && from.answers == answers);
            turn();
        }
        REQUIRE(_runs[run].received == received);
    }
    // What a message of a stranger leads to. false: the run closes the connection.
    bool expect(std::size_t run, const std::string& message, std::vector<std::string>& answers,
        std::vector<std::string>& received) {
        if (message.empty() || std::strchr("LCR", message.front()) == nullptr || message.front() == '\0') {
            answers.emplace_back();
            return true;
        }
        if (message.front() == run_message_kind) {
            return expect_run_message(run, message, received);
        }
        constexpr std::size_t name_begin = 1 + sizeof(std::uint64_t);
        const auto owner = _owners.find(message.size() < name_begin ? "" : message.substr(name_begin));
        const bool known = owner != _owners.end() && owner->second == run;
        answers.push_back(!known ? "" : message.front() == 'L' ? "y" + value_of(owner->first, run) : "y");
        return true;
    }
    bool expect_run_message(std::size_t run, const std::string& message, std::vector<std::string>& received) {
        std::string& says_it_is = _strangers[run]->says_it_is;
        const std::optional<RunMessage> decoded = decode_run_message(message);
        const Hello* hello = decoded ? std::get_if<Hello>(&*decoded) : nullptr;
        if (says_it_is.empty()) {
            const Run& to = _runs[run];
            if (hello == nullptr || hello->run.empty() || hello->run == to.listener.file() ||
                hello->prefix == to.prefix) {
                return false;
            }
            says_it_is = hello->run;
        } else if (decoded && hello == nullptr && !is_answer(*decoded)) {
            received.push_back(message);
        }
        return true;
    }
    // To a question that nobody has asked.
    static bool is_answer(const RunMessage& message) {
        return std::visit(
            []<class T>(const T& m) {
                if constexpr (std::is_same_v<T, ConnectAnswer> || std::is_same_v<T, JobAnswer> ||
                    std::is_same_v<T, ModexAnswer> || std::is_same_v<T, GroupAnswer>) {
                    return m.token != 0;
                }
                return false;
            },
            message);
    }

    void reconnect(std::size_t run) {
        _strangers[run] = std::make_unique<Stranger>(_loop, _runs[run]);
        wait_for([&] { return _runs[run].links.connected().empty(); });
    }
    void check_connected() {
        for (std::size_t run = 0; run < 2; ++run) {
            const std::string& says_it_is = _strangers[run]->says_it_is;
            const std::vector<std::string> expected =
                says_it_is.empty() ? std::vector<std::string>() : std::vector{says_it_is};
            REQUIRE(_runs[run].links.connected() == expected);
        }
    }

    EventLoop _loop;
    std::array<Run, 2> _runs{Run(_loop, 1), Run(_loop, 2)};
    std::array<std::unique_ptr<Stranger>, 2> _strangers{
        std::make_unique<Stranger>(_loop, _runs[0]), std::make_unique<Stranger>(_loop, _runs[1])};
    std::map<std::string, std::size_t> _owners; // of the names: the run
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Directory directory;
    fuzz::Bytes input(data, size);
    Exchange exchange;
    for (int steps = 0; steps < 64 && exchange.step(input); ++steps) {
    }
    return 0;
}
