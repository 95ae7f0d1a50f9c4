// SPDX-License-Identifier: BSD-3-Clause
// The neighbourhood collectives in all their forms, on topologies of each kind: what arrives in each block is compared
// with what the lists of all processes say. Several edges may connect the same two processes.
#include "tests/mpi_check/check.h"
#include "tests/topo/neighborhood_forms.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace {

int size;
std::string description; // of the topology

using Ranks = std::vector<int>;

// The neighbours of all processes.
struct Neighbors {
    std::vector<Ranks> sources;
    std::vector<Ranks> dests;
    bool grid = false;
    int own = 0;

    const Ranks& own_sources() const { return sources[std::size_t(own)]; }
    const Ranks& own_dests() const { return dests[std::size_t(own)]; }
    // Which of the blocks of source number i arrives: the number of an element of that process's dests.
    int block_from(std::size_t i) const {
        const Ranks& in = own_sources();
        if (grid) {
            return int(i ^ 1); // what went down comes from above
        }
        auto earlier = std::count(in.begin(), in.begin() + std::ptrdiff_t(i), in[i]);
        const Ranks& out = dests[std::size_t(in[i])];
        for (std::size_t k = 0; k < out.size(); ++k) {
            if (out[k] == own && earlier-- == 0) {
                return int(k);
            }
        }
        return -1;
    }
};

std::vector<Ranks> exchange_lists(const Ranks& mine, MPI_Comm comm) {
    int members = 0;
    MPI_Comm_size(comm, &members);
    const int count = int(mine.size());
    std::vector<int> counts(static_cast<std::size_t>(members));
    MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
    std::vector<int> places(counts.size());
    int total = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        places[i] = total;
        total += counts[i];
    }
    Ranks all(static_cast<std::size_t>(total));
    MPI_Allgatherv(mine.data(), count, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT, comm);
    std::vector<Ranks> result;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        result.emplace_back(all.begin() + places[i], all.begin() + places[i] + counts[i]);
    }
    return result;
}

Neighbors neighbors_of(MPI_Comm comm) {
    Neighbors result;
    Ranks sources;
    Ranks dests;
    int kind = 0;
    MPI_Topo_test(comm, &kind);
    MPI_Comm_rank(comm, &result.own);
    if (kind == MPI_CART) {
        int dimensions = 0;
        MPI_Cartdim_get(comm, &dimensions);
        for (int d = 0; d < dimensions; ++d) {
            int below = -1;
            int above = -1;
            MPI_Cart_shift(comm, d, 1, &below, &above);
            sources.insert(sources.end(), {below, above});
        }
        dests = sources;
        result.grid = true;
    } else if (kind == MPI_GRAPH) {
        int count = 0;
        MPI_Graph_neighbors_count(comm, result.own, &count);
        sources.resize(std::size_t(count));
        MPI_Graph_neighbors(comm, result.own, count, sources.data());
        dests = sources;
    } else {
        int in = 0;
        int out = 0;
        int weighted = 0;
        MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
        sources.resize(std::size_t(in));
        dests.resize(std::size_t(out));
        MPI_Dist_graph_neighbors(comm, in, sources.data(), MPI_UNWEIGHTED, out, dests.data(), MPI_UNWEIGHTED);
    }
    result.sources = exchange_lists(sources, comm);
    result.dests = exchange_lists(dests, comm);
    return result;
}

// Element number `element` of a block: it names the process that sent it and the number of the destination.
int value(int sender, int block, int element) {
    return sender * 100000 + block * 100 + element % 100;
}
constexpr int untouched = -7;

void check_block(const char* what, Form form, const int* block, int count, int sender, int number) {
    for (int e = 0; e < count; ++e) {
        const int wanted = sender == MPI_PROC_NULL ? untouched : value(sender, number, e);
        if (block[e] != wanted) {
            const std::string text = std::string(what) + ", form " + std::to_string(int(form)) + ", " + description +
                ": element " + std::to_string(e) + " is " + std::to_string(block[e]) + ", not " +
                std::to_string(wanted);
            check_failed(__FILE__, __LINE__, text.c_str());
            return;
        }
    }
}

