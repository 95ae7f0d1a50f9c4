// SPDX-License-Identifier: BSD-3-Clause
// cid/excid with simulated processes: the exCIDs of children of all kinds, in any order of progress, and the state of
// the other processes when one process fails.
#include "tests/comm/simulated_excid_job.h"

#include <new>

using namespace patchbay;
using namespace patchbay::test;

static bool memory_is_out = false; // operator new with std::nothrow returns nullptr

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return memory_is_out ? nullptr : ::operator new(size);
}

namespace {

std::uint64_t field(const cid::ExtendedId& id, int number) {
    return id.fields >> (8 * number) & 0xff;
}

} // namespace

TEST(excid, children_need_no_group_reduction) {
    ExcidJob job(3);
    Node& world = job.world();
    EXPECT_EQ(job.rounds(1), 1u);
    for (std::uint64_t n = 1; n <= 10; ++n) {
        Node& child = job.dup(world);
        EXPECT_EQ(child.id().pgcid, world.id().pgcid);
        EXPECT_EQ(field(child.id(), 7), n);
        Node& grandchild = job.dup(child);
        EXPECT_EQ(field(grandchild.id(), 7), n);
        EXPECT_EQ(field(grandchild.id(), 6), 1u);
    }
    EXPECT_EQ(job.rounds(1), 1u);
}

TEST(excid, each_process_has_an_index_of_its_own) {
    ExcidJob job(2);
    Node& world = job.world();
    for (std::uint32_t index = 4; index < 40; ++index) {
        job.processes[1]->instance.communicators().reserve(index);
    }
    Node& child = job.dup(world);
    EXPECT_EQ(child.of[0]->index, 4);
    EXPECT_EQ(child.of[1]->index, 40);
    EXPECT_EQ(child.of[0]->id->peer_index(1), std::nullopt);
    child.of[0]->id->learned(1, 40);
    EXPECT_EQ(child.of[0]->id->peer_index(1), 40);
    for (std::uint32_t index = 4; index < 40; ++index) {
        job.processes[1]->instance.communicators().release(index);
    }
}

TEST(excid, a_new_pgcid_after_255_children) {
    ExcidJob job(2);
    Node& world = job.world();
    for (int n = 0; n < 255 + 255 + 1; ++n) {
        Node& child = job.dup(world);
        EXPECT_EQ(child.id().pgcid == world.id().pgcid, n < 255);
        EXPECT_EQ(field(child.id(), 7), std::uint64_t(n % 255 + 1));
        EXPECT_EQ(job.pgcids(0), n < 255 ? 1u : n < 510 ? 2u : 3u);
        job.free(child, 0); // the exCID of a freed communicator is not used again
        job.free(child, 1);
    }
}

TEST(excid, a_new_pgcid_at_depth_8) {
    ExcidJob job(2);
    Node* node = &job.world();
    const std::uint64_t first = node->id().pgcid;
    for (int depth = 1; depth <= 20; ++depth) {
        node = &job.dup(*node);
        EXPECT_EQ(node->id().pgcid == first, depth <= 7) << "depth " << depth;
        EXPECT_EQ(job.pgcids(1), 1u + unsigned(depth - 1) / 7)
            << "depth " << depth; // a PGCID has exCIDs for 7 generations
    }
}

// MPI_Comm_split leaves one process out: non-member participation advances its child number as well.
TEST(excid, non_members_advance_the_child_number) {
    ExcidJob job(3);
    Node& world = job.world();
    for (int n = 0; n < 600; ++n) { // two new PGCIDs, in whose reduction non-members take part
        const std::size_t left_out = std::size_t(n) % 3;
        std::vector<std::size_t> members = job.all_processes();
        std::erase(members, left_out);
        const Call& call = job.run(&world, members);
        job.check(call);
        EXPECT_EQ(call.child->of.count(left_out), 0u);
        EXPECT_EQ(job.pgcids(left_out), n < 255 ? 1u : n < 510 ? 2u : 3u);
        for (const std::size_t process : members) {
            job.free(*call.child, process);
        }
    }
}

TEST(excid, create_group_takes_a_pgcid_of_its_own) {
    ExcidJob job(4);
    Node& world = job.world();
    Node& pair = job.make(&world, {3, 1}, false);
    EXPECT_NE(pair.id().pgcid, world.id().pgcid);
    EXPECT_EQ(job.rounds(0), 1u); // a process outside of the group takes no part
    Node& child = job.dup(world); // and the group uses none of the child numbers
    EXPECT_EQ(field(child.id(), 7), 1u);
}

