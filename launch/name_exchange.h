// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "launch/event_loop.h"
#include "launch/link.h"
#include "launch/user_listener.h"

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::launch {

// The names of services that are known to all mpirun of one user on this machine. Each mpirun has those that its own
// processes have published, and answers the questions of the others at a socket (user_socket.h); there is no process
// that has all. Used in the event loop's thread only; no function waits.
class NameExchange {
public:
    // The listener listens when the first name is claimed.
    NameExchange(EventLoop& loop, UserListener& listener);

    // Makes the name known. `done` is called once, maybe within this call: without an error; invalid: this or another
    // mpirun has the name; system: there can be no socket. Of several mpirun that claim a name at once at most one gets
    // it.
    using Claimed = std::function<void(const Status&)>;
    void claim(const std::string& name, std::string value, Claimed done);
    void give_up(const std::string& name) { _names.erase(name); }

    // Asks all other mpirun. `found` is called once, maybe within this call; nullopt: none of them has the name. One
    // that does not answer within a second is taken to have none.
    using Found = std::function<void(std::optional<std::string>)>;
    void look_up(const std::string& name, Found found);

private:
    struct Name {
        std::string value;
        std::uint64_t claim = 0; // of several claims at once the one with the lowest number has precedence
        bool known = false;      // to others; until then this mpirun asks them
        bool lost = false;       // another one has asked meanwhile, whose claim has precedence
    };
    // A question to all other mpirun. An answer is empty, or begins with `yes`.
    struct Inquiry {
        std::list<std::unique_ptr<Link>> others;
        std::size_t missing = 0; // answers
        std::string answer;
        std::optional<EventLoop::TimerId> timer;
        std::function<void(std::string answer)> done;
    };
    using Inquiries = std::list<Inquiry>;

    void claimed(const std::string& name, std::uint64_t claim, bool taken, const Claimed& done);
    std::string answer(std::string_view question);
    void ask(const std::string& question, std::function<void(std::string)> done);
    void answered(Inquiries::iterator inquiry, std::string_view answer);
    void finish(Inquiries::iterator inquiry);

    EventLoop& _loop;
    UserListener& _listener;
    std::map<std::string, Name, std::less<>> _names;
    Inquiries _inquiries;
};

} // namespace patchbay::launch
