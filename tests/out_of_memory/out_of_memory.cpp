// SPDX-License-Identifier: BSD-3-Clause
// Each allocation of point-to-point operations, of channels, of constructors of communicators and of collectives in one
// process fails in turn, once alone and, where there is only this process, once with all later ones: every call returns
// success or an MPI error, no failure ends the process, no process waits for ever, and the library works when there is
// memory again. Argument: the group of scenarios.
#include "tests/mpi_check/check.h"
#include "tests/out_of_memory/failing_malloc.h"
#include "tests/out_of_memory/scenarios.h"

#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string>

int world_rank;
int world_size;
MPI_Comm comm;

namespace {

constexpr int large = 1 << 20; // bytes
char sent[large];
char received[2 * large];
int counts[16];
int places[16];
int neighbor_counts[2] = {100, 100};
int neighbor_places[2] = {0, 100};

} // namespace

bool fine(int code) {
    if (code != MPI_SUCCESS) {
        const int error_class = class_of(code);
        CHECK(error_class == MPI_ERR_NO_MEM || error_class == MPI_ERR_OTHER || error_class == MPI_ERR_TRUNCATE ||
            error_class == MPI_ERR_COUNT || error_class == MPI_ERR_NO_SPACE || error_class == MPI_ERR_INTERN ||
            error_class == MPI_ERR_IN_STATUS);
    }
    return code == MPI_SUCCESS;
}

