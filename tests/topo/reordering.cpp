// SPDX-License-Identifier: BSD-3-Clause
// Topologies with reordering. The processes bind themselves to two processors in turn, so that the neighbours in a line
// of ranks are on different ones until the ranks are reordered.
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <cstdlib>
#include <sched.h>
#include <vector>

namespace {

int rank;
int size;
int processor; // 0 or 1

// Called before MPI_Init, whose threads are bound as well then. Returns whether this process could be bound.
bool bind() {
    const char* own = std::getenv("PMIX_RANK");
    if (own == nullptr) {
        return false;
    }
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) {
        return false;
    }
    processor = std::atoi(own) % 2;
    int left = processor;
    int chosen = 0;
    while (!CPU_ISSET(chosen, &allowed) || left-- > 0) {
        ++chosen;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(chosen, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

// The processors of the members, by rank.
std::vector<int> processors_of(MPI_Comm comm) {
    int members = 0;
    MPI_Comm_size(comm, &members);
    std::vector<int> all(std::size_t(members), -1);
    MPI_Allgather(&processor, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
    return all;
}

int changes(const std::vector<int>& processors) {
    int result = 0;
    for (std::size_t i = 1; i < processors.size(); ++i) {
        result += processors[i] != processors[i - 1];
    }
    return result;
}

// The rank in the world of each member.
std::vector<int> members_of(MPI_Comm comm) {
    int members = 0;
    MPI_Comm_size(comm, &members);
    std::vector<int> all(std::size_t(members), -1);
    MPI_Allgather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
    return all;
}

void check_permutation(std::vector<int> members) {
    std::sort(members.begin(), members.end());
    for (std::size_t i = 0; i < members.size(); ++i) {
        CHECK_EQUAL(members[i], int(i));
    }
}

void test_line() {
    const int period = 0;
    MPI_Comm line;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 1, &line));
    check_permutation(members_of(line));
    CHECK_EQUAL(changes(processors_of(line)), 1);
    MPI_Comm same;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 0, &same));
    CHECK_EQUAL(changes(processors_of(same)), size - 1);
    MPI_Comm_free(&same);
    // With the ranks of the line nothing can be gained.
    CHECK_OK(MPI_Cart_create(line, 1, &size, &period, 1, &same));
    int result = MPI_UNEQUAL;
    CHECK_OK(MPI_Comm_compare(line, same, &result));
    CHECK_EQUAL(result, MPI_CONGRUENT);
    MPI_Comm_free(&same);
    MPI_Comm_free(&line);
}

// The last process does not belong to the grid.
void test_shorter_line() {
    const int length = size - 1;
    const int period = 0;
    MPI_Comm line;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &length, &period, 1, &line));
    CHECK_EQUAL(line == MPI_COMM_NULL, rank == length);
    if (line != MPI_COMM_NULL) {
        check_permutation(members_of(line));
        CHECK_EQUAL(changes(processors_of(line)), 1);
        MPI_Comm_free(&line);
    }
}

// The line as a graph.
void test_graph() {
    std::vector<int> index;
    std::vector<int> edges;
    for (int i = 0; i < size; ++i) {
        for (const int neighbor : {i - 1, i + 1}) {
            if (neighbor >= 0 && neighbor < size) {
                edges.push_back(neighbor);
            }
        }
        index.push_back(int(edges.size()));
    }
    MPI_Comm graph;
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, size, index.data(), edges.data(), 1, &graph));
    check_permutation(members_of(graph));
    CHECK_EQUAL(changes(processors_of(graph)), 1);
    MPI_Comm_free(&graph);
}

// Each process has the edges of its new rank, whichever process declared them: those of the line, with weights that say
// which.
void check_line_of_edges(MPI_Comm graph) {
    check_permutation(members_of(graph));
    CHECK_EQUAL(changes(processors_of(graph)), 1);
    int own = -1;
    int in = -1;
    int out = -1;
    int weighted = -1;
    MPI_Comm_rank(graph, &own);
    CHECK_OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
    CHECK_EQUAL(in, own > 0);
    CHECK_EQUAL(out, own + 1 < size);
    CHECK(weighted);
    int source = -1;
    int source_weight = -1;
    int dest = -1;
    int dest_weight = -1;
    CHECK_OK(MPI_Dist_graph_neighbors(graph, in, &source, &source_weight, out, &dest, &dest_weight));
    if (in == 1) {
        CHECK_EQUAL(source, own - 1);
        CHECK_EQUAL(source_weight, own);
    }
    if (out == 1) {
        CHECK_EQUAL(dest, own + 1);
        CHECK_EQUAL(dest_weight, own + 1);
    }
    int got = -1;
    CHECK_OK(MPI_Neighbor_alltoall(&own, 1, MPI_INT, &got, 1, MPI_INT, graph));
    CHECK_EQUAL(got, own > 0 ? own - 1 : -1);
    MPI_Comm_free(&graph);
}

void test_distributed_graphs() {
    MPI_Comm graph;
    const int in = rank > 0;
    const int out = rank + 1 < size;
    const int source = rank - 1;
    const int dest = rank + 1;
    const int source_weight = rank;
    const int dest_weight = rank + 1;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, &source, in ? &source_weight : MPI_WEIGHTS_EMPTY, out,
        &dest, out ? &dest_weight : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 1, &graph));
    check_line_of_edges(graph);
    // The last process declares all edges.
    std::vector<int> sources;
    std::vector<int> dests;
    for (int i = 0; rank == size - 1 && i + 1 < size; ++i) {
        sources.push_back(i);
        dests.push_back(i + 1);
    }
    const std::vector<int> degrees(sources.size(), 1);
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, int(sources.size()), sources.data(), degrees.data(), dests.data(),
        sources.empty() ? MPI_WEIGHTS_EMPTY : dests.data(), MPI_INFO_NULL, 1, &graph));
    check_line_of_edges(graph);
}

} // namespace

int main(int argc, char** argv) {
    int bound = bind();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(MPI_IN_PLACE, &bound, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!bound) {
        if (rank == 0) {
            printf("SKIPPED: reordering: the processes cannot be bound to two processors\n");
        }
        MPI_Finalize();
        return 0;
    }
    test_line();
    test_shorter_line();
    test_graph();
    test_distributed_graphs();
    return finish();
}
