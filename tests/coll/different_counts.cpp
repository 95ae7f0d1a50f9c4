// SPDX-License-Identifier: BSD-3-Clause
// Members that give different counts to one collective, which is an error of the program: no member may wait for ever,
// a member whose buffer is too short gets MPI_ERR_TRUNCATE, a member that depends on one which has failed gets an error
// too, and the communicator can be used afterwards. On communicators of 1, 2 ... all processes, and on
// intercommunicators. Where the algorithm depends on the count, both counts are such that all members choose the same
// one. With the argument "intra" there are no intercommunicators.
#include "tests/mpi_check/check.h"

#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

namespace {

constexpr int most = 200000; // ints that a buffer holds

void left_projection(void*, void* inout, int* count, MPI_Datatype*) {
    (void)inout, (void)count; // the left operand is `in`; which one remains does not matter here
}

struct Context {
    MPI_Comm comm;
    int rank;
    int size;       // of the group from which data comes, or which it goes to
    int root;       // as this process passes it
    bool root_side; // this process takes the root's part
    bool outside;   // nothing is asked of this process by a rooted collective
    std::vector<int> send = std::vector<int>(most, 1);
    std::vector<int> recv = std::vector<int>(most, 2);
    MPI_Op ordered;

    std::vector<int> counts(int count) const { return std::vector<int>(std::size_t(size), count); }
    std::vector<int> places(int count) const {
        std::vector<int> result;
        for (int i = 0; i < size; ++i) {
            result.push_back(i * count);
        }
        return result;
    }
};

int class_of(int code) {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    return error_class;
}

// How many processes of the world say so.
int how_many(bool says) {
    int mine = says;
    int all = 0;
    CHECK(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    return all;
}

// Does a collective of equal counts still give the right result?
void check_order(Context& c, bool inter) {
    int value = c.root_side ? 4711 : 0;
    CHECK(MPI_Bcast(&value, 1, MPI_INT, c.root, c.comm) == MPI_SUCCESS);
    CHECK(value == 4711 || c.outside);
    int sum = 0;
    const int one = 1;
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c.comm) == MPI_SUCCESS);
    int expected = 0;
    if (inter) {
        MPI_Comm_remote_size(c.comm, &expected);
    } else {
        MPI_Comm_size(c.comm, &expected);
    }
    CHECK(sum == expected);
}

using Call = std::function<int(Context&, int count)>;
struct Case {
    const char* name;
    Call call;
    bool intra_only = false;
    bool algorithm_by_count = false;
};

// What a member may give instead of `count`.
std::vector<int> odd_counts(const Case& what, int count) {
    std::vector<int> result{count - 1, count + 1};
    if (!what.algorithm_by_count || count < 100) {
        result.push_back(0);
    }
    return result;
}

