// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/threads/activation.h"

#include "core/progress/waiter.h"

#include <algorithm>
#include <limits>
#include <thread>

namespace patchbay::threads {

namespace {
// Descriptors of other transports cannot wake a thread, which sleeps on the bell of the process.
constexpr std::chrono::milliseconds longest_sleep_with_others{5};
} // namespace

Activation::Activation(int threads)
    : _threads(std::size_t(threads)),
      _engines(std::size_t(threads), nullptr),
      _error(MPI_SUCCESS),
      _result(MPI_SUCCESS) {}

bool Activation::join(int* number) noexcept {
    *number = _joined.fetch_add(1, std::memory_order_relaxed);
    return *number < threads();
}

int Activation::joined() const noexcept {
    return std::min(_joined.load(std::memory_order_relaxed), threads());
}

void Activation::make_engine(int number, std::shared_ptr<ThreadContext> context, Carrier* carrier) {
    Thread& thread = _threads[std::size_t(number)];
    thread.context = std::move(context);
    thread.carrier = carrier;
    thread.process_polls = &process_polls;
    Progress& progress = thread.context->progress();
    thread.engine = std::make_unique<Engine>(progress, carrier, number, threads());
    thread.poller = progress.add_poller(&Activation::poll, &thread,
        thread.context->shares_bell() || carrier != nullptr ? std::chrono::nanoseconds(longest_sleep_with_others)
                                                            : sleeps_well);
    _engines[std::size_t(number)] = thread.engine.get();
}

void Activation::drop_engine(int number) noexcept {
    Thread& thread = _threads[std::size_t(number)];
    thread.poller.reset();
    if (thread.engine == nullptr) { // no memory
        return;
    }
    thread.engine->close(); // it exists as long as the others, which may refer to its cells
}

int Activation::poll(void* context) noexcept {
    Thread& thread = *static_cast<Thread*>(context);
    int events = thread.engine->poll();
    if (thread.carrier != nullptr) {
        events += thread.carrier->poll(*thread.engine);
    } else if (events == 0 && thread.context->shares_bell()) {
        events = thread.process_polls->poll(thread.context->process_progress());
    }
    return events;
}

std::uint32_t Activation::take_context() noexcept {
    const std::uint64_t own = _contexts.fetch_add(1, std::memory_order_relaxed) + 1;
    const std::uint64_t context = own * std::uint64_t(process_count) + std::uint64_t(process);
    return context <= std::numeric_limits<std::uint32_t>::max() ? std::uint32_t(context) : 0;
}

bool Activation::is_last_to_be_ready() noexcept {
    return _ready.fetch_add(1, std::memory_order_acq_rel) + 1 == threads();
}

bool Activation::claim_start() noexcept {
    State before = State::gathering;
    return _state.compare_exchange_strong(before, State::claimed, std::memory_order_acq_rel);
}

void Activation::started() noexcept {
    _state.store(State::started, std::memory_order_release);
    wake_all();
}

void Activation::refuse(int code) noexcept {
    int none = MPI_SUCCESS;
    _refused.compare_exchange_strong(none, code, std::memory_order_acq_rel);
}

bool Activation::give_up() noexcept {
    State before = State::gathering;
    if (_state.compare_exchange_strong(before, State::given_up, std::memory_order_acq_rel)) {
        if (_ready.load(std::memory_order_acquire) == threads()) { // otherwise contexts are being made
            wake_all();
        }
        return true;
    }
    return before == State::given_up;
}

bool Activation::is_decided() const noexcept {
    const State state = _state.load(std::memory_order_acquire);
    return state == State::started || state == State::given_up;
}

bool Activation::wait_for_start(int number, std::chrono::nanoseconds limit) noexcept {
    using Clock = std::chrono::steady_clock;
    const auto decided = [this] { return is_decided(); };
    if (_engines[std::size_t(number)] == nullptr) { // no memory: nothing wakes this thread, and nothing is to be polled
        for (const auto begin = Clock::now(); !decided() && Clock::now() - begin < limit;) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return decided() ? _state.load(std::memory_order_acquire) == State::started : !give_up();
    }
    Progress& progress = _threads[std::size_t(number)].context->progress();
    if (!wait_for(progress, limit, decided)) {
        if (give_up()) {
            return false;
        }
        wait_until(progress, decided); // the last thread has come meanwhile
    }
    return _state.load(std::memory_order_acquire) == State::started;
}

std::shared_ptr<coll::ThreadTeam> Activation::join_team(std::uint32_t context, const Members& members) {
    std::vector<int> ranks; // in this process
    std::vector<int> leaders;
    std::vector<int> processes(members.size());
    std::vector<int> position(std::size_t(process_count), -1); // of the leader of each process
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
        const Member& member = members[rank];
        int& of_process = position[std::size_t(member.process)];
        if (of_process < 0) {
            of_process = int(leaders.size());
            leaders.push_back(int(rank));
        }
        processes[rank] = of_process;
        if (member.engine != nullptr) {
            ranks.push_back(int(rank));
        }
    }
    const int first = members[std::size_t(ranks.front())].thread;
    const std::lock_guard lock(_teams_mutex);
    auto found = std::find_if(_teams.begin(), _teams.end(),
        [&](const Gathering& one) { return one.context == context && one.first == first; });
    if (found == _teams.end()) {
        std::vector<Progress*> progress;
        progress.reserve(ranks.size());
        for (const int rank : ranks) {
            progress.push_back(&_threads[std::size_t(members[std::size_t(rank)].thread)].context->progress());
        }
        const int count = int(ranks.size());
        _teams.push_back({context, first, count,
            std::make_shared<coll::ThreadTeam>(
                std::move(progress), std::move(ranks), std::move(leaders), std::move(processes))});
        found = std::prev(_teams.end());
    }
    std::shared_ptr<coll::ThreadTeam> team = found->team;
    if (--found->missing == 0) {
        _teams.erase(found);
    }
    return team;
}

std::shared_ptr<coll::ThreadTeam> View::team() const {
    return activation->join_team(context, *members);
}

bool Activation::gather(int number, int* code) noexcept {
    if (int none = MPI_SUCCESS; *code != MPI_SUCCESS) {
        _error.compare_exchange_strong(none, *code, std::memory_order_acq_rel);
    }
    const std::uint32_t round = _round.load(std::memory_order_acquire);
    if (_gathered.fetch_add(1, std::memory_order_acq_rel) + 1 == threads()) {
        *code = _error.load(std::memory_order_acquire);
        return true;
    }
    wait_until(_threads[std::size_t(number)].context->progress(),
        [this, round] { return _round.load(std::memory_order_acquire) != round; });
    *code = _result;
    return false;
}

void Activation::release(int code) noexcept {
    _result = code;
    _error.store(MPI_SUCCESS, std::memory_order_relaxed);
    _gathered.store(0, std::memory_order_relaxed);
    _round.fetch_add(1, std::memory_order_acq_rel);
    wake_all(); // the contexts exist as long as this object, which the caller keeps
}

void Activation::wake_all() noexcept {
    for (const Thread& thread : _threads) {
        if (thread.context != nullptr) { // no memory
            thread.context->progress().doorbell().notify();
        }
    }
}

} // namespace patchbay::threads
