// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// cid/excid with simulated processes, each of which has an instance.
#include "components/cid/excid/excid.h"
#include "core/core.h"
#include "mpi/instance/instance.h"

#include "tests/comm/simulated_job.h"

#include <deque>
#include <map>
#include <set>
#include <string>

namespace patchbay::test {

constexpr int failure = 4711;

// A group reduction that fails at all members, when it starts or when it ends.
class FailingReduction final : public cid::GroupReduction {
public:
    explicit FailingReduction(bool at_once)
        : _at_once(at_once) {}
    int start(std::span<std::uint64_t>, Operation) noexcept override { return _at_once ? failure : MPI_SUCCESS; }
    bool ready() const noexcept override { return true; }
    bool advance(int* code) noexcept override {
        *code = failure;
        return true;
    }

private:
    bool _at_once;
};

struct Process {
    Process(Core& core, ProcessState& process_state)
        : instance(core, process_state, MPI_THREAD_SINGLE),
          module(with_tables(), cid::PgcidSource::bootstrap) {}
    Instance& with_tables() {
        instance.make_tables(threads);
        return instance;
    }
    ThreadLevelUpgrade threads{false};
    Instance instance;
    cid::ExcidModule module;
};

// One communicator in all processes.
struct Node {
    std::vector<std::size_t> members;                        // processes, by rank
    std::map<std::size_t, std::unique_ptr<Communicator>> of; // by process

    const cid::ExtendedId& id(std::size_t process) const { return *of.at(process)->id->extended_id(); }
    const cid::ExtendedId& id() const { return id(members.front()); }
};

// Keeps the exCID that a process without an index refuses.
class KeptRefusal final : public cid::RefusalSender {
public:
    void refuse(const cid::ExtendedId& id, int code) noexcept override {
        EXPECT_FALSE(refused) << "refused twice";
        EXPECT_EQ(code, MPI_ERR_NO_SPACE);
        refused = id;
    }
    std::optional<cid::ExtendedId> refused;
};

// The part of one process in a constructor.
struct Task {
    KeptRefusal refusal;
    std::unique_ptr<cid::GroupReduction> members;
    std::unique_ptr<cid::GroupReduction> whole;
    std::unique_ptr<cid::Allocation> allocation;
    bool begun = false;
    bool finished = false;
    int code = MPI_SUCCESS;

    void step() {
        if (!finished && allocation->ready() && allocation->advance(&code)) {
            finished = true;
            allocation.reset();
        }
    }
};

enum class Fault { none, start, end }; // where the group reduction over the parent fails

// The calls of one constructor by all processes that take part.
struct Call {
    Node* parent; // null: from a group
    Node* child;
    bool collective;
    Fault fault;
    std::map<std::size_t, Task> tasks; // by process
    Exchange* of_members;
    Exchange* of_whole;
};

class ExcidJob {
public:
    explicit ExcidJob(std::size_t count) {
        ParamSources places;
        auto core = Core::create({}, places, {});
        EXPECT_TRUE(core);
        _core = std::move(*core);
        for (std::size_t p = 0; p < count; ++p) {
            processes.push_back(std::make_unique<Process>(*_core, _process_state));
        }
    }
    ~ExcidJob() {
        calls.clear();
        for (auto& node : nodes) {
            for (auto& [process, comm] : node->of) {
                forget(process, *comm);
            }
        }
        for (auto& process : processes) {
            EXPECT_EQ(process->instance.communicators().live(), cid::IndexTable::predefined) << "indices are lost";
            EXPECT_EQ(process->instance.directory().size(), 0u);
        }
    }

    std::vector<std::size_t> all_processes() const {
        std::vector<std::size_t> all;
        for (std::size_t p = 0; p < processes.size(); ++p) {
            all.push_back(p);
        }
        return all;
    }