// A message to a process from its neighbour number `block` has this many elements more than the shortest one.
int extra(int sender, int block) {
    return (sender * 3 + block) % 4;
}

class Exchange {
public:
    Exchange(MPI_Comm comm, const Neighbors& neighbors, Form form, int count)
        : _comm(comm),
          _n(neighbors),
          _form(form),
          _count(count),
          _in(neighbors.own_sources().size()),
          _out(neighbors.own_dests().size()) {}

    void allgather() const {
        std::vector<int> send = block(0);
        std::vector<int> recv(_in * std::size_t(_count), untouched);
        CHECK_OK(neighbor_allgather(_form, send.data(), _count, MPI_INT, recv.data(), _count, MPI_INT, _comm));
        for (std::size_t i = 0; i < _in; ++i) {
            check_block("allgather", _form, recv.data() + i * std::size_t(_count), _count, source(i), 0);
        }
    }

    // The blocks are received in reverse order, with a gap of one element.
    void allgatherv() const {
        std::vector<int> send = block(0);
        const Places in = reversed([&](std::size_t) { return _count; }, _in);
        std::vector<int> recv(in.total, untouched);
        CHECK_OK(neighbor_allgatherv(
            _form, send.data(), _count, MPI_INT, recv.data(), in.counts.data(), in.places.data(), MPI_INT, _comm));
        check_all("allgatherv", in, recv, true);
    }

    void alltoall() const {
        std::vector<int> send;
        for (std::size_t i = 0; i < _out; ++i) {
            const std::vector<int> one = block(int(i));
            send.insert(send.end(), one.begin(), one.end());
        }
        std::vector<int> recv(_in * std::size_t(_count), untouched);
        CHECK_OK(neighbor_alltoall(_form, send.data(), _count, MPI_INT, recv.data(), _count, MPI_INT, _comm));
        for (std::size_t i = 0; i < _in; ++i) {
            check_block("alltoall", _form, recv.data() + i * std::size_t(_count), _count, source(i), number(i));
        }
    }

    void alltoallv() const {
        const Places out = reversed([&](std::size_t i) { return _count + extra(_n.own, int(i)); }, _out);
        const Places in = incoming();
        std::vector<int> send = filled(out);
        std::vector<int> recv(in.total, untouched);
        CHECK_OK(neighbor_alltoallv(_form, send.data(), out.counts.data(), out.places.data(), MPI_INT, recv.data(),
            in.counts.data(), in.places.data(), MPI_INT, _comm));
        check_all("alltoallv", in, recv, false);
    }

    // Every second block is sent with one element of a derived type, and every third one received so. The types are
    // freed while the operation may be under way.
    void alltoallw() const {
        const Places out = reversed([&](std::size_t i) { return _count + extra(_n.own, int(i)); }, _out);
        const Places in = incoming();
        std::vector<int> send = filled(out);
        std::vector<int> recv(in.total, untouched);
        TypedSide sent = typed(out, 2);
        TypedSide received = typed(in, 3);
        CHECK_OK(neighbor_alltoallw(_form, send.data(), sent.counts.data(), sent.places.data(), sent.types.data(),
            recv.data(), received.counts.data(), received.places.data(), received.types.data(), _comm, [&] {
                free_types(sent);
                free_types(received);
            }));
        check_all("alltoallw", in, recv, false);
    }

private:
    struct Places {
        std::vector<int> counts;
        std::vector<int> places;
        std::size_t total = 0;
    };
    struct TypedSide {
        std::vector<int> counts;
        std::vector<MPI_Aint> places;
        std::vector<MPI_Datatype> types;
    };

