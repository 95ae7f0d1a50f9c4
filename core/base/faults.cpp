// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/faults.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace patchbay {

namespace {

std::array<std::atomic<FaultUser>, 4> users;

// One of the two signals, and what the program had installed for it.
struct Handled {
    int signal;
    struct sigaction before = {};
    std::atomic<bool> spent{false}; // SA_RESETHAND: the handler of the program has been called
    bool installed = false;
};
std::array<Handled, 2> all_handled = {Handled{SIGSEGV}, Handled{SIGBUS}};

// Whatever sa_flags says: sa_handler and sa_sigaction are the same memory.
bool is_function(const struct sigaction& action) noexcept {
    return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

// Whether an instruction is the cause, and causes the signal again when it is repeated.
bool repeats(const siginfo_t& info) noexcept {
    return info.si_code > 0 && !(info.si_signo == SIGBUS && info.si_code == BUS_MCEERR_AO);
}

// The default effect takes place when this function returns. It is also that of a fault of an ignored signal.
void take_default(int signal, const siginfo_t& info) noexcept {
    struct sigaction none = {};
    none.sa_handler = SIG_DFL;
    ::sigaction(signal, &none, nullptr);
    if (!repeats(info)) {
        ::raise(signal); // blocked at most until the handler returns
    }
}

void pass_on(Handled& handled, siginfo_t* info, void* context) noexcept {
    const struct sigaction& before = handled.before;
    const bool spent = (before.sa_flags & SA_RESETHAND) != 0 && handled.spent.exchange(true);
    if (!is_function(before) || spent) {
        if (repeats(*info) || spent || before.sa_handler == SIG_DFL) {
            take_default(handled.signal, *info);
        }
    } else if ((before.sa_flags & SA_SIGINFO) != 0) {
        before.sa_sigaction(handled.signal, info, context);
    } else {
        before.sa_handler(handled.signal);
    }
}

bool asks_users(siginfo_t* info, void* context) noexcept {
    return std::ranges::any_of(users, [&](const std::atomic<FaultUser>& one) {
        const FaultUser user = one.load(std::memory_order_acquire);
        return user != nullptr && user(info, context);
    });
}

void on_fault(int signal, siginfo_t* info, void* context) noexcept {
    const int code = errno;
    const bool done = info->si_code > 0 && asks_users(info, context);
    errno = code;
    if (!done) {
        pass_on(all_handled[signal == SIGSEGV ? 0 : 1], info, context);
    }
}

bool is_ours(const struct sigaction& action) noexcept {
    return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_fault;
}

// The kernel blocks signals and chooses the stack for this handler as it did for that of the program.
struct sigaction action_in_place_of(const struct sigaction& before) noexcept {
    struct sigaction action = {};
    if (is_function(before)) {
        action = before;
        action.sa_flags &= ~SA_RESETHAND;
        action.sa_flags |= SA_SIGINFO;
    } else {
        sigemptyset(&action.sa_mask);
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER;
    }
    action.sa_sigaction = on_fault;
    return action;
}

Status install(Handled& handled) noexcept {
    struct sigaction current = {};
    if (::sigaction(handled.signal, nullptr, &current) != 0) {
        return Error{Errc::system, std::strerror(errno)};
    }
    if (is_ours(current) || (handled.installed && is_function(current))) {
        return {}; // a handler that has replaced it may call it
    }
    handled.before = current;
    handled.spent.store(false);
    const struct sigaction action = action_in_place_of(current);
    if (::sigaction(handled.signal, &action, nullptr) != 0) {
        return Error{Errc::system, std::strerror(errno)};
    }
    handled.installed = true;
    return {};
}

void remove(Handled& handled) noexcept {
    struct sigaction current = {};
    if (!handled.installed || ::sigaction(handled.signal, nullptr, &current) != 0 || !is_ours(current)) {
        return;
    }
    if (handled.spent.load()) {
        handled.before.sa_flags = 0;
        handled.before.sa_handler = SIG_DFL;
    }
    ::sigaction(handled.signal, &handled.before, nullptr);
    handled.installed = false;
}

} // namespace

Status handle_faults(FaultUser user) noexcept {
    const auto free = std::ranges::find(users, nullptr, [](const auto& one) { return one.load(); });
    if (free == users.end()) {
        return Error{Errc::invalid, "too many parts of the library handle faults"};
    }
    free->store(user, std::memory_order_release);
    for (Handled& handled : all_handled) {
        if (Status installed = install(handled); !installed) {
            stop_handling_faults(user);
            return installed;
        }
    }
    return {};
}

bool faults_reach_users() noexcept {
    struct sigaction current = {};
    return ::sigaction(SIGSEGV, nullptr, &current) == 0 && is_ours(current);
}

void stop_handling_faults(FaultUser user) noexcept {
    for (std::atomic<FaultUser>& one : users) {
        if (one.load() == user) {
            one.store(nullptr, std::memory_order_release);
        }
    }
    if (std::ranges::all_of(users, [](const auto& one) { return one.load() == nullptr; })) {
        for (Handled& handled : all_handled) {
            remove(handled);
        }
    }
}

} // namespace patchbay