const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {"Bcast", [](Context& c, int n) { return MPI_Bcast(c.recv.data(), n, MPI_INT, c.root, c.comm); }, false, true},
        {"Gather",
            [](Context& c, int n) {
                return MPI_Gather(c.send.data(), n, MPI_INT, c.recv.data(), n, MPI_INT, c.root, c.comm);
            },
            false, true},
        {"Gatherv",
            [](Context& c, int n) {
                return MPI_Gatherv(c.send.data(), n, MPI_INT, c.recv.data(), c.counts(n).data(), c.places(n).data(),
                    MPI_INT, c.root, c.comm);
            }},
        {"Scatter",
            [](Context& c, int n) {
                return MPI_Scatter(c.send.data(), n, MPI_INT, c.recv.data(), n, MPI_INT, c.root, c.comm);
            },
            false, true},
        {"Scatterv",
            [](Context& c, int n) {
                return MPI_Scatterv(c.send.data(), c.counts(n).data(), c.places(n).data(), MPI_INT, c.recv.data(), n,
                    MPI_INT, c.root, c.comm);
            }},
        {"Allgather",
            [](Context& c, int n) {
                return MPI_Allgather(c.send.data(), n, MPI_INT, c.recv.data(), n, MPI_INT, c.comm);
            },
            false, true},
        {"Allgatherv",
            [](Context& c, int n) {
                return MPI_Allgatherv(
                    c.send.data(), n, MPI_INT, c.recv.data(), c.counts(n).data(), c.places(n).data(), MPI_INT, c.comm);
            }},
        {"Alltoall",
            [](Context& c, int n) {
                return MPI_Alltoall(c.send.data(), n, MPI_INT, c.recv.data(), n, MPI_INT, c.comm);
            },
            false, true},
        {"Alltoallv",
            [](Context& c, int n) {
                return MPI_Alltoallv(c.send.data(), c.counts(n).data(), c.places(n).data(), MPI_INT, c.recv.data(),
                    c.counts(n).data(), c.places(n).data(), MPI_INT, c.comm);
            }},
        {"Alltoallw",
            [](Context& c, int n) {
                const std::vector<MPI_Datatype> types(std::size_t(c.size), MPI_INT);
                std::vector<int> bytes = c.places(n);
                for (int& place : bytes) {
                    place *= int(sizeof(int));
                }
                return MPI_Alltoallw(c.send.data(), c.counts(n).data(), bytes.data(), types.data(), c.recv.data(),
                    c.counts(n).data(), bytes.data(), types.data(), c.comm);
            }},
        {"Alltoall in place",
            [](Context& c, int n) { return MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, c.recv.data(), n, MPI_INT, c.comm); },
            true},
        {"Reduce",
            [](Context& c, int n) {
                return MPI_Reduce(c.send.data(), c.recv.data(), n, MPI_INT, MPI_SUM, c.root, c.comm);
            },
            false, true},
        {"Allreduce",
            [](Context& c, int n) { return MPI_Allreduce(c.send.data(), c.recv.data(), n, MPI_INT, MPI_SUM, c.comm); },
            false, true},
        {"Allreduce in order",
            [](Context& c, int n) {
                return MPI_Allreduce(c.send.data(), c.recv.data(), n, MPI_INT, c.ordered, c.comm);
            },
            false, true},
        {"Reduce_scatter_block",
            [](Context& c, int n) {
                return MPI_Reduce_scatter_block(c.send.data(), c.recv.data(), n, MPI_INT, MPI_SUM, c.comm);
            },
            true},
        {"Reduce_scatter_block in order",
            [](Context& c, int n) {
                return MPI_Reduce_scatter_block(c.send.data(), c.recv.data(), n, MPI_INT, c.ordered, c.comm);
            },
            true},
        {"Reduce_scatter",
            [](Context& c, int n) {
                return MPI_Reduce_scatter(c.send.data(), c.recv.data(), c.counts(n).data(), MPI_INT, MPI_SUM, c.comm);
            },
            true},
        {"Reduce_scatter in order",
            [](Context& c, int n) {
                return MPI_Reduce_scatter(c.send.data(), c.recv.data(), c.counts(n).data(), MPI_INT, c.ordered, c.comm);
            },
            true},
        {"Scan", [](Context& c, int n) { return MPI_Scan(c.send.data(), c.recv.data(), n, MPI_INT, MPI_SUM, c.comm); },
            true, true},
        {"Exscan",
            [](Context& c, int n) { return MPI_Exscan(c.send.data(), c.recv.data(), n, MPI_INT, MPI_SUM, c.comm); },
            true, true},
    };
    return all;
}

// One member gives another count than the others. `takes_part`: the calling process is in the communicator.
void run(Context& c, bool takes_part, const Case& what, int odd_one, int odd_count, int count, bool inter) {
    int code = MPI_SUCCESS;
    const bool odd = takes_part && c.rank == odd_one;
    if (takes_part) {
        code = what.call(c, odd ? odd_count : count);
        check_order(c, inter);
    }
    if (how_many(code != MPI_SUCCESS) == 0) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        CHECK(rank != 0 || !"some member must get an error");
        if (rank == 0) {
            std::fprintf(stderr, "%s: rank %d gave %d instead of %d\n", what.name, odd_one, odd_count, count);
        }
    }
}