    int source(std::size_t i) const { return _n.own_sources()[i]; }
    int number(std::size_t i) const { return source(i) == MPI_PROC_NULL ? 0 : _n.block_from(i); }
    std::vector<int> block(int number) const {
        std::vector<int> result(static_cast<std::size_t>(_count));
        for (int e = 0; e < _count; ++e) {
            result[std::size_t(e)] = value(_n.own, number, e);
        }
        return result;
    }
    static Places reversed(const std::function<int(std::size_t)>& count, std::size_t blocks) {
        Places result;
        result.counts.resize(blocks);
        result.places.resize(blocks);
        for (std::size_t i = blocks; i-- > 0;) {
            result.counts[i] = count(i);
            result.places[i] = int(result.total);
            result.total += std::size_t(result.counts[i]) + 1;
        }
        return result;
    }
    Places incoming() const {
        return reversed(
            [&](std::size_t i) { return _count + (source(i) == MPI_PROC_NULL ? 0 : extra(source(i), number(i))); },
            _in);
    }
    std::vector<int> filled(const Places& out) const {
        std::vector<int> send(out.total, -1);
        for (std::size_t i = 0; i < out.counts.size(); ++i) {
            for (int e = 0; e < out.counts[i]; ++e) {
                send[std::size_t(out.places[i] + e)] = value(_n.own, int(i), e);
            }
        }
        return send;
    }
    static TypedSide typed(const Places& places, std::size_t every) {
        TypedSide side;
        for (std::size_t i = 0; i < places.counts.size(); ++i) {
            const bool derived = i % every == every - 1;
            side.counts.push_back(derived ? 1 : places.counts[i]);
            side.places.push_back(MPI_Aint(places.places[i]) * MPI_Aint(sizeof(int)));
            side.types.push_back(MPI_INT);
            if (derived) {
                MPI_Type_contiguous(places.counts[i], MPI_INT, &side.types.back());
                MPI_Type_commit(&side.types.back());
            }
        }
        return side;
    }
    static void free_types(TypedSide& side) {
        for (MPI_Datatype& type : side.types) {
            if (type != MPI_INT) {
                MPI_Type_free(&type);
            }
        }
    }
    void check_all(const char* what, const Places& in, const std::vector<int>& recv, bool same) const {
        for (std::size_t i = 0; i < _in; ++i) {
            const int* begin = recv.data() + in.places[i];
            check_block(what, _form, begin, in.counts[i], source(i), same ? 0 : number(i));
            CHECK_EQUAL(begin[in.counts[i]], untouched); // the gap
        }
    }

    MPI_Comm _comm;
    const Neighbors& _n;
    Form _form;
    int _count;
    std::size_t _in;
    std::size_t _out;
};

// All functions in all forms. Frees the communicator.
void run(MPI_Comm comm, const std::string& what, std::vector<int> counts = {1, 300}) {
    if (comm == MPI_COMM_NULL) {
        return;
    }
    description = what;
    const Neighbors neighbors = neighbors_of(comm);
    for (const int count : counts) {
        for (const Form form : all_forms) {
            const Exchange exchange(comm, neighbors, form, count);
            exchange.allgather();
            exchange.allgatherv();
            exchange.alltoall();
            exchange.alltoallv();
            exchange.alltoallw();
        }
    }
    MPI_Comm_free(&comm);
}

MPI_Comm cart(const std::vector<int>& dims, const std::vector<int>& periods) {
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, int(dims.size()), dims.data(), periods.data(), 0, &comm));
    return comm;
}

void test_grids() {
    for (int dimensions = 0; dimensions <= 3; ++dimensions) {
        std::vector<int> dims(std::size_t(dimensions), 0);
        CHECK_OK(MPI_Dims_create(size, dimensions, dims.data()));
        for (int mask = 0; mask < 1 << dimensions; ++mask) {
            std::vector<int> periods;
            for (int d = 0; d < dimensions; ++d) {
                periods.push_back(mask >> d & 1);
            }
            run(cart(dims, periods),
                "grid of " + std::to_string(dimensions) + " dimensions, periods " + std::to_string(mask),
                dimensions == 2 ? std::vector<int>{1, 20000} : std::vector<int>{3});
        }
    }
}

// Both neighbours in a dimension are the same process.
void test_short_dimensions() {
    for (const int length : {1, 2}) {
        if (length <= size) {
            run(cart({length}, {1}), "ring of " + std::to_string(length), {1, 20000});
            run(cart({1, length, 1}, {1, 1, 0}), "grid of 1 x " + std::to_string(length) + " x 1");
        }
    }
    if (size >= 4) {
        run(cart({2, 2}, {1, 1}), "torus of 2 x 2", {1, 20000});
    }
}

