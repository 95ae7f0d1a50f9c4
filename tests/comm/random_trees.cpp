// SPDX-License-Identifier: BSD-3-Clause
// Random trees of communicators over random sets of processes: no message is received on another communicator than it
// was sent on. All processes draw the same random numbers, so that they make the same calls. A process sends as soon as
// it has the communicator, often before the receiver has it; the message is unexpected there until a receive matches
// it. With the argument "mixed" the cid component of each communicator is random, too.
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

int world_rank = 0;
int world_size = 0;

// A communicator in all processes; `comm` is MPI_COMM_NULL in processes that are not members.
struct Node {
    std::vector<int> members; // ranks in the world
    MPI_Comm comm;
    int label;
    std::vector<int> unreceived; // the senders of messages to this process that it has not received yet
};

constexpr int tag = 9; // of all messages: only the communicator differs
constexpr std::size_t short_words = 2;
constexpr std::size_t long_words = 20000; // more than any eager limit

bool contains(const std::vector<int>& members, int rank) {
    return std::find(members.begin(), members.end(), rank) != members.end();
}

class Forest {
public:
    Forest(unsigned seed, bool mixed)
        : _random(seed),
          _mixed(mixed),
          _own(seed * 1000u + unsigned(world_rank)) {
        std::vector<int> all(static_cast<std::size_t>(world_size));
        for (int rank = 0; rank < world_size; ++rank) {
            all[std::size_t(rank)] = rank;
        }
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &_session);
        MPI_Group_from_session_pset(_session, "mpi://WORLD", &_processes);
        MPI_Comm dup;
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        add(all, dup);
    }
    ~Forest() {
        while (!_nodes.empty()) {
            release(_nodes.size() - 1);
        }
        complete_sends();
        MPI_Group_free(&_processes);
        MPI_Session_finalize(&_session);
    }

    void step() {
        if (_own() % 8 == 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(_own() % 300));
        }
        const std::size_t parent = _random() % _nodes.size();
        switch (_random() % 11) {
        case 0:
        case 1:
            dup(parent);
            break;
        case 2:
            idup(parent, _random() % _nodes.size());
            break;
        case 3:
            split(parent);
            break;
        case 4:
            split_type(parent);
            break;
        case 5:
            create(parent);
            break;
        case 6:
            create_group(parent);
            break;
        case 7:
            create_from_group();
            break;
        case 8:
            split_and_merge(parent);
            break;
        default:
            if (_nodes.size() > 1) {
                release(_random() % _nodes.size());
            }
        }
    }

    // Sends some messages between random members of random communicators. check() receives them.
    void send_some() {
        for (int n = 0; n < 6; ++n) {
            Node& node = _nodes[n < 2 ? _nodes.size() - 1 : _random() % _nodes.size()];
            const std::size_t from = _random() % node.members.size();
            const std::size_t to = _random() % node.members.size();
            const unsigned kind = unsigned(_random() % 8);
            if (node.members[to] == world_rank) {
                node.unreceived.push_back(int(from));
            }
            if (node.members[from] == world_rank) {
                send(node, int(to), kind);
            }
        }
    }

    // Receives all messages, with the communicators and the senders in any order. MPI_ANY_SOURCE would be wrong here,
    // because other processes may be ahead and have sent later messages.
    void check() {
        std::vector<std::size_t> order(_nodes.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            order[i] = i;
        }
        std::shuffle(order.begin(), order.end(), _own);
        for (const std::size_t i : order) {
            std::shuffle(_nodes[i].unreceived.begin(), _nodes[i].unreceived.end(), _own);
            receive_all(_nodes[i], false);
        }
        complete_sends();
    }