    // The parts of a constructor, none of which has begun. All members of the parent call it, or only the new members.
    Call& prepare(Node* parent, const std::vector<std::size_t>& members, bool collective, Fault fault = Fault::none) {
        nodes.push_back(std::make_unique<Node>());
        Node& child = *nodes.back();
        child.members = members;
        auto call = std::make_unique<Call>(Call{parent, &child, collective, fault, {}, nullptr, nullptr});
        call->of_members = exchange(members.size());
        call->of_whole = collective ? exchange(parent->members.size()) : nullptr;
        for (const std::size_t process : collective ? parent->members : members) {
            call->tasks[process];
        }
        calls.push_back(std::move(call));
        return *calls.back();
    }
    static Ref<Group> group_of(const Node& node, std::size_t self) {
        std::vector<ProcessId> ids;
        for (const std::size_t member : node.members) {
            ids.push_back({0, std::uint32_t(member)});
        }
        return Group::list(std::move(ids), {0, std::uint32_t(self)});
    }
    // May be called once the parent has its exCID in that process.
    void begin(Call& call, std::size_t process) {
        Task& task = call.tasks.at(process);
        task.begun = true;
        task.members = std::make_unique<SimulatedReduction>(*call.of_members);
        if (call.collective) {
            task.whole = call.fault == Fault::none
                ? std::unique_ptr<cid::GroupReduction>(std::make_unique<SimulatedReduction>(*call.of_whole))
                : std::make_unique<FailingReduction>(call.fault == Fault::start);
        }
        Communicator* parent = call.parent != nullptr ? call.parent->of.at(process).get() : nullptr;
        cid::ExcidModule& module = processes[process]->module;
        const auto rank = std::ranges::find(call.child->members, process) - call.child->members.begin();
        if (std::size_t(rank) == call.child->members.size()) {
            task.allocation = module.participate(*parent, *task.whole);
        } else {
            auto comm = std::make_unique<Communicator>();
            comm->instance = &processes[process]->instance;
            comm->rank = int(rank);
            comm->size = comm->remote_size = int(call.child->members.size());
            comm->group = group_of(*call.child, process);
            comm->remote_group = comm->group.get();
            const cid::NewCommunicator what{*comm, parent, *task.members, task.whole.get(), {}, &task.refusal};
            call.child->of[process] = std::move(comm);
            task.allocation = module.begin(what, &task.code);
        }
        task.finished = task.allocation == nullptr;
    }
    bool can_begin(const Call& call, std::size_t process) const {
        if (call.parent == nullptr) {
            return true;
        }
        const auto parent = call.parent->of.find(process);
        return parent != call.parent->of.end() && parent->second->id != nullptr;
    }
    Call& run(
        Node* parent, const std::vector<std::size_t>& members, bool collective = true, Fault fault = Fault::none) {
        Call& call = prepare(parent, members, collective, fault);
        for (auto& [process, task] : call.tasks) {
            begin(call, process);
        }
        finish(call);
        return call;
    }
    void finish(Call& call) {
        while (std::ranges::any_of(call.tasks, [](const auto& task) { return !task.second.finished; })) {
            for (auto& [process, task] : call.tasks) {
                task.step();
            }
        }
    }
    // Makes a communicator and checks that all members have it with one exCID, by which the directory finds it.
    Node& make(Node* parent, const std::vector<std::size_t>& members, bool collective = true) {
        Call& call = run(parent, members, collective);
        check(call);
        return *call.child;
    }
    Node& world() { return make(nullptr, all_processes(), false); }
    Node& dup(Node& parent) { return make(&parent, parent.members); }

    void check(const Call& call) {
        for (const auto& [process, task] : call.tasks) {
            EXPECT_TRUE(task.finished);
            EXPECT_EQ(task.code, MPI_SUCCESS);
        }
        for (const auto& [process, comm] : call.child->of) {
            ASSERT_NE(comm->id, nullptr);
            EXPECT_EQ(call.child->id(process), call.child->id()) << call.child->id(process).text();
            EXPECT_EQ(processes[process]->instance.directory().find(call.child->id()), comm.get());
            EXPECT_EQ(comm->id->peer_index(comm->rank), comm->index);
        }
        EXPECT_TRUE(_names.insert(call.child->id().text()).second) << call.child->id().text() << " was given twice";
    }
    void free(Node& node, std::size_t process) {
        forget(process, *node.of.at(process));
        node.of.erase(process);
    }
    std::uint64_t pgcids(std::size_t process) { return processes[process]->instance.cid_counters().pgcids.value(); }
    std::uint64_t rounds(std::size_t process) { return processes[process]->instance.cid_counters().rounds.value(); }

    std::vector<std::unique_ptr<Process>> processes;
    std::deque<std::unique_ptr<Node>> nodes;
    std::deque<std::unique_ptr<Call>> calls;

private:
    Exchange* exchange(std::size_t members) {
        _exchanges.push_back(std::make_unique<Exchange>(members));
        return _exchanges.back().get();
    }
    void forget(std::size_t process, Communicator& comm) {
        if (comm.id != nullptr) {
            Instance& instance = processes[process]->instance;
            instance.directory().unbind(*comm.id->extended_id());
            delete std::exchange(comm.id, nullptr);
            instance.communicators().release(comm.index);
        }
    }

    ProcessState _process_state; // shared, so that no two processes get the same number
    std::unique_ptr<Core> _core;
    std::deque<std::unique_ptr<Exchange>> _exchanges;
    std::set<std::string> _names;
};

} // namespace patchbay::test
