// SPDX-License-Identifier: BSD-3-Clause
// What a program may do wrong with a thread communicator, and what its threads cannot do: errors, not waits.
#include "tests/threadcomm/region.h"

#include <atomic>
#include <cstring>

namespace {

void wrong_arguments() {
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_CLASS(MPIX_Threadcomm_init(MPI_COMM_NULL, 2, &comm), MPI_ERR_COMM);
    CHECK_CLASS(MPIX_Threadcomm_init(MPI_COMM_WORLD, 0, &comm), MPI_ERR_ARG);
    CHECK_CLASS(MPIX_Threadcomm_init(MPI_COMM_WORLD, 1025, &comm), MPI_ERR_ARG);
    CHECK_CLASS(MPIX_Threadcomm_init(MPI_COMM_WORLD, 2, nullptr), MPI_ERR_ARG);
    // One process is wrong: all get an error.
    int process = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    CHECK_CLASS(MPIX_Threadcomm_init(MPI_COMM_WORLD, process == 0 ? -1 : 2, &comm), MPI_ERR_ARG);
    comm = MPI_COMM_WORLD;
    CHECK_CLASS(MPIX_Threadcomm_start(MPI_COMM_WORLD), MPI_ERR_COMM);
    CHECK_CLASS(MPIX_Threadcomm_finish(MPI_COMM_WORLD), MPI_ERR_COMM);
    CHECK_CLASS(MPIX_Threadcomm_free(&comm), MPI_ERR_COMM);
    CHECK_CLASS(MPIX_Threadcomm_free(nullptr), MPI_ERR_ARG);
    CHECK_CLASS(MPIX_Threadcomm_start(MPI_COMM_NULL), MPI_ERR_COMM);
}

// Outside of a region, and from a thread that has not started it.
void inactive() {
    MPI_Comm comm = MPI_COMM_NULL, other = MPI_COMM_NULL;
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_WORLD, 1, &comm));
    int rank = -1, length = 0;
    char text[MPI_MAX_ERROR_STRING];
    const int code = MPI_Comm_rank(comm, &rank);
    CHECK_CLASS(code, MPI_ERR_COMM);
    MPI_Error_string(code, text, &length);
    CHECK(std::strstr(text, "MPIX_Threadcomm_start") != nullptr);
    CHECK_CLASS(MPI_Barrier(comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Send(&rank, 1, MPI_INT, 0, 0, comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_dup(comm, &other), MPI_ERR_COMM);
    CHECK_CLASS(MPIX_Threadcomm_finish(comm), MPI_ERR_COMM);
    run_threads(comm, 1, [&](const Here& here) {
        CHECK_CLASS(MPIX_Threadcomm_start(here.comm), MPI_ERR_COMM);
        MPI_Comm handle = here.comm;
        CHECK_CLASS(MPIX_Threadcomm_free(&handle), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Comm_free(&handle), MPI_ERR_COMM);
        std::thread stranger([&] {
            int of_stranger = -1;
            CHECK_CLASS(MPI_Comm_rank(here.comm, &of_stranger), MPI_ERR_COMM);
            CHECK_CLASS(MPIX_Threadcomm_start(here.comm), MPI_ERR_COMM); // one too many
            CHECK_CLASS(MPIX_Threadcomm_finish(here.comm), MPI_ERR_COMM);
        });
        stranger.join();
    });
    CHECK_OK(MPIX_Threadcomm_free(&comm));
}

// Parameter mpi_threadcomm_start_timeout is a second here.
void too_few_threads() {
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_SELF, 3, &comm));
    std::thread a([&] { CHECK_CLASS(MPIX_Threadcomm_start(comm), MPI_ERR_COMM); });
    std::thread b([&] { CHECK_CLASS(MPIX_Threadcomm_start(comm), MPI_ERR_COMM); });
    a.join();
    b.join();
    run_threads(comm, 3, [](const Here& here) { CHECK_OK(MPI_Barrier(here.comm)); });
    CHECK_OK(MPIX_Threadcomm_free(&comm));
}