void test_subgrids() {
    std::vector<int> dims = {0, 0};
    CHECK_OK(MPI_Dims_create(size, 2, dims.data()));
    MPI_Comm whole = cart(dims, {1, 0});
    for (const auto& remain : {std::vector<int>{1, 0}, std::vector<int>{0, 1}, std::vector<int>{0, 0}}) {
        MPI_Comm part = MPI_COMM_NULL;
        CHECK_OK(MPI_Cart_sub(whole, remain.data(), &part));
        run(part, "a part of a grid");
    }
    MPI_Comm copy = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_dup(whole, &copy));
    run(whole, "a grid with a duplicate");
    run(copy, "the duplicate of a grid");
}

MPI_Comm graph(const std::vector<Ranks>& neighbors) {
    std::vector<int> index;
    Ranks edges;
    for (const Ranks& one : neighbors) {
        edges.insert(edges.end(), one.begin(), one.end());
        index.push_back(int(edges.size()));
    }
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, int(neighbors.size()), index.data(), edges.data(), 0, &comm));
    return comm;
}

void test_graphs() {
    std::vector<Ranks> star(static_cast<std::size_t>(size));
    std::vector<Ranks> doubled(static_cast<std::size_t>(size)); // each two processes, and each one with itself
    for (int i = 0; i < size; ++i) {
        if (i > 0) {
            star[0].push_back(i);
            star[std::size_t(i)].push_back(0);
        }
        for (int k = 0; k < 2; ++k) {
            for (int j = 0; j < size; ++j) {
                doubled[std::size_t(i)].push_back((i + j) % size);
            }
        }
    }
    run(graph(star), "star");
    run(graph(doubled), "graph with double edges");
    if (size > 1) {
        star.pop_back();
        star[0].erase(star[0].end() - 1);
        run(graph(star), "star without the last process");
    }
}

void test_random_graphs(bool with_many_edges) {
    std::mt19937 random(with_many_edges ? 17 : 5); // the same in all processes
    std::vector<Ranks> sources(static_cast<std::size_t>(size));
    std::vector<Ranks> degrees(sources.size());
    std::vector<Ranks> dests(sources.size());
    const int nodes = 3 * size;
    for (int n = 0; n < nodes; ++n) { // each is declared by any process
        const auto declarer = std::size_t(random() % unsigned(size));
        const int degree = int(random() % (with_many_edges ? 60u : 4u));
        sources[declarer].push_back(int(random() % unsigned(size)));
        degrees[declarer].push_back(degree);
        for (int k = 0; k < degree; ++k) {
            dests[declarer].push_back(int(random() % unsigned(size)));
        }
    }
    int own = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    const auto me = std::size_t(own);
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, int(sources[me].size()), sources[me].data(), degrees[me].data(),
        dests[me].data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    run(comm, "random graph", with_many_edges ? std::vector<int>{1} : std::vector<int>{1, 20000});
}

// Each process receives from all in ascending order, and sends to all in descending order, with more neighbours than a
// batch of messages has: if a receive waited for an earlier one before the sends begin, none would begin.
void test_opposite_orders() {
    constexpr int edges = 130;
    int own = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    Ranks in;
    for (int i = 0; i < size; ++i) {
        in.insert(in.end(), edges, i);
    }
    const Ranks out(in.rbegin(), in.rend());
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, int(in.size()), in.data(), MPI_UNWEIGHTED, int(out.size()),
        out.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    run(comm, "opposite orders", {2});
}

// Processes without sources, without destinations, and without either.
void test_one_way() {
    int own = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    const int in = size > 1 && own == size - 1 ? 2 : 0;
    const int out = size > 1 && own == 0 ? 2 : 0;
    const Ranks from = {0, 0};
    const Ranks to = {size - 1, size - 1};
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Dist_graph_create_adjacent(
        MPI_COMM_WORLD, in, from.data(), MPI_UNWEIGHTED, out, to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    run(comm, "one way");
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_grids();
    test_short_dimensions();
    test_subgrids();
    test_graphs();
    test_random_graphs(false);
    test_random_graphs(true);
    test_opposite_orders();
    test_one_way();
    return finish();
}