private:
    // The info of the next communicator, which chooses the cid component.
    MPI_Info draw_info() {
        static const char* const names[] = {"consensus", "mask", "excid"};
        const unsigned choice = unsigned(_random() % 4);
        if (!_mixed || choice == 3) {
            return MPI_INFO_NULL;
        }
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "patchbay_cid", names[choice]);
        return info;
    }
    static void free_info(MPI_Info& info) {
        if (info != MPI_INFO_NULL) {
            MPI_Info_free(&info);
        }
    }

    void send(const Node& node, int to, unsigned kind) {
        const std::size_t words = kind == 0 ? long_words : short_words;
        auto& text = _texts.emplace_back(words, node.label);
        MPI_Request request;
        const auto call = kind == 1 ? MPI_Issend : MPI_Isend;
        CHECK(call(text.data(), int(words), MPI_INT, to, tag, node.comm, &request) == MPI_SUCCESS);
        _sends.push_back(request);
    }

    void receive_all(Node& node, bool from_any_source) {
        std::vector<int> text(long_words);
        for (; !node.unreceived.empty(); node.unreceived.pop_back()) {
            const int source = from_any_source ? MPI_ANY_SOURCE : node.unreceived.back();
            MPI_Status status;
            int words = 0;
            std::fill_n(text.begin(), short_words, -1);
            if (_own() % 3 == 0) {
                MPI_Message message;
                MPI_Mprobe(source, MPI_ANY_TAG, node.comm, &message, &status);
                MPI_Mrecv(text.data(), int(long_words), MPI_INT, &message, &status);
            } else {
                MPI_Recv(text.data(), int(long_words), MPI_INT, source, MPI_ANY_TAG, node.comm, &status);
            }
            MPI_Get_count(&status, MPI_INT, &words);
            CHECK(words == int(short_words) || words == int(long_words));
            CHECK(text.front() == node.label && text[std::size_t(words) - 1] == node.label);
        }
    }

    // One request after the other: one call must not have requests of the session and of the world.
    template <typename Requests>
    static void wait_for(Requests& requests) {
        for (MPI_Request& request : requests) {
            CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        }
    }

    void complete_sends() {
        wait_for(_sends);
        _sends.clear();
        _texts.clear();
    }

    void add(std::vector<int> members, MPI_Comm comm) {
        CHECK((comm != MPI_COMM_NULL) == contains(members, world_rank));
        _nodes.push_back({std::move(members), comm, _next_label++, {}});
    }

    void dup(std::size_t at) {
        MPI_Comm made = MPI_COMM_NULL;
        MPI_Info info = draw_info();
        if (_nodes[at].comm != MPI_COMM_NULL) {
            CHECK(MPI_Comm_dup_with_info(_nodes[at].comm, info, &made) == MPI_SUCCESS);
        }
        free_info(info);
        add(_nodes[at].members, made);
    }

    // Two duplicates at once; with different parents they begin in any order.
    void idup(std::size_t first, std::size_t second) {
        const std::size_t at[] = {first, second};
        MPI_Info infos[] = {draw_info(), draw_info()};
        MPI_Comm made[] = {MPI_COMM_NULL, MPI_COMM_NULL};
        MPI_Request requests[] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        const bool swapped = first != second && _own() % 2 == 0;
        for (int n = 0; n < 2; ++n) {
            const int i = swapped ? 1 - n : n;
            if (_nodes[at[i]].comm != MPI_COMM_NULL) {
                MPI_Comm_idup_with_info(_nodes[at[i]].comm, infos[i], &made[i], &requests[i]);
            }
        }
        wait_for(requests);
        for (int i = 0; i < 2; ++i) {
            free_info(infos[i]);
            add(_nodes[at[i]].members, made[i]);
        }
    }

    void split(std::size_t at) {
        const std::vector<int> members = _nodes[at].members;
        std::vector<std::vector<int>> parts(2);
        int color = MPI_UNDEFINED;
        for (const int member : members) {
            const unsigned choice = unsigned(_random() % 3); // 2: takes no part
            if (choice < 2) {
                parts[choice].push_back(member);
            }
            if (member == world_rank) {
                color = choice < 2 ? int(choice) : MPI_UNDEFINED;
            }
        }
        MPI_Comm made = MPI_COMM_NULL;
        if (_nodes[at].comm != MPI_COMM_NULL) {
            CHECK(MPI_Comm_split(_nodes[at].comm, color, 0, &made) == MPI_SUCCESS);
        }
        for (int part = 0; part < 2; ++part) {
            if (!parts[std::size_t(part)].empty()) {
                add(parts[std::size_t(part)], color == part ? made : MPI_COMM_NULL);
            }
        }
    }

    // Makes an intercommunicator between two halves, exchanges messages on it, and merges it to all members.
    void split_and_merge(std::size_t at) {
        const std::vector<int> members = _nodes[at].members;
        const std::size_t first = members.size() / 2;
        if (first == 0) {
            return;
        }
        MPI_Comm made = MPI_COMM_NULL;
        if (_nodes[at].comm != MPI_COMM_NULL) {
            MPI_Comm local;
            MPI_Comm inter;
            int rank = 0;
            MPI_Comm_rank(_nodes[at].comm, &rank);
            const bool high = std::size_t(rank) >= first;
            CHECK(MPI_Comm_split(_nodes[at].comm, high, 0, &local) == MPI_SUCCESS);
            CHECK(MPI_Intercomm_create(local, 0, _nodes[at].comm, high ? 0 : int(first), 5, &inter) == MPI_SUCCESS);
            exchange_across(inter, _next_label);
            CHECK(MPI_Intercomm_merge(inter, high, &made) == MPI_SUCCESS);
            CHECK(MPI_Comm_free(&inter) == MPI_SUCCESS);
            CHECK(MPI_Comm_free(&local) == MPI_SUCCESS);
        }
        add(members, made);
    }

    // Each process exchanges a message with each process of the other group.
    static void exchange_across(MPI_Comm inter, int label) {
        int remote_size = 0;
        MPI_Comm_remote_size(inter, &remote_size);
        std::vector<MPI_Request> requests(static_cast<std::size_t>(remote_size));
        for (int to = 0; to < remote_size; ++to) {
            MPI_Isend(&label, 1, MPI_INT, to, tag, inter, &requests[std::size_t(to)]);
        }
        for (int from = 0; from < remote_size; ++from) {
            int got = -1;
            MPI_Recv(&got, 1, MPI_INT, from, MPI_ANY_TAG, inter, MPI_STATUS_IGNORE);
            CHECK(got == label);
        }
        wait_for(requests);
    }

    // A random part of the members, and their ranks in the parent.
    std::vector<int> draw_members(std::size_t at, std::vector<int>& ranks) {
        std::vector<int> members;
        for (std::size_t i = 0; i < _nodes[at].members.size(); ++i) {
            if (_random() % 2 == 0) {
                members.push_back(_nodes[at].members[i]);
                ranks.push_back(int(i));
            }
        }
        return members;
    }

    // All processes of these tests are on one node.
    void split_type(std::size_t at) {
        std::vector<int> ranks;
        const std::vector<int> members = draw_members(at, ranks);
        MPI_Info info = draw_info();
        MPI_Comm made = MPI_COMM_NULL;
        if (_nodes[at].comm != MPI_COMM_NULL) {
            const int type = contains(members, world_rank) ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED;
            CHECK(MPI_Comm_split_type(_nodes[at].comm, type, 0, info, &made) == MPI_SUCCESS);
        }
        free_info(info);
        if (!members.empty()) {
            add(members, made);
        }
    }

    static MPI_Group part_of(MPI_Comm comm, const std::vector<int>& ranks) {
        MPI_Group all;
        MPI_Group group;
        MPI_Comm_group(comm, &all);
        MPI_Group_incl(all, int(ranks.size()), ranks.data(), &group);
        MPI_Group_free(&all);
        return group;
    }

    void create(std::size_t at) {
        std::vector<int> ranks;
        const std::vector<int> members = draw_members(at, ranks);
        if (members.empty()) {
            return;
        }
        MPI_Comm made = MPI_COMM_NULL;
        if (_nodes[at].comm != MPI_COMM_NULL) {
            MPI_Group group = part_of(_nodes[at].comm, ranks);
            CHECK(MPI_Comm_create(_nodes[at].comm, group, &made) == MPI_SUCCESS);
            MPI_Group_free(&group);
        }
        add(members, made);
    }

    void create_group(std::size_t at) {
        std::vector<int> ranks;
        const std::vector<int> members = draw_members(at, ranks);
        if (members.empty()) {
            return;
        }
        MPI_Comm made = MPI_COMM_NULL;
        if (contains(members, world_rank)) {
            MPI_Group group = part_of(_nodes[at].comm, ranks);
            CHECK(MPI_Comm_create_group(_nodes[at].comm, group, 5, &made) == MPI_SUCCESS);
            MPI_Group_free(&group);
        }
        add(members, made);
    }

    void create_from_group() {
        std::vector<int> ranks;
        const std::vector<int> members = draw_members(_random() % _nodes.size(), ranks);
        const std::string text = "tree " + std::to_string(_random() % 3);
        MPI_Info info = draw_info();
        MPI_Comm made = MPI_COMM_NULL;
        if (contains(members, world_rank)) {
            MPI_Group group;
            MPI_Group_incl(_processes, int(members.size()), members.data(), &group);
            CHECK(MPI_Comm_create_from_group(group, text.c_str(), info, MPI_ERRORS_ARE_FATAL, &made) == MPI_SUCCESS);
            MPI_Group_free(&group);
        }
        free_info(info);
        if (!members.empty()) {
            add(members, made);
        }
    }

    void release(std::size_t at) {
        receive_all(_nodes[at], true);
        if (_nodes[at].comm != MPI_COMM_NULL) {
            CHECK(MPI_Comm_free(&_nodes[at].comm) == MPI_SUCCESS);
        }
        _nodes.erase(_nodes.begin() + std::ptrdiff_t(at));
    }

    std::mt19937 _random; // the same numbers in all processes
    const bool _mixed;
    std::mt19937 _own; // this process's
    std::vector<Node> _nodes;
    int _next_label = 0;
    std::deque<std::vector<int>> _texts;
    std::vector<MPI_Request> _sends;
    MPI_Session _session;
    MPI_Group _processes;
};

} // namespace