// All threads get an error, may mend it, and finish then.
void finish_with_something_left() {
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_WORLD, 2, &comm));
    run_threads(comm, 2, [](const Here& here) {
        int word = 0;
        MPI_Request request = MPI_REQUEST_NULL;
        if (here.rank == 0) {
            CHECK_OK(MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, here.comm, &request));
        }
        CHECK_CLASS(MPIX_Threadcomm_finish(here.comm), MPI_ERR_PENDING);
        if (here.rank == 0) {
            CHECK_OK(MPI_Cancel(&request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        MPI_Comm dup;
        CHECK_OK(MPI_Comm_dup(here.comm, &dup));
        CHECK_CLASS(MPIX_Threadcomm_finish(here.comm), MPI_ERR_PENDING);
        CHECK_OK(MPI_Barrier(dup));
        CHECK_OK(MPI_Comm_free(&dup));
        MPI_Win window;
        CHECK_OK(MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, here.comm, &window));
        const int code = MPIX_Threadcomm_finish(here.comm);
        CHECK_CLASS(code, MPI_ERR_PENDING);
        char text[MPI_MAX_ERROR_STRING];
        int length = 0;
        MPI_Error_string(code, text, &length);
        CHECK(std::strstr(text, "window") != nullptr);
        CHECK_OK(MPI_Win_free(&window));
        MPI_Request unbound, bound;
        CHECK_OK(MPI_Send_init(&word, 1, MPI_INT, MPI_PROC_NULL, 0, here.comm, &unbound));
        CHECK_OK(MPIX_Bind_channel(unbound, &bound, MPI_INFO_NULL));
        CHECK_OK(MPI_Request_free(&unbound));
        CHECK_CLASS(MPIX_Threadcomm_finish(here.comm), MPI_ERR_PENDING);
        CHECK_OK(MPIX_Unbind_channel(&bound));
        CHECK_OK(MPI_Comm_idup(here.comm, &dup, &request));
        CHECK_CLASS(MPIX_Threadcomm_finish(here.comm), MPI_ERR_PENDING);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Comm_free(&dup));
    });
    CHECK_OK(MPIX_Threadcomm_free(&comm));
}

// A request of a collective operation keeps a thread, whether it is complete or was never started.
void finish_with_collectives_left() {
    in_region(2, true, [](const Here& here) {
        int one = 1, sum = 0, done = 0;
        MPI_Request request = MPI_REQUEST_NULL;
        for (const bool reduces : {true, false}) {
            CHECK_OK(reduces ? MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, here.comm, &request)
                             : MPI_Ibarrier(here.comm, &request));
            for (done = 0; done == 0;) {
                CHECK_OK(MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE));
            }
            CHECK_CLASS(MPIX_Threadcomm_finish(here.comm), MPI_ERR_PENDING);
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        CHECK_EQUAL(sum, here.size);
        CHECK_OK(MPI_Barrier_init(here.comm, MPI_INFO_NULL, &request));
        CHECK_CLASS(MPIX_Threadcomm_finish(here.comm), MPI_ERR_PENDING);
        CHECK_OK(MPI_Request_free(&request));
        CHECK_OK(MPI_Bcast_init(&one, 1, MPI_INT, 0, here.comm, MPI_INFO_NULL, &request));
        CHECK_CLASS(MPIX_Threadcomm_finish(here.comm), MPI_ERR_PENDING);
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Request_free(&request));
    });
}