namespace {

// To the process itself. The receive is posted first: a message without a receive for which there is no memory ends the
// job (components/pml/ob1/README.md).
void exchange(int count, MPI_Datatype type) {
    MPI_Request receiving = MPI_REQUEST_NULL;
    MPI_Request sending = MPI_REQUEST_NULL;
    int over = 0;
    if (!fine(MPI_Irecv(received, count, type, MPI_ANY_SOURCE, 1, comm, &receiving)) ||
        !fine(MPI_Test(&receiving, &over, MPI_STATUS_IGNORE))) {
        return;
    }
    over = 0;
    if (!fine(MPI_Isend(sent, count, type, world_rank, 1, comm, &sending)) ||
        !fine(MPI_Test(&sending, &over, MPI_STATUS_IGNORE))) {
        CHECK(MPI_Cancel(&receiving) == MPI_SUCCESS);
    }
    fine(MPI_Wait(&receiving, MPI_STATUS_IGNORE));
    fine(MPI_Wait(&sending, MPI_STATUS_IGNORE));
}

void eager() {
    exchange(8, MPI_BYTE);
}

// A message that is reported as sent arrives.
void buffered() {
    static char buffer[1000 + MPI_BSEND_OVERHEAD];
    if (!fine(MPI_Buffer_attach(buffer, sizeof buffer))) {
        return;
    }
    if (fine(MPI_Bsend(sent, 8, MPI_BYTE, world_rank, 1, comm))) {
        failing_malloc::pause();
        CHECK(MPI_Recv(received, 8, MPI_BYTE, world_rank, 1, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        failing_malloc::resume();
    }
    MPI_Request sending = MPI_REQUEST_NULL;
    if (fine(MPI_Ibsend(sent, 8, MPI_BYTE, world_rank, 2, comm, &sending))) {
        failing_malloc::pause();
        CHECK(MPI_Recv(received, 8, MPI_BYTE, world_rank, 2, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(MPI_Wait(&sending, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        failing_malloc::resume();
    }
    void* detached = nullptr;
    int size = 0;
    CHECK(MPI_Buffer_detach(&detached, &size) == MPI_SUCCESS);
}
void long_message() {
    exchange(large, MPI_BYTE);
}
MPI_Datatype every_second;
void strided() {
    exchange(2, every_second);
}
void many() {
    MPI_Request requests[200];
    int count = 0;
    while (count < 200 && fine(MPI_Irecv(received + count, 1, MPI_BYTE, world_rank, count, comm, &requests[count]))) {
        ++count;
    }
    for (int i = 0; i < count; ++i) {
        if (!fine(MPI_Send(sent + i, 1, MPI_BYTE, world_rank, i, comm))) {
            fine(MPI_Cancel(&requests[i]));
        }
    }
    fine(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
}
void persistent() {
    MPI_Request receiving = MPI_REQUEST_NULL;
    MPI_Request sending = MPI_REQUEST_NULL;
    const bool both = fine(MPI_Recv_init(received, 8, MPI_BYTE, world_rank, 2, comm, &receiving)) &&
        fine(MPI_Send_init(sent, 8, MPI_BYTE, world_rank, 2, comm, &sending));
    for (int i = 0; both && i < 2; ++i) {
        int over = 0;
        if (!fine(MPI_Start(&receiving)) || !fine(MPI_Test(&receiving, &over, MPI_STATUS_IGNORE))) {
            continue;
        }
        if (!fine(MPI_Start(&sending)) || !fine(MPI_Wait(&sending, MPI_STATUS_IGNORE))) {
            CHECK(MPI_Cancel(&receiving) == MPI_SUCCESS);
        }
        fine(MPI_Wait(&receiving, MPI_STATUS_IGNORE));
    }
    if (receiving != MPI_REQUEST_NULL) {
        fine(MPI_Request_free(&receiving));
    }
    if (sending != MPI_REQUEST_NULL) {
        fine(MPI_Request_free(&sending));
    }
}
// The first start needs memory in polls, too. From the first error on there is memory, and each side that has failed
// starts again, because the other one waits for it; not for ever, because an error may be that of all starts of both.
void start_with_memory(MPI_Request* request, bool sends) {
    failing_malloc::pause();
    CHECK(MPI_Start(request) == MPI_SUCCESS);
    if (sends) {
        CHECK(MPI_Pready_range(0, 3, *request) == MPI_SUCCESS);
    }
}
void start_partitioned(MPI_Request* sending, MPI_Request* receiving) {
    if (!fine(MPI_Start(sending))) {
        start_with_memory(sending, true);
    } else {
        fine(MPI_Pready_range(0, 3, *sending));
    }
    if (!fine(MPI_Start(receiving))) {
        start_with_memory(receiving, false);
    }
    bool over[] = {false, false};
    int errors[] = {0, 0};
    while (!over[0] || !over[1]) {
        for (int i = 0; i < 2; ++i) {
            MPI_Request* request = i == 0 ? sending : receiving;
            int flag = 0;
            if (over[i] || fine(MPI_Test(request, &flag, MPI_STATUS_IGNORE))) {
                over[i] = over[i] || flag;
            } else if (++errors[i] <= 2) {
                start_with_memory(request, i == 0);
            } else {
                over[i] = true;
            }
        }
    }
    failing_malloc::resume();
}
void partitioned() {
    MPI_Request receiving = MPI_REQUEST_NULL;
    MPI_Request sending = MPI_REQUEST_NULL;
    const bool both =
        fine(MPI_Precv_init(received, 2, 100, every_second, world_rank, 2, comm, MPI_INFO_NULL, &receiving)) &&
        fine(MPI_Psend_init(sent, 4, 50, every_second, world_rank, 2, comm, MPI_INFO_NULL, &sending));
    for (int i = 0; both && i < 2; ++i) {
        start_partitioned(&sending, &receiving);
    }
    for (MPI_Request* request : {&sending, &receiving}) {
        if (*request != MPI_REQUEST_NULL) {
            fine(MPI_Request_free(request));
        }
    }
}
void streamed() {
    exchange(400, every_second);
}

// To the next process. What cannot be sent or received for want of memory is tried again with memory, because the other
// process waits for it.
void to_neighbour(int count, MPI_Datatype type, bool synchronous) {
    const int to = (world_rank + 1) % world_size;
    const int from = (world_rank + world_size - 1) % world_size;
    MPI_Request receiving = MPI_REQUEST_NULL;
    MPI_Request sending = MPI_REQUEST_NULL;
    int over = 0;
    const auto receive = [&] {
        return fine(MPI_Irecv(received, count, type, from, 3, comm, &receiving)) &&
            fine(MPI_Test(&receiving, &over, MPI_STATUS_IGNORE));
    };
    const auto send = [&] {
        return fine((synchronous ? MPI_Issend : MPI_Isend)(sent, count, type, to, 3, comm, &sending)) &&
            fine(MPI_Test(&sending, &over, MPI_STATUS_IGNORE));
    };
    for (const bool sends : {false, true}) {
        if (!(sends ? send() : receive())) {
            failing_malloc::pause();
            CHECK(sends ? send() : receive());
            failing_malloc::resume();
        }
    }
    fine(MPI_Wait(&receiving, MPI_STATUS_IGNORE));
    fine(MPI_Wait(&sending, MPI_STATUS_IGNORE));
}
void neighbour() {
    if (world_size == 1) {
        return; // exchange() sends to the process itself
    }
    for (const bool synchronous : {false, true}) {
        to_neighbour(8, MPI_BYTE, synchronous);
        to_neighbour(large, MPI_BYTE, synchronous);
        to_neighbour(400, every_second, synchronous);
    }
}
void sendrecv() {
    fine(MPI_Sendrecv(sent, 8, MPI_BYTE, world_rank, 4, received, 8, MPI_BYTE, world_rank, 4, comm, MPI_STATUS_IGNORE));
    fine(MPI_Sendrecv_replace(received, large, MPI_BYTE, world_rank, 4, world_rank, 4, comm, MPI_STATUS_IGNORE));
}

void dup() {
    MPI_Comm made = MPI_COMM_NULL;
    if (fine(MPI_Comm_dup(comm, &made))) {
        fine(MPI_Barrier(made));
        fine(MPI_Comm_free(&made));
    }
}
void idup() {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    if (fine(MPI_Comm_idup(comm, &made, &request)) && fine(MPI_Wait(&request, MPI_STATUS_IGNORE))) {
        fine(MPI_Barrier(made));
        fine(MPI_Comm_free(&made));
    }
}
void split() {
    MPI_Comm made = MPI_COMM_NULL;
    if (fine(MPI_Comm_split(comm, 0, 0, &made))) {
        fine(MPI_Barrier(made));
        fine(MPI_Comm_free(&made));
    }
    if (fine(MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &made)) && made != MPI_COMM_NULL) {
        fine(MPI_Comm_free(&made));
    }
}
void create() {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm made = MPI_COMM_NULL;
    CHECK(MPI_Comm_group(comm, &group) == MPI_SUCCESS);
    if (fine(MPI_Comm_create(comm, group, &made))) {
        fine(MPI_Barrier(made));
        fine(MPI_Comm_free(&made));
    }
    if (fine(MPI_Comm_create_group(comm, group, 5, &made))) {
        fine(MPI_Barrier(made));
        fine(MPI_Comm_free(&made));
    }
    MPI_Group_free(&group);
}
MPI_Session session;
MPI_Group session_group;
void create_from_group() {
    MPI_Comm made = MPI_COMM_NULL;
    if (fine(MPI_Comm_create_from_group(session_group, "out of memory", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made))) {
        fine(MPI_Barrier(made));
        fine(MPI_Comm_free(&made));
    }
}

void topologies() {
    const int one = 1;
    const int self = world_rank;
    MPI_Comm made = MPI_COMM_NULL;
    if (fine(MPI_Cart_create(comm, 1, &world_size, &one, 1, &made))) {
        MPI_Comm part = MPI_COMM_NULL;
        fine(MPI_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, made));
        if (fine(MPI_Cart_sub(made, &one, &part))) {
            fine(MPI_Comm_free(&part));
        }
        fine(MPI_Comm_free(&made));
    }
    if (fine(MPI_Graph_create(comm, 1, &one, &self, 1, &made)) && made != MPI_COMM_NULL) {
        fine(MPI_Comm_free(&made));
    }
    if (fine(MPI_Dist_graph_create(comm, 1, &self, &one, &self, &one, MPI_INFO_NULL, 1, &made))) {
        fine(MPI_Comm_free(&made));
    }
    if (fine(MPI_Dist_graph_create_adjacent(comm, 1, &self, &one, 1, &self, &one, MPI_INFO_NULL, 1, &made))) {
        fine(MPI_Comm_free(&made));
    }
}

MPI_Comm ring; // periodic, so that each process has two neighbours

void neighborhood() {
    const int n = 100;
    fine(MPI_Neighbor_allgather(sent, n, MPI_INT, received, n, MPI_INT, ring));
    fine(MPI_Neighbor_alltoall(sent, 20000, MPI_INT, received, 20000, MPI_INT, ring));
    fine(MPI_Neighbor_alltoallv(
        sent, neighbor_counts, neighbor_places, MPI_INT, received, neighbor_counts, neighbor_places, MPI_INT, ring));
}

void collectives() {
    const int n = 100;
    fine(MPI_Barrier(comm));
    fine(MPI_Bcast(received, n, MPI_INT, 0, comm));
    fine(MPI_Gather(sent, n, MPI_INT, received, n, MPI_INT, 0, comm));
    fine(MPI_Scatter(received, n, MPI_INT, sent, n, MPI_INT, 0, comm));
    fine(MPI_Gatherv(sent, n, MPI_INT, received, counts, places, MPI_INT, 0, comm));
    fine(MPI_Scatterv(received, counts, places, MPI_INT, sent, n, MPI_INT, 0, comm));
    fine(MPI_Allgather(sent, n, MPI_INT, received, n, MPI_INT, comm));
    fine(MPI_Allgather(sent, 20000, MPI_INT, received, 20000, MPI_INT, comm));
    fine(MPI_Allgatherv(sent, n, MPI_INT, received, counts, places, MPI_INT, comm));
    fine(MPI_Alltoall(sent, n, MPI_INT, received, n, MPI_INT, comm));
    fine(MPI_Alltoall(MPI_IN_PLACE, n, MPI_INT, received, n, MPI_INT, comm));
    fine(MPI_Alltoallv(sent, counts, places, MPI_INT, received, counts, places, MPI_INT, comm));
    fine(MPI_Reduce(sent, received, 1000, MPI_INT, MPI_BOR, 0, comm));
    fine(MPI_Allreduce(sent, received, 1000, MPI_INT, MPI_BOR, comm));
    fine(MPI_Allreduce(sent, received, 50000, MPI_INT, MPI_BOR, comm));
    fine(MPI_Reduce_scatter(sent, received, counts, MPI_INT, MPI_BOR, comm));
    fine(MPI_Reduce_scatter_block(sent, received, 1000, MPI_INT, MPI_BOR, comm));
    fine(MPI_Scan(sent, received, 1000, MPI_INT, MPI_BOR, comm));
    fine(MPI_Exscan(sent, received, 1000, MPI_INT, MPI_BOR, comm));
}

// Begins an operation in which the other processes wait, if need be with memory.
template <class Begin>
MPI_Request begin(Begin begin) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (!fine(begin(&request))) {
        failing_malloc::pause();
        CHECK(begin(&request) == MPI_SUCCESS);
        failing_malloc::resume();
    }
    return request;
}
template <class Begin>
void nonblocking(Begin start) {
    MPI_Request requests[2] = {begin(start), begin([](MPI_Request* request) { return MPI_Ibarrier(comm, request); })};
    for (MPI_Request& request : requests) {
        fine(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}
void nonblocking_collectives() {
    const int n = 100;
    nonblocking([](MPI_Request* r) { return MPI_Ibcast(received, n, MPI_INT, 0, comm, r); });
    nonblocking([](MPI_Request* r) { return MPI_Igather(sent, n, MPI_INT, received, n, MPI_INT, 0, comm, r); });
    nonblocking(
        [](MPI_Request* r) { return MPI_Iscatterv(received, counts, places, MPI_INT, sent, n, MPI_INT, 0, comm, r); });
    nonblocking([](MPI_Request* r) { return MPI_Iallgather(sent, n, MPI_INT, received, n, MPI_INT, comm, r); });
    nonblocking([](MPI_Request* r) { return MPI_Ialltoall(MPI_IN_PLACE, n, MPI_INT, received, n, MPI_INT, comm, r); });
    nonblocking([](MPI_Request* r) { return MPI_Ireduce(sent, received, 1000, MPI_INT, MPI_BOR, 0, comm, r); });
    nonblocking([](MPI_Request* r) { return MPI_Iallreduce(sent, received, 50000, MPI_INT, MPI_BOR, comm, r); });
    nonblocking([](MPI_Request* r) { return MPI_Ireduce_scatter(sent, received, counts, MPI_INT, MPI_BOR, comm, r); });
    nonblocking([](MPI_Request* r) { return MPI_Iscan(sent, received, 1000, MPI_INT, MPI_BOR, comm, r); });
    nonblocking([](MPI_Request* r) { return MPI_Ineighbor_alltoall(sent, n, MPI_INT, received, n, MPI_INT, ring, r); });
}
void persistent_collectives() {
    MPI_Request requests[] = {
        begin([](MPI_Request* r) {
            return MPI_Allreduce_init(sent, received, 1000, MPI_INT, MPI_BOR, comm, MPI_INFO_NULL, r);
        }),
        begin(
            [](MPI_Request* r) { return MPI_Bcast_init(received + large, 1000, MPI_INT, 0, comm, MPI_INFO_NULL, r); }),
    };
    for (int turn = 0; turn < 2; ++turn) {
        fine(MPI_Startall(2, requests));
        for (MPI_Request& request : requests) {
            fine(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
    }
    for (MPI_Request& request : requests) {
        fine(MPI_Request_free(&request));
    }
}

// Without MPI_Session_get_num_psets and MPI_Session_get_nth_pset, which ask the launcher: PMIx_Query_info of PMIx 4.2
// reads what it has no memory for.
void queries() {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    if (fine(MPI_Session_get_info(session, &info))) {
        fine(MPI_Info_free(&info));
    }
    if (fine(MPI_Session_get_pset_info(session, "mpi://WORLD", &info))) {
        fine(MPI_Info_free(&info));
    }
    if (fine(MPI_Group_from_session_pset(session, "mpi://WORLD", &group))) {
        fine(MPI_Group_free(&group));
    }
    if (fine(MPI_Abi_get_info(&info))) {
        fine(MPI_Info_free(&info));
    }
    failing_malloc::pause();
    const std::string longest(200, 'v');
    CHECK(MPI_Info_create(&info) == MPI_SUCCESS);
    CHECK(MPI_Info_set(info, "key", longest.c_str()) == MPI_SUCCESS);
    failing_malloc::resume();
    char value[300];
    int length = sizeof value;
    int found = 0;
    CHECK(MPI_Info_get_string(info, "key", &length, value, &found) == MPI_SUCCESS && found == 1 && value == longest);
    CHECK(MPI_Info_get(info, "key", 250, value, &found) == MPI_SUCCESS && found == 1 && value == longest);
    CHECK(MPI_Info_get_valuelen(info, "key", &length, &found) == MPI_SUCCESS && found == 1 && length == 200);
    CHECK(MPI_Info_free(&info) == MPI_SUCCESS);
    MPI_Session another = MPI_SESSION_NULL;
    if (fine(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &another))) {
        fine(MPI_Session_finalize(&another));
    }
    int keyval = MPI_KEYVAL_INVALID;
    if (fine(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &keyval, nullptr))) {
        fine(MPI_Type_free_keyval(&keyval));
    }
}

void use_window(MPI_Win win) {
    failing_malloc::pause();
    CHECK(MPI_Win_lock_all(0, win) == MPI_SUCCESS && MPI_Win_unlock_all(win) == MPI_SUCCESS);
    CHECK(MPI_Win_free(&win) == MPI_SUCCESS);
    failing_malloc::resume();
}

void windows() {
    MPI_Win win = MPI_WIN_NULL;
    void* memory = nullptr;
    if (fine(MPI_Win_create(received, large, 1, MPI_INFO_NULL, comm, &win))) {
        use_window(win);
    }
    if (fine(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win))) {
        use_window(win);
    }
    if (fine(MPI_Win_allocate(5000, 1, MPI_INFO_NULL, comm, static_cast<void*>(&memory), &win))) {
        use_window(win);
    }
}

constexpr Scenario scenarios[] = {
    {"pt2pt", "eager", eager},
    {"pt2pt", "long message", long_message},
    {"pt2pt", "strided", strided},
    {"pt2pt", "streamed", streamed},
    {"pt2pt", "neighbour", neighbour},
    {"pt2pt", "many", many},
    {"pt2pt", "persistent", persistent},
    {"pt2pt", "partitioned", partitioned},
    {"pt2pt", "sendrecv", sendrecv},
    {"pt2pt", "buffered", buffered},
    {"comm", "dup", dup},
    {"comm", "idup", idup},
    {"comm", "split", split},
    {"comm", "create", create},
    {"comm", "create_from_group", create_from_group},
    {"comm", "topologies", topologies},
    {"comm", "queries", queries},
    {"windows", "windows", windows},
    {"coll", "collectives", collectives},
    {"coll", "neighborhood", neighborhood},
    {"coll_requests", "nonblocking collectives", nonblocking_collectives},
    {"coll_requests", "persistent collectives", persistent_collectives},
    {"channels", "one after the other", bind_one_after_the_other},
    {"channels", "all at a time", bind_all},
    {"channels", "one to the neighbour", bind_one},
    {"channels", "in another order", bind_in_another_order},
    {"channels", "partitioned by channels", partitioned},
    {"channels", "persistent collectives by channels", persistent_collectives},
};

// One process, `victim`, lacks memory; the others take part with all they need. Returns how many allocations failed.
long attempt(const Scenario& scenario, int victim, long number, bool all_later) {
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS);
    if (world_rank == victim) {
        failing_malloc::arm(number, all_later);
    }
    scenario.run();
    long failed = failing_malloc::disarm();
    // With memory again all is as it was.
    int sum = 0;
    const int one = 1;
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(sum == world_size);
    CHECK(MPI_Bcast(&failed, 1, MPI_LONG, victim, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
    return failed;
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    CHECK(MPI_Group_from_session_pset(session, "mpi://SELF", &session_group) == MPI_SUCCESS);
    MPI_Type_vector(64, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    for (int i = 0; i < world_size; ++i) {
        counts[i] = 100;
        places[i] = i * 100;
    }
    const int periodic = 1;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, &periodic, 0, &ring) == MPI_SUCCESS);
    for (const Scenario& scenario : scenarios) {
        if (argc > 1 && std::strcmp(argv[1], scenario.group) != 0) {
            continue;
        }
        for (const bool all_later : {false, true}) {
            if (all_later && world_size > 1) {
                continue; // a process that has no memory at all cannot tell the others
            }
            for (int victim = 0; victim<world_size; victim += world_size> 2 ? world_size - 1 : 1) {
                long number = 0;
                while (attempt(scenario, victim, number, all_later) != 0) {
                    ++number;
                }
                if (world_rank == victim) {
                    std::printf("%s: %ld allocations%s\n", scenario.name, number, all_later ? ", all later ones" : "");
                }
            }
        }
    }
    MPI_Type_free(&every_second);
    MPI_Comm_free(&ring);
    MPI_Group_free(&session_group);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
    MPI_Finalize();
    return failures();
}
