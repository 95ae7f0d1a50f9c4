// SPDX-License-Identifier: BSD-3-Clause
// A tool's thread reads variables, starts and stops them and registers callbacks while other threads communicate.
// Argument: the thread level of MPI; below "multiple" the tool's thread is the second one in the library.
#include "tests/mpi_t/mpi_t.h"

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace {

std::atomic<bool> done{false};
std::atomic<long> events{0};

void on_event(MPI_T_event_instance instance, MPI_T_event_registration, MPI_T_cb_safety, void*) {
    int source = -1;
    CHECK(MPI_T_event_read(instance, 0, &source) == MPI_SUCCESS && source >= 0);
    events.fetch_add(1);
}

// Without the level for threads: never on two threads at a time, and it may communicate.
std::atomic<int> inside{0};
std::atomic<long> unrestricted_events{0};

void one_at_a_time(MPI_T_event_instance instance, MPI_T_event_registration, MPI_T_cb_safety safety, void*) {
    CHECK_EQUAL(inside.fetch_add(1), 0);
    int source = -1, sent = 3, received = 0;
    CHECK_EQUAL(safety, MPI_T_CB_REQUIRE_NONE);
    CHECK(MPI_T_event_read(instance, 0, &source) == MPI_SUCCESS && source >= 0);
    CHECK_OK(MPI_Sendrecv(&sent, 1, MPI_INT, 0, 50, &received, 1, MPI_INT, 0, 50, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK_EQUAL(received, 3);
    unrestricted_events.fetch_add(1);
    inside.fetch_sub(1);
}

void observe(MPI_Comm comm) {
    int event = -1;
    CHECK(MPI_T_event_get_index("pml_ob1_unexpected_message", &event) == MPI_SUCCESS);
    while (!done) {
        MPI_T_pvar_session session;
        CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
        auto sent = pvar_handle(session, "pml_ob1_messages_sent", MPI_T_PVAR_CLASS_COUNTER, nullptr);
        auto posted = pvar_handle(session, "pml_ob1_posted_length", MPI_T_PVAR_CLASS_LEVEL, &comm);
        auto highest =
            pvar_handle(session, "pml_ob1_unexpected_bytes_highest", MPI_T_PVAR_CLASS_HIGHWATERMARK, nullptr);
        MPI_T_event_registration registration = nullptr;
        CHECK(MPI_T_event_handle_alloc(event, nullptr, MPI_INFO_NULL, &registration) == MPI_SUCCESS);
        CHECK(MPI_T_event_register_callback(
                  registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, nullptr, on_event) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_start(session, sent) == MPI_SUCCESS);
        unsigned long long before = 0;
        for (int i = 0; i < 100 && !done; ++i) {
            const unsigned long long now = read_pvar(session, sent);
            CHECK(now >= before);
            before = now;
            CHECK(read_pvar(session, posted) <= 1000);
            (void)read_pvar(session, highest);
            CHECK(MPI_T_pvar_readreset(session, sent, &before) == MPI_SUCCESS);
            before = 0;
        }
        CHECK(MPI_T_pvar_stop(session, sent) == MPI_SUCCESS);
        CHECK(MPI_T_event_handle_free(registration, nullptr, nullptr) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
    }
}

// What belongs to no object can be read at any time, also while another thread initializes or finalizes the library.
void observe_totals(const std::atomic<bool>& over) {
    MPI_T_pvar_session session;
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    auto sleeps = pvar_handle(session, "wait_sleeps", MPI_T_PVAR_CLASS_COUNTER, nullptr);
    auto users = pvar_handle(session, "mpi_users", MPI_T_PVAR_CLASS_LEVEL, nullptr);
    auto communicators = pvar_handle(session, "mpi_communicators", MPI_T_PVAR_CLASS_LEVEL, nullptr);
    unsigned long long before = 0;
    while (!over) {
        const unsigned long long now = read_pvar(session, sleeps);
        CHECK(now >= before);
        before = now;
        CHECK(read_pvar(session, users) <= 1);
        (void)read_pvar(session, communicators);
    }
    CHECK_EQUAL(read_pvar(session, users), 0);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
}

// A variable that is bound to a communicator is read while another thread frees that.
void observe_freed() {
    MPI_T_pvar_session session;
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    int variable = -1;
    CHECK(MPI_T_pvar_get_index("coll_component", MPI_T_PVAR_CLASS_STATE, &variable) == MPI_SUCCESS);
    for (int i = 0; i < 100; ++i) {
        MPI_Comm comm;
        MPI_T_pvar_handle handle;
        int count = 0;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
        CHECK(MPI_T_pvar_handle_alloc(session, variable, &comm, &handle, &count) == MPI_SUCCESS);
        std::atomic<bool> reads{false};
        std::thread reader([&] {
            std::vector<int> components(std::size_t(count), -1);
            int code = MPI_SUCCESS;
            while (code == MPI_SUCCESS) {
                code = MPI_T_pvar_read(session, handle, components.data());
                reads = true;
            }
            CHECK_EQUAL(code, MPI_T_ERR_INVALID_HANDLE);
        });
        while (!reads) {
            std::this_thread::yield();
        }
        CHECK_OK(MPI_Comm_free(&comm));
        reader.join();
        CHECK(MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS);
    }
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
}

void communicate(int thread, int rounds) {
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    std::vector<int> sent(5000, rank), received(5000);
    for (int i = 0; i < rounds; ++i) {
        const int count = i % 10 == 0 ? 5000 : 2;
        MPI_Request request;
        MPI_Isend(sent.data(), count, MPI_INT, to, thread, MPI_COMM_WORLD, &request);
        MPI_Recv(received.data(), count, MPI_INT, from, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(received[0] == from && received[std::size_t(count) - 1] == from);
    }
}

} // namespace

int main(int argc, char** argv) {
    const bool multiple = argc > 1 && std::strcmp(argv[1], "multiple") == 0;
    const bool serialized = argc > 1 && std::strcmp(argv[1], "serialized") == 0;
    const int level = multiple ? MPI_THREAD_MULTIPLE : serialized ? MPI_THREAD_SERIALIZED : MPI_THREAD_FUNNELED;
    int provided;
    CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS);
    CHECK_OK(MPI_Init_thread(&argc, &argv, level, &provided));
    MPI_Comm world = MPI_COMM_WORLD;
    int event = -1;
    MPI_T_event_registration unrestricted = nullptr;
    CHECK(MPI_T_event_get_index("pml_ob1_unexpected_message", &event) == MPI_SUCCESS);
    CHECK(MPI_T_event_handle_alloc(event, &world, MPI_INFO_NULL, &unrestricted) == MPI_SUCCESS);
    CHECK(MPI_T_event_register_callback(unrestricted, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, nullptr, one_at_a_time) ==
        MPI_SUCCESS);
    std::thread tool([world] { observe(world); });
    constexpr int rounds = 1000;
    if (multiple) {
        std::thread other([] { communicate(1, rounds); });
        communicate(0, rounds);
        other.join();
    } else {
        communicate(0, rounds);
    }
    done = true;
    tool.join();
    if (multiple) {
        observe_freed();
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_SELF)); // delivers what waits
    std::printf("%ld events without restrictions\n", unrestricted_events.load());
    CHECK(MPI_T_event_handle_free(unrestricted, nullptr, nullptr) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    std::atomic<bool> over{false};
    std::thread totals([&over] { observe_totals(over); });
    const int status = finish();
    for (int i = 0; i < 3; ++i) {
        MPI_Session session;
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        CHECK_OK(MPI_Session_finalize(&session));
    }
    over = true;
    totals.join();
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    return status != 0 || failures();
}