// All calls of a block wait for the call that gets the PGCID of the block, in any order of progress.
TEST(excid, later_calls_wait_for_the_new_pgcid) {
    ExcidJob job(2);
    Node& world = job.world();
    for (int n = 0; n < 255; ++n) {
        job.dup(world);
    }
    Call& renews = job.prepare(&world, world.members, true);
    Call& waits = job.prepare(&world, world.members, true);
    for (const std::size_t process : {0u, 1u}) {
        job.begin(renews, process);
        job.begin(waits, process);
        EXPECT_FALSE(waits.tasks.at(process).finished);
        EXPECT_FALSE(waits.tasks.at(process).allocation->ready());
    }
    job.finish(renews);
    job.finish(waits);
    job.check(renews);
    job.check(waits);
    EXPECT_EQ(field(waits.child->id(), 7), 2u);
}

// The other members get no message about the failure, and all child numbers advance.
TEST(excid, no_memory_at_one_process) {
    ExcidJob job(2);
    Node& world = job.world();
    for (int n = 0; n < 255; ++n) {
        job.dup(world);
    }
    Call& renews = job.prepare(&world, world.members, true);
    Call& fails = job.prepare(&world, world.members, true);
    job.begin(renews, 0);
    job.begin(renews, 1);
    job.begin(fails, 0);
    memory_is_out = true;
    job.begin(fails, 1);
    memory_is_out = false;
    job.finish(renews);
    job.finish(fails);
    EXPECT_EQ(fails.tasks.at(0).code, MPI_SUCCESS);
    EXPECT_EQ(fails.tasks.at(1).code, MPI_ERR_NO_MEM);
    EXPECT_EQ(field(job.dup(world).id(), 7), 3u);
}

TEST(excid, no_memory_for_a_new_pgcid) {
    for (const bool non_member : {false, true}) {
        ExcidJob job(2);
        Node& world = job.world();
        for (int n = 0; n < 255; ++n) {
            job.dup(world);
        }
        Call& renews = job.prepare(&world, non_member ? std::vector<std::size_t>{0} : world.members, true);
        Call& waits = job.prepare(&world, world.members, true);
        memory_is_out = true;
        job.begin(renews, 1);
        memory_is_out = false;
        EXPECT_EQ(renews.tasks.at(1).code, non_member ? MPI_SUCCESS : MPI_ERR_NO_MEM);
        job.begin(waits, 1);
        EXPECT_TRUE(waits.tasks.at(1).finished) << "it waits for a PGCID that no process gets";
        EXPECT_EQ(waits.tasks.at(1).code, MPI_ERR_NO_MEM);
    }
}

// A CID allocation that is destroyed before its end releases the index that it has reserved.
TEST(excid, a_destroyed_allocation_releases_its_index) {
    ExcidJob job(2);
    Node& group = job.world();
    const std::uint32_t live = job.processes[0]->instance.communicators().live();
    Call& call = job.prepare(&group, {0, 1}, false);
    job.begin(call, 0);
    EXPECT_EQ(job.processes[0]->instance.communicators().live(), live + 1);
    call.tasks.at(0).allocation.reset();
    EXPECT_EQ(job.processes[0]->instance.communicators().live(), live);
}

TEST(excid, without_a_pgcid_one_block_fails_and_the_next_succeeds) {
    for (const Fault fault : {Fault::start, Fault::end}) {
        ExcidJob job(2);
        Node& world = job.world();
        for (int n = 0; n < 255; ++n) {
            job.dup(world);
        }
        const std::uint32_t live = job.processes[1]->instance.communicators().live();
        for (int n = 0; n < 255; ++n) {
            std::vector<std::size_t> members = world.members;
            if (n % 2 == 1) {
                std::erase(members, 1); // process 1 takes part as a non-member and gets no error
            }
            const Call& call = job.run(&world, members, true, n == 0 ? fault : Fault::none);
            for (const auto& [process, task] : call.tasks) {
                const bool non_member = std::ranges::find(members, process) == members.end();
                EXPECT_EQ(task.code, non_member ? MPI_SUCCESS : failure) << "call " << n;
            }
        }
        EXPECT_EQ(job.processes[1]->instance.communicators().live(), live);
        EXPECT_EQ(field(job.dup(world).id(), 7), 1u);
    }
}