// Requests that are freed while they are active: their operations take place before a thread has left.
void freed_before_finish() {
    constexpr int count = 30000; // by rendezvous
    in_region(3, false, [](const Here& here) {
        MPI_Request barrier = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL, part = MPI_REQUEST_NULL;
        const int next = (here.rank + 1) % here.size, previous = (here.rank + here.size - 1) % here.size;
        std::vector<int> out(count, here.rank), in(count);
        CHECK_OK(MPI_Barrier_init(here.comm, MPI_INFO_NULL, &barrier));
        CHECK_OK(MPI_Start(&barrier));
        CHECK_OK(MPI_Request_free(&barrier));
        CHECK_OK(MPI_Isend(out.data(), count, MPI_INT, next, 1, here.comm, &send));
        CHECK_OK(MPI_Request_free(&send));
        CHECK_OK(MPI_Psend_init(out.data(), 2, count / 2, MPI_INT, next, 2, here.comm, MPI_INFO_NULL, &part));
        CHECK_OK(MPI_Start(&part));
        CHECK_OK(MPI_Pready_range(0, 1, part));
        CHECK_OK(MPI_Request_free(&part));
        CHECK_OK(MPI_Recv(in.data(), count, MPI_INT, previous, 1, here.comm, MPI_STATUS_IGNORE));
        CHECK(in[0] == previous && in[count - 1] == previous);
        CHECK_OK(MPI_Precv_init(in.data(), 1, count, MPI_INT, previous, 2, here.comm, MPI_INFO_NULL, &part));
        CHECK_OK(MPI_Start(&part));
        CHECK_OK(MPI_Wait(&part, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Request_free(&part));
        CHECK_OK(MPI_Barrier_init(here.comm, MPI_INFO_NULL, &barrier));
        CHECK_OK(MPI_Start(&barrier));
        CHECK_OK(MPI_Request_free(&barrier));
        // The receiver of this one takes it after the sender has begun to leave.
        CHECK_OK(MPI_Isend(out.data(), count, MPI_INT, next, 3, here.comm, &send));
        CHECK_OK(MPI_Request_free(&send));
        std::this_thread::sleep_for(std::chrono::milliseconds(here.rank % 2));
        CHECK_OK(MPI_Recv(in.data(), count, MPI_INT, previous, 3, here.comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPIX_Threadcomm_finish(here.comm));
        CHECK_OK(MPIX_Threadcomm_start(here.comm)); // run_threads() ends it
    });
}

// Copies the attribute, whose value is how many copies are made before one that fails.
int copy_until(MPI_Comm, int, void*, void* value, void* copy, int* flag) {
    *static_cast<void**>(copy) = value;
    *flag = 1;
    return static_cast<std::atomic<int>*>(value)->fetch_sub(1) == 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

// An attribute is not copied to one thread: none of the process starts, and the next start succeeds.
void refused_attribute() {
    std::atomic<int> copies{2}; // that of MPIX_Threadcomm_init, and that of one thread
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm parent = MPI_COMM_NULL, comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    CHECK_OK(MPI_Comm_create_keyval(copy_until, MPI_COMM_NULL_DELETE_FN, &key, nullptr));
    CHECK_OK(MPI_Comm_set_attr(parent, key, &copies));
    CHECK_OK(MPIX_Threadcomm_init(parent, 3, &comm));
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] { CHECK_CLASS(MPIX_Threadcomm_start(comm), MPI_ERR_OTHER); });
    }
    for (std::thread& one : threads) {
        one.join();
    }
    run_threads(comm, 3, [](const Here& here) { CHECK_OK(MPI_Barrier(here.comm)); });
    CHECK_OK(MPIX_Threadcomm_free(&comm));
    CHECK_OK(MPI_Comm_free_keyval(&key));
    CHECK_OK(MPI_Comm_free(&parent));
}

thread_local int calls = 0;
void count_call(MPI_Comm*, int*, ...) {
    ++calls;
}

// The error handler of the thread's communicator is called by the functions on thread communicators, too.
void own_error_handler() {
    in_region(2, true, [](const Here& here) {
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        CHECK_OK(MPI_Comm_create_errhandler(count_call, &handler));
        CHECK_OK(MPI_Comm_set_errhandler(here.comm, handler));
        MPI_Comm handle = here.comm;
        CHECK_CLASS(MPIX_Threadcomm_start(handle), MPI_ERR_COMM);
        CHECK_CLASS(MPIX_Threadcomm_free(&handle), MPI_ERR_COMM);
        MPI_Comm made = MPI_COMM_NULL;
        CHECK_OK(MPI_Comm_dup(here.comm, &made));
        CHECK_CLASS(MPIX_Threadcomm_finish(handle), MPI_ERR_PENDING);
        CHECK_OK(MPI_Comm_free(&made));
        CHECK_EQUAL(calls, 3);
        CHECK_OK(MPI_Errhandler_free(&handler));
    });
}