namespace {

constexpr unsigned fixed_seeds = 5;
constexpr unsigned fresh_seeds = 5;

void grow(unsigned seed, bool mixed) {
    const int failures_before = check_failures;
    Forest forest(seed, mixed);
    for (int step = 1; step <= 60; ++step) {
        forest.step();
        forest.send_some();
        if (step % 12 == 0) {
            forest.check();
        }
    }
    if (check_failures != failures_before) {
        std::fprintf(stderr, "rank %d failed with seed=%u\n", world_rank, seed);
    }
}

// Rank 0 draws the seed for all processes; it differs from run to run.
unsigned first_fresh_seed() {
    unsigned seed = std::random_device()() % 1'000'000'000 + fixed_seeds + 1;
    MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    return seed;
}

} // namespace

// Arguments: mixed, seed=N (only this tree).
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    bool mixed = false;
    const char* only = nullptr;
    for (int i = 1; i < argc; ++i) {
        mixed = mixed || std::strcmp(argv[i], "mixed") == 0;
        only = std::strncmp(argv[i], "seed=", 5) == 0 ? argv[i] + 5 : only;
    }
    if (only != nullptr) {
        grow(unsigned(std::strtoul(only, nullptr, 10)), mixed);
    } else {
        for (unsigned seed = 1; seed <= fixed_seeds; ++seed) {
            grow(seed, mixed);
        }
        const unsigned fresh = first_fresh_seed();
        if (world_rank == 0) { // before the trees are made, so that a job that hangs has printed the seeds
            std::fprintf(
                stderr, "fresh seeds %u to %u; repeat one with the argument seed=N\n", fresh, fresh + fresh_seeds - 1);
        }
        for (unsigned seed = fresh; seed < fresh + fresh_seeds; ++seed) {
            grow(seed, mixed);
        }
    }
    MPI_Finalize();
    return failures();
}
