// SPDX-License-Identifier: BSD-3-Clause
// Random trees of communicators over random sets of processes: two live communicators never see each other's messages.
// All processes draw the same random numbers, so that they agree on what to do next.
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <random>
#include <vector>

namespace {

int world_rank = 0;
int world_size = 0;

// A live communicator as all processes know it; `comm` is MPI_COMM_NULL in those that do not belong to it.
struct Node {
    std::vector<int> members; // ranks in the world
    MPI_Comm comm;
    int id;
};

bool contains(const std::vector<int>& members, int rank) {
    return std::find(members.begin(), members.end(), rank) != members.end();
}

class Forest {
public:
    explicit Forest(unsigned seed) : _random(seed) {
        std::vector<int> all(static_cast<std::size_t>(world_size));
        for (int rank = 0; rank < world_size; ++rank) {
            all[std::size_t(rank)] = rank;
        }
        MPI_Comm dup;
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        add(all, dup);
    }

    void step() {
        const std::size_t parent = _random() % _nodes.size();
        switch (_random() % 4) {
        case 0:
            dup(parent);
            break;
        case 1:
            split(parent);
            break;
        case 2:
            create_group(parent);
            break;
        default:
            if (_nodes.size() > 1) {
                release(_random() % _nodes.size());
            }
        }
    }

    // Everybody sends its neighbour on every communicator a message that names it, all with one tag, and receives them
    // in another order from anybody.
    void check() {
        std::vector<std::size_t> order(_nodes.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            order[i] = i;
        }
        std::vector<MPI_Request> requests;
        std::vector<int> ids(_nodes.size());
        for (const std::size_t i : order) {
            ids[i] = _nodes[i].id;
            if (_nodes[i].comm != MPI_COMM_NULL) {
                requests.push_back(send(_nodes[i].comm, &ids[i]));
            }
        }
        std::shuffle(order.begin(), order.end(), _random);
        for (const std::size_t i : order) {
            if (_nodes[i].comm == MPI_COMM_NULL) {
                continue;
            }
            int id = -1;
            MPI_Recv(&id, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, _nodes[i].comm, MPI_STATUS_IGNORE);
            CHECK(id == _nodes[i].id);
        }
        MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    }

    void clear() {
        while (!_nodes.empty()) {
            release(_nodes.size() - 1);
        }
    }

private:
    static MPI_Request send(MPI_Comm comm, const int* id) {
        int rank = 0;
        int size = 0;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        MPI_Request request;
        MPI_Isend(id, 1, MPI_INT, (rank + 1) % size, 9, comm, &request);
        return request;
    }

    void add(std::vector<int> members, MPI_Comm comm) {
        CHECK((comm != MPI_COMM_NULL) == contains(members, world_rank));
        _nodes.push_back({std::move(members), comm, _next_id++});
    }

    void dup(std::size_t at) {
        MPI_Comm made = MPI_COMM_NULL;
        if (_nodes[at].comm != MPI_COMM_NULL) {
            MPI_Comm_dup(_nodes[at].comm, &made);
        }
        add(_nodes[at].members, made);
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
            MPI_Comm_split(_nodes[at].comm, color, 0, &made);
        }
        for (int part = 0; part < 2; ++part) {
            if (!parts[std::size_t(part)].empty()) {
                add(parts[std::size_t(part)], color == part ? made : MPI_COMM_NULL);
            }
        }
    }

    void create_group(std::size_t at) {
        std::vector<int> members;
        std::vector<int> ranks; // in the parent
        for (std::size_t i = 0; i < _nodes[at].members.size(); ++i) {
            if (_random() % 2 == 0) {
                members.push_back(_nodes[at].members[i]);
                ranks.push_back(int(i));
            }
        }
        if (members.empty()) {
            return;
        }
        MPI_Comm made = MPI_COMM_NULL;
        if (contains(members, world_rank)) {
            MPI_Group all;
            MPI_Group group;
            MPI_Comm_group(_nodes[at].comm, &all);
            MPI_Group_incl(all, int(ranks.size()), ranks.data(), &group);
            MPI_Comm_create_group(_nodes[at].comm, group, 5, &made);
            MPI_Group_free(&group);
            MPI_Group_free(&all);
        }
        add(members, made);
    }

    void release(std::size_t at) {
        if (_nodes[at].comm != MPI_COMM_NULL) {
            CHECK(MPI_Comm_free(&_nodes[at].comm) == MPI_SUCCESS);
        }
        _nodes.erase(_nodes.begin() + std::ptrdiff_t(at));
    }

    std::mt19937 _random;
    std::vector<Node> _nodes;
    int _next_id = 0;
};

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    for (unsigned seed = 1; seed <= 10; ++seed) {
        Forest forest(seed);
        for (int step = 1; step <= 60; ++step) {
            forest.step();
            if (step % 6 == 0) {
                forest.check();
            }
        }
        forest.clear();
    }
    MPI_Finalize();
    return failures();
}