// A receive is active on a communicator that the program has freed: that is what is left.
void request_on_a_freed_communicator() {
    in_region(2, true, [](const Here& here) {
        MPI_Comm made = MPI_COMM_NULL;
        MPI_Request request = MPI_REQUEST_NULL;
        int word = 0, length = 0;
        char text[MPI_MAX_ERROR_STRING];
        CHECK_OK(MPI_Comm_dup(here.comm, &made));
        CHECK_OK(MPI_Irecv(&word, 1, MPI_INT, here.rank, 0, made, &request));
        CHECK_OK(MPI_Comm_free(&made));
        const int code = MPIX_Threadcomm_finish(here.comm);
        CHECK_CLASS(code, MPI_ERR_PENDING);
        MPI_Error_string(code, text, &length);
        CHECK_TEXT(std::strstr(text, "requests") != nullptr, text);
        CHECK_OK(MPI_Cancel(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    });
}

// A variable of MPI_T cannot be bound to a communicator whose ranks are threads.
void tool_variable() {
    int provided = 0, index = 0;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    CHECK_OK(MPI_T_pvar_get_index("coll_component", MPI_T_PVAR_CLASS_STATE, &index));
    in_region(2, true, [index](const Here& here) {
        MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
        MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
        MPI_Comm comm = here.comm;
        int count = 0;
        CHECK_OK(MPI_T_pvar_session_create(&session));
        CHECK_EQUAL(MPI_T_pvar_handle_alloc(session, index, &comm, &handle, &count), MPI_T_ERR_INVALID);
        CHECK_OK(MPI_T_pvar_session_free(&session));
    });
    CHECK_OK(MPI_T_finalize());
}

// A session cannot be finalized while a thread communicator of it is active, and takes one that is not with it.
void finalized_session() {
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm parent = MPI_COMM_NULL, comm = MPI_COMM_NULL, idle = MPI_COMM_NULL;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "tests://threadcomm", MPI_INFO_NULL, MPI_ERRORS_RETURN, &parent));
    CHECK_OK(MPIX_Threadcomm_init(parent, 2, &comm));
    CHECK_OK(MPIX_Threadcomm_init(parent, 2, &idle));
    run_threads(comm, 2, [&](const Here& here) {
        MPI_Session handle = session;
        CHECK_CLASS(MPI_Session_finalize(&handle), MPI_ERR_COMM);
        CHECK_OK(MPI_Barrier(here.comm));
    });
    CHECK_OK(MPIX_Threadcomm_free(&comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_CLASS(MPIX_Threadcomm_start(idle), MPI_ERR_COMM);
}

int count_deletion(MPI_Comm, int, void*, void* count) {
    ++*static_cast<int*>(count);
    return MPI_SUCCESS;
}

// MPI_Session_finalize deletes the attributes of thread communicators as those of the session's other communicators.
void attributes_at_the_end_of_a_session() {
    int key = MPI_KEYVAL_INVALID, deletions = 0;
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm parent = MPI_COMM_NULL, comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "tests://threadcomm", MPI_INFO_NULL, MPI_ERRORS_RETURN, &parent));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, count_deletion, &key, &deletions));
    CHECK_OK(MPI_Comm_set_attr(parent, key, nullptr));
    CHECK_OK(MPIX_Threadcomm_init(parent, 2, &comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_EQUAL(deletions, 2);
    CHECK_OK(MPI_Comm_free_keyval(&key));
}

MPI_Comm freed_at_the_end = MPI_COMM_NULL;
int free_at_the_end(MPI_Comm, int, void*, void*) {
    CHECK_OK(MPIX_Threadcomm_free(&freed_at_the_end));
    CHECK(freed_at_the_end == MPI_COMM_NULL);
    return MPI_SUCCESS;
}

// The deletion callbacks of MPI_COMM_SELF, which MPI_Finalize calls first, may free thread communicators.
void free_in_a_callback() {
    int key = MPI_KEYVAL_INVALID;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_at_the_end, &key, nullptr));
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_WORLD, 2, &freed_at_the_end));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr));
}

// What only processes can do.
void of_processes_only() {
    in_region(2, true, [](const Here& here) {
        MPI_Comm made = MPI_COMM_NULL;
        int code = 0;
        CHECK_CLASS(MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, here.comm, &made, &code), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Comm_accept("", MPI_INFO_NULL, 0, here.comm, &made), MPI_ERR_COMM);
        CHECK_CLASS(MPIX_Threadcomm_init(here.comm, 1, &made), MPI_ERR_COMM);
    });
}

} // namespace

int main() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    wrong_arguments();
    inactive();
    too_few_threads();
    finish_with_something_left();
    finish_with_collectives_left();
    freed_before_finish();
    of_processes_only();
    refused_attribute();
    own_error_handler();
    request_on_a_freed_communicator();
    tool_variable();
    finalized_session();
    attributes_at_the_end_of_a_session();
    free_in_a_callback();
    // MPI_Finalize is not called in an active one.
    in_region(1, true, [](const Here& here) {
        CHECK_OK(MPI_Barrier(here.comm));
        CHECK_CLASS(MPI_Finalize(), MPI_ERR_COMM);
    });
    return finish();
}