// The process without a free index gets an error, and refuses the exCID that the others have; all child numbers
// advance.
TEST(excid, no_index_left_at_one_process) {
    ExcidJob job(2);
    Node& world = job.world();
    for (int n = 0; n < 254; ++n) {
        job.dup(world);
    }
    cid::IndexTable& full = job.processes[1]->instance.communicators();
    std::vector<std::uint32_t> taken;
    while (const auto index = full.reserve_lowest(0)) {
        taken.push_back(*index);
    }
    for (int n = 254; n < 258; ++n) { // one needs a new PGCID, and the process without an index takes part in that
        const Call& call = job.run(&world, world.members);
        EXPECT_EQ(call.tasks.at(0).code, MPI_SUCCESS);
        EXPECT_EQ(call.tasks.at(1).code, MPI_ERR_NO_SPACE);
        EXPECT_EQ(call.tasks.at(1).refusal.refused, call.child->id(0)) << "call " << n;
    }
    // Nonblocking constructors that wait for the PGCID of an earlier one: the refusals wait for it too.
    for (int n = 258; n < 508; ++n) {
        EXPECT_EQ(job.run(&world, world.members).tasks.at(1).refusal.refused.has_value(), true);
    }
    std::vector<Call*> calls;
    for (int n = 508; n < 512; ++n) {
        calls.push_back(&job.prepare(&world, world.members, true));
        job.begin(*calls.back(), 1);
        job.begin(*calls.back(), 0);
    }
    for (Call* call : calls) {
        job.finish(*call);
        EXPECT_EQ(call->tasks.at(1).code, MPI_ERR_NO_SPACE);
        EXPECT_EQ(call->tasks.at(1).refusal.refused, call->child->id(0));
    }
    for (const std::uint32_t index : taken) {
        full.release(index);
    }
    EXPECT_EQ(field(job.dup(world).id(), 7), 3u);
}

namespace {

// Prepares calls of all kinds on random communicators without beginning one. Each result may be the parent of a later
// call.
void plan_tree(ExcidJob& job, std::size_t calls, std::mt19937& random) {
    job.prepare(nullptr, job.all_processes(), false);
    while (job.calls.size() < calls) {
        // Half of the calls have the first communicator as parent, so that it needs new PGCIDs.
        const std::size_t candidates = random() % 2 == 0 ? 1 : job.nodes.size();
        Node& parent = *job.nodes[random() % candidates];
        std::vector<std::size_t> some = parent.members;
        std::ranges::shuffle(some, random);
        some.resize(1 + random() % some.size());
        const unsigned kind = random() % 8;
        job.prepare(&parent, kind < 3 ? some : parent.members, kind != 0);
    }
}

// Advances calls that one process has begun: all of them, or one of the last 20.
void advance_some(ExcidJob& job, std::size_t process, std::size_t begun, std::mt19937& random) {
    const std::size_t from = random() % 16 == 0 ? 0 : begun - std::min<std::size_t>(begun, 1 + random() % 20);
    const std::size_t to = from == 0 ? begun : from + 1;
    for (std::size_t n = from; n < to; ++n) {
        if (const auto task = job.calls[n]->tasks.find(process); task != job.calls[n]->tasks.end()) {
            task->second.step();
        }
    }
}

// Each process begins its calls in the common order, as soon as their parent exists, and advances them in any order.
bool run_at_random(ExcidJob& job, std::mt19937& random, std::size_t most_steps) {
    std::vector<std::size_t> begun(job.processes.size());
    const auto is_done = [&](std::size_t process) {
        return begun[process] == job.calls.size() && std::ranges::all_of(job.calls, [&](const auto& call) {
            const auto task = call->tasks.find(process);
            return task == call->tasks.end() || task->second.finished;
        });
    };
    for (std::size_t steps = 0; steps < most_steps; ++steps) {
        if (steps % 256 == 0 && std::ranges::all_of(job.all_processes(), is_done)) {
            return true;
        }
        const std::size_t process = random() % begun.size();
        std::size_t& next = begun[process];
        if (next == job.calls.size() || random() % 2 == 0) {
            advance_some(job, process, next, random);
        } else if (!job.calls[next]->tasks.contains(process)) {
            ++next;
        } else if (job.can_begin(*job.calls[next], process)) {
            job.begin(*job.calls[next++], process);
        }
    }
    return false;
}

} // namespace

TEST(excid, random_trees_in_any_order_of_progress) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        std::mt19937 random(seed);
        ExcidJob job(4);
        plan_tree(job, 600, random);
        ASSERT_TRUE(run_at_random(job, random, 1000000)) << "seed " << seed;
        std::map<std::size_t, std::set<std::uint16_t>> indices;
        for (const auto& call : job.calls) {
            job.check(*call);
            for (const auto& [process, comm] : call->child->of) {
                EXPECT_TRUE(indices[process].insert(comm->index).second) << "seed " << seed;
            }
        }
        EXPECT_GT(job.pgcids(0), 2u) << "the tree has never come to a renewal";
    }
}