void all_cases(Context& c, bool takes_part, int members, bool inter) {
    for (const Case& what : cases()) {
        if (inter && what.intra_only) {
            continue;
        }
        for (const int count : {7, 20000}) {
            for (const int odd_count : odd_counts(what, count)) {
                for (int odd_one = 0; odd_one<members; odd_one += members> 3 ? 3 : 1) {
                    run(c, takes_part, what, odd_one, odd_count, count, inter);
                }
            }
        }
    }
}

// Every receiver has a shorter buffer than the root sends, or one receiver alone has.
void shorter_buffers(Context& c, bool takes_part) {
    for (const int count : {7, 20000}) {
        for (int only = -1; only < c.size; ++only) {
            if (!takes_part) {
                continue;
            }
            const bool shorter = c.rank != 0 && (only < 0 || only == c.rank);
            const int code = MPI_Bcast(c.recv.data(), shorter ? count - 1 : count, MPI_INT, 0, c.comm);
            if (c.rank == 0) {
                CHECK(code == MPI_SUCCESS);
            } else if (only >= 0 && shorter) {
                // An algorithm that divides the vector may see a part of another length instead.
                CHECK(class_of(code) == MPI_ERR_TRUNCATE || class_of(code) == MPI_ERR_COUNT);
            } else if (shorter) {
                CHECK(code != MPI_SUCCESS); // its parent may have had nothing to pass on
            }
            check_order(c, false);
        }
    }
}

// A communicator of the first `members` processes; data comes from rank 0.
void intra(int rank, int members, MPI_Op ordered) {
    Context c{};
    c.ordered = ordered;
    const bool takes_part = rank < members;
    MPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, 0, &c.comm);
    c.rank = rank;
    c.size = members;
    c.root_side = rank == 0;
    if (members > 1) {
        all_cases(c, takes_part, members, false);
    }
    shorter_buffers(c, takes_part);
    if (takes_part) {
        MPI_Comm_free(&c.comm);
    }
}

// The first `left` processes and the others; the root is rank 0 of the left side.
void inter(int rank, int left, int processes, MPI_Op ordered) {
    Context c{};
    c.ordered = ordered;
    const bool on_left = rank < left;
    MPI_Comm local = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, on_left, 0, &local);
    CHECK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, on_left ? left : 0, 1, &c.comm) == MPI_SUCCESS);
    c.rank = rank;
    c.size = on_left ? processes - left : left;
    c.root_side = rank == 0;
    c.outside = on_left && !c.root_side;
    c.root = c.root_side ? MPI_ROOT : (on_left ? MPI_PROC_NULL : 0);
    for (const Case& what : cases()) {
        if (what.intra_only) {
            continue;
        }
        for (const int count : {7, 20000}) {
            for (const int odd_count : odd_counts(what, count)) {
                for (const int odd_one : {0, left, processes - 1}) {
                    run(c, true, what, odd_one, odd_count, count, true);
                }
            }
        }
    }
    MPI_Comm_free(&c.comm);
    MPI_Comm_free(&local);
}

// What goes from a process to itself.
void alone() {
    std::vector<int> send(8, 1);
    std::vector<int> recv(8, 2);
    const auto class_of_gather = [&](int sent, int received) {
        return class_of(MPI_Gather(send.data(), sent, MPI_INT, recv.data(), received, MPI_INT, 0, MPI_COMM_SELF));
    };
    CHECK(class_of_gather(8, 7) == MPI_ERR_TRUNCATE);
    CHECK(recv[6] == 1 && recv[7] == 2);
    CHECK(class_of_gather(7, 8) == MPI_ERR_COUNT);
    CHECK(class_of_gather(8, 8) == MPI_SUCCESS);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int rank = 0;
    int processes = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPI_Op ordered;
    MPI_Op_create(left_projection, 0, &ordered);
    alone();
    for (int members = 1; members <= processes; ++members) {
        intra(rank, members, ordered);
    }
    if (argc < 2 || std::strcmp(argv[1], "intra") != 0) {
        inter(rank, 1, processes, ordered);
        inter(rank, processes / 2, processes, ordered);
    }
    MPI_Op_free(&ordered);
    MPI_Finalize();
    return failures();
}
