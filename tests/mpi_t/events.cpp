// SPDX-License-Identifier: BSD-3-Clause
// Events: callbacks with the right values, objects and time stamps, safety levels, dropped events, and what a callback
// may call. Rank 0 sends to the last rank; with one rank to itself.
#include "tests/mpi_t/mpi_t.h"

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

namespace {

int rank, size, last;

int event_index(const char* name) {
    int index = -1;
    CHECK_TEXT(MPI_T_event_get_index(name, &index) == MPI_SUCCESS, name);
    return index;
}

struct Unexpected { // as MPI_T_event_copy lays it out
    int source;
    int tag;
    MPI_Count bytes;
};

struct Seen {
    std::vector<Unexpected> messages;
    std::vector<MPI_Count> times;
    int freed = 0;
    MPI_T_cb_safety safety = MPI_T_CB_REQUIRE_NONE;
    MPI_T_cb_safety free_safety = MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE;
};

void on_message(
    MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void* user_data) {
    auto& seen = *static_cast<Seen*>(user_data);
    Unexpected message{};
    MPI_Count time = -1, now = -1;
    int source = -1, element = -1, number = 0;
    CHECK(registration != nullptr);
    CHECK(MPI_T_event_copy(instance, &message) == MPI_SUCCESS);
    CHECK(MPI_T_event_read(instance, 0, &element) == MPI_SUCCESS && element == message.source);
    CHECK(MPI_T_event_read(instance, 1, &element) == MPI_SUCCESS && element == message.tag);
    CHECK_EQUAL(MPI_T_event_read(instance, 3, &element), MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_event_get_timestamp(instance, &time) == MPI_SUCCESS);
    CHECK(MPI_T_event_get_source(instance, &source) == MPI_SUCCESS && source == 0);
    CHECK(MPI_T_source_get_timestamp(0, &now) == MPI_SUCCESS && now >= time);
    CHECK(MPI_T_event_get_num(&number) == MPI_SUCCESS && number >= 3);
    // What is not for callbacks.
    CHECK_EQUAL(MPI_T_init_thread(MPI_THREAD_SINGLE, &number), MPI_T_ERR_NOT_ACCESSIBLE);
    CHECK_EQUAL(MPI_T_finalize(), MPI_T_ERR_NOT_ACCESSIBLE);
    seen.messages.push_back(message);
    seen.times.push_back(time);
    seen.safety = safety;
}

void on_free(MPI_T_event_registration, MPI_T_cb_safety safety, void* user_data) {
    auto& seen = *static_cast<Seen*>(user_data);
    ++seen.freed;
    seen.free_safety = safety;
}

MPI_T_event_registration register_for(
    const char* name, void* object, MPI_T_cb_safety safety, MPI_T_event_cb_function* function, void* user_data) {
    MPI_T_event_registration registration = nullptr;
    CHECK(MPI_T_event_handle_alloc(event_index(name), object, MPI_INFO_NULL, &registration) == MPI_SUCCESS);
    CHECK(MPI_T_event_register_callback(registration, safety, MPI_INFO_NULL, user_data, function) == MPI_SUCCESS);
    return registration;
}

// `count` messages with tags from `tag` on, which come before their receives are posted.
void send_unexpected(MPI_Comm comm, int tag, int count) {
    char data[64] = "";
    MPI_Request sends[16];
    if (rank == 0) {
        for (int i = 0; i < count; ++i) {
            MPI_Isend(data, 10 + i, MPI_CHAR, last, tag + i, comm, &sends[i]);
        }
    }
    if (rank == last) {
        MPI_Probe(0, tag + count - 1, comm, MPI_STATUS_IGNORE);
        for (int i = 0; i < count; ++i) {
            MPI_Recv(data, sizeof data, MPI_CHAR, 0, tag + i, comm, MPI_STATUS_IGNORE);
        }
    }
    if (rank == 0) {
        MPI_Waitall(count, sends, MPI_STATUSES_IGNORE);
    }
}

void check_messages(const Seen& seen, int tag, int count) {
    if (rank != last) {
        return;
    }
    int found = 0;
    MPI_Count before = 0;
    for (std::size_t i = 0; i < seen.messages.size(); ++i) {
        const Unexpected& message = seen.messages[i];
        if (message.tag >= tag && message.tag < tag + count) {
            CHECK_EQUAL(message.source, 0);
            CHECK_EQUAL(message.tag, tag + found);
            CHECK_EQUAL(message.bytes, 10 + found);
            CHECK(seen.times[i] >= before);
            before = seen.times[i];
            ++found;
        }
    }
    CHECK_EQUAL(found, count);
    CHECK_EQUAL(seen.safety, MPI_T_CB_REQUIRE_MPI_RESTRICTED);
}

void messages() {
    Seen on_world, on_all, on_other;
    MPI_Comm comm, world = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    auto of_world =
        register_for("pml_ob1_unexpected_message", &world, MPI_T_CB_REQUIRE_MPI_RESTRICTED, on_message, &on_world);
    auto of_all =
        register_for("pml_ob1_unexpected_message", nullptr, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, on_message, &on_all);
    auto of_other =
        register_for("pml_ob1_unexpected_message", &comm, MPI_T_CB_REQUIRE_THREAD_SAFE, on_message, &on_other);
    MPI_Barrier(MPI_COMM_WORLD);
    send_unexpected(MPI_COMM_WORLD, 100, 3);
    send_unexpected(comm, 200, 4);
    check_messages(on_world, 100, 3);
    check_messages(on_world, 200, 0);
    check_messages(on_other, 200, 4);
    check_messages(on_all, 100, 3);
    check_messages(on_all, 200, 4);
    const std::size_t so_far = on_world.messages.size();
    // Without a callback there are no events.
    CHECK(MPI_T_event_register_callback(of_world, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, nullptr, nullptr) ==
        MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    send_unexpected(MPI_COMM_WORLD, 100, 2);
    CHECK_EQUAL(on_world.messages.size(), so_far);
    CHECK(MPI_T_event_handle_free(of_world, &on_world, on_free) == MPI_SUCCESS && on_world.freed == 1);
    CHECK_EQUAL(on_world.free_safety, MPI_T_CB_REQUIRE_NONE);
    CHECK(MPI_T_event_handle_free(of_other, &on_other, on_free) == MPI_SUCCESS && on_other.freed == 1);
    CHECK(MPI_T_event_handle_free(of_all, nullptr, nullptr) == MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_event_handle_free(of_all, nullptr, nullptr), MPI_T_ERR_INVALID_HANDLE);
    const std::size_t all = on_all.messages.size();
    MPI_Barrier(MPI_COMM_WORLD);
    send_unexpected(MPI_COMM_WORLD, 100, 2);
    CHECK_EQUAL(on_all.messages.size(), all);
    MPI_Comm_free(&comm);
}

// A registration ends with its communicator: one that has the address of a freed one is another object.
void freed_communicators() {
    constexpr int attempts = 20;
    Seen seen;
    int again = 0;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        MPI_Comm freed, later;
        MPI_Comm_dup(MPI_COMM_SELF, &freed);
        auto registration =
            register_for("pml_ob1_unexpected_message", &freed, MPI_T_CB_REQUIRE_MPI_RESTRICTED, on_message, &seen);
        const MPI_Comm address = freed;
        MPI_Comm_free(&freed);
        MPI_Comm_dup(MPI_COMM_SELF, &later);
        again += later == address;
        int value = 0;
        MPI_Request send;
        MPI_Isend(&value, 1, MPI_INT, 0, 1, later, &send);
        MPI_Probe(0, 1, later, MPI_STATUS_IGNORE);
        MPI_Recv(&value, 1, MPI_INT, 0, 1, later, MPI_STATUS_IGNORE);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        CHECK(MPI_T_event_handle_free(registration, nullptr, nullptr) == MPI_SUCCESS);
        MPI_Comm_free(&later);
    }
    std::printf("%d of %d later communicators had the address of a freed one\n", again, attempts);
    CHECK_EQUAL(int(seen.messages.size()), 0);
}

void free_itself(MPI_T_event_instance, MPI_T_event_registration registration, MPI_T_cb_safety, void* user_data) {
    auto& seen = *static_cast<Seen*>(user_data);
    seen.messages.emplace_back();
    CHECK(MPI_T_event_handle_free(registration, &seen, on_free) == MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_event_handle_free(registration, &seen, on_free), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQUAL(seen.freed, 0); // it runs still
}

void freeing_in_a_callback() {
    Seen seen;
    auto registration =
        register_for("pml_ob1_unexpected_message", nullptr, MPI_T_CB_REQUIRE_MPI_RESTRICTED, free_itself, &seen);
    MPI_Barrier(MPI_COMM_WORLD);
    send_unexpected(MPI_COMM_WORLD, 250, 3);
    if (seen.messages.empty()) { // no event came here
        CHECK(MPI_T_event_handle_free(registration, nullptr, nullptr) == MPI_SUCCESS);
    }
    if (rank == last) {
        CHECK_EQUAL(seen.messages.size(), 1U);
        CHECK_EQUAL(seen.freed, 1);
        CHECK_EQUAL(seen.free_safety, MPI_T_CB_REQUIRE_MPI_RESTRICTED);
    }
}

struct Dropped {
    MPI_Count count = 0;
    int calls = 0;
    int events = 0;
    MPI_T_cb_safety safety = MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE;
};
int selections = 0;

void on_dropped(MPI_Count count, MPI_T_event_registration, int source, MPI_T_cb_safety safety, void* user_data) {
    auto& dropped = *static_cast<Dropped*>(user_data);
    CHECK_EQUAL(source, 0);
    CHECK_EQUAL(dropped.events, 0);
    dropped.safety = safety;
    dropped.count += count;
    ++dropped.calls;
}

void count_event(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void* user_data) {
    ++static_cast<Dropped*>(user_data)->events;
}

// An event of another registration: the handler has been called before it.
void after_drops(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void* user_data) {
    CHECK_EQUAL(static_cast<const Dropped*>(user_data)->calls, 2);
    ++selections;
}

void never(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void*) {
    CHECK_TEXT(false, "a callback was called whose registration has ended");
}

// Sends `count` messages to itself that come before their receives, so that each of them is an event.
void send_to_itself(int count, MPI_Comm comm = MPI_COMM_SELF) {
    int data[16] = {};
    MPI_Request sends[16];
    for (int i = 0; i < count; ++i) {
        CHECK_OK(MPI_Isend(&data[i], 1, MPI_INT, 0, 600 + i, comm, &sends[i]));
    }
    int flag = 0;
    while (flag == 0) {
        CHECK_OK(MPI_Iprobe(0, 600 + count - 1, comm, &flag, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < count; ++i) {
        CHECK_OK(MPI_Recv(&data[i], 1, MPI_INT, 0, 600 + i, comm, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Waitall(count, sends, MPI_STATUSES_IGNORE));
}

// Only a callback without restrictions is registered: it gets the events in their order when no MPI call is under way,
// and may call everything, also what makes it wait for other processes.
struct Unrestricted {
    std::vector<Unexpected> messages;
    MPI_Count latest = 0;
};

void unrestricted(MPI_T_event_instance instance, MPI_T_event_registration, MPI_T_cb_safety safety, void* user_data) {
    auto& seen = *static_cast<Unrestricted*>(user_data);
    Unexpected message{};
    MPI_Count time = 0;
    CHECK_EQUAL(safety, MPI_T_CB_REQUIRE_NONE);
    CHECK(MPI_T_event_copy(instance, &message) == MPI_SUCCESS);
    CHECK(MPI_T_event_get_timestamp(instance, &time) == MPI_SUCCESS && time >= seen.latest);
    CHECK(MPI_T_event_read(instance, 3, &time) == MPI_T_ERR_INVALID_INDEX);
    seen.latest = time;
    seen.messages.push_back(message);
    int sent = message.tag, got = -1;
    CHECK_OK(MPI_Sendrecv(&sent, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK_EQUAL(got, sent);
    MPI_Comm copy;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &copy));
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_EQUAL(MPI_T_finalize(), MPI_T_ERR_NOT_ACCESSIBLE);
}

void without_restrictions() {
    MPI_Comm self = MPI_COMM_SELF;
    Unrestricted seen;
    const auto registration =
        register_for("pml_ob1_unexpected_message", &self, MPI_T_CB_REQUIRE_NONE, unrestricted, &seen);
    send_to_itself(5);
    CHECK_OK(MPI_Barrier(MPI_COMM_SELF)); // the next call at the latest
    std::vector<int> tags;
    for (const Unexpected& message : seen.messages) {
        if (message.tag >= 600) {
            tags.push_back(message.tag);
            CHECK(message.source == 0 && message.bytes == 4);
        }
    }
    CHECK(tags == std::vector<int>({600, 601, 602, 603, 604}));
    // With a callback that may be called at once, no event waits.
    Seen at_once;
    const std::size_t so_far = seen.messages.size();
    CHECK(MPI_T_event_register_callback(
              registration, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, &at_once, on_message) == MPI_SUCCESS);
    send_to_itself(3);
    CHECK_OK(MPI_Barrier(MPI_COMM_SELF));
    CHECK_EQUAL(seen.messages.size(), so_far);
    CHECK_EQUAL(at_once.messages.size(), 3U);
    CHECK(MPI_T_event_handle_free(registration, nullptr, nullptr) == MPI_SUCCESS);
    // What waits for a registration that is freed is not delivered.
    const auto freed = register_for("pml_ob1_unexpected_message", &self, MPI_T_CB_REQUIRE_NONE, never, nullptr);
    int data = 0, flag = 0;
    MPI_Request send;
    CHECK_OK(MPI_Isend(&data, 1, MPI_INT, 0, 600, MPI_COMM_SELF, &send));
    CHECK(MPI_T_event_handle_free(freed, nullptr, nullptr) == MPI_SUCCESS);
    while (flag == 0) {
        CHECK_OK(MPI_Iprobe(0, 600, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Recv(&data, 1, MPI_INT, 0, 600, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

// Events that a callback causes are lost. The handler is called before the next event of the source, also before one of
// another registration, where there is a callback whose data it can get. A registration loses events of its own object
// only: there are messages on another communicator, too.
MPI_Comm not_bound;

void cause_events(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void*) {
    send_to_itself(3);
    send_to_itself(2, not_bound);
}

void one_event_later() {
    send_to_itself(1);
    CHECK_OK(MPI_Barrier(MPI_COMM_SELF)); // delivers what waits
}

void dropping() {
    constexpr auto restricted = MPI_T_CB_REQUIRE_MPI_RESTRICTED;
    MPI_Comm self = MPI_COMM_SELF;
    Dropped dropped;
    MPI_Comm_dup(MPI_COMM_SELF, &not_bound);
    const auto registration =
        register_for("pml_ob1_unexpected_message", &self, MPI_T_CB_REQUIRE_NONE, cause_events, &dropped);
    one_event_later(); // nothing is counted: there is no handler yet
    CHECK(MPI_T_event_set_dropped_handler(registration, on_dropped) == MPI_SUCCESS);
    one_event_later();
    CHECK_EQUAL(dropped.calls, 0);
    one_event_later();
    CHECK(dropped.calls == 1 && dropped.count == 3 && dropped.safety == MPI_T_CB_REQUIRE_NONE);
    const auto other = register_for("component_selected", nullptr, restricted, after_drops, &dropped);
    CHECK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, nullptr, nullptr) ==
        MPI_SUCCESS);
    CHECK(MPI_T_event_register_callback(registration, restricted, MPI_INFO_NULL, &dropped, count_event) == MPI_SUCCESS);
    MPI_Comm second;
    MPI_Comm_split(MPI_COMM_SELF, 0, 0, &second); // selects components of coll; no message is sent
    CHECK(selections >= 1);
    CHECK(dropped.calls == 2 && dropped.count == 6 && dropped.safety == restricted);
    send_to_itself(2);
    CHECK_EQUAL(dropped.events, 2);
    CHECK_EQUAL(dropped.calls, 2); // nothing was lost since
    CHECK(MPI_T_event_handle_free(registration, nullptr, nullptr) == MPI_SUCCESS);
    CHECK(MPI_T_event_handle_free(other, nullptr, nullptr) == MPI_SUCCESS);
    MPI_Comm_free(&second);
    MPI_Comm_free(&not_bound);
}

// A callback may look at performance variables, also of the module that has raised the event.
struct Lengths {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    unsigned long long longest = 0;
};

void read_length(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void* user_data) {
    auto& lengths = *static_cast<Lengths*>(user_data);
    unsigned long long length = 0;
    CHECK(MPI_T_pvar_read(lengths.session, lengths.handle, &length) == MPI_SUCCESS);
    lengths.longest = length > lengths.longest ? length : lengths.longest;
}

void reading_in_a_callback() {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    Lengths lengths{};
    CHECK(MPI_T_pvar_session_create(&lengths.session) == MPI_SUCCESS);
    lengths.handle = pvar_handle(lengths.session, "pml_ob1_unexpected_length", MPI_T_PVAR_CLASS_LEVEL, &comm);
    auto registration =
        register_for("pml_ob1_unexpected_message", &comm, MPI_T_CB_REQUIRE_MPI_RESTRICTED, read_length, &lengths);
    MPI_Barrier(MPI_COMM_WORLD);
    send_unexpected(comm, 400, 5);
    if (rank == last) {
        CHECK(lengths.longest >= 1 && lengths.longest <= 5);
    }
    CHECK(MPI_T_event_handle_free(registration, nullptr, nullptr) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_free(&lengths.session) == MPI_SUCCESS);
    MPI_Comm_free(&comm);
}

// There are no hints: what a program passes is ignored, which it sees in what it gets.
void check_empty(MPI_Info info) {
    int keys = -1;
    CHECK_OK(MPI_Info_get_nkeys(info, &keys));
    CHECK_EQUAL(keys, 0);
    CHECK_OK(MPI_Info_free(&info));
}

void infos() {
    MPI_Info info, held = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "purpose", "test");
    MPI_T_event_registration registration = nullptr;
    CHECK(MPI_T_event_handle_alloc(event_index("component_selected"), nullptr, info, &registration) == MPI_SUCCESS);
    CHECK(MPI_T_event_handle_set_info(registration, info) == MPI_SUCCESS);
    CHECK(MPI_T_event_handle_get_info(registration, &held) == MPI_SUCCESS);
    check_empty(held);
    CHECK(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, info) == MPI_SUCCESS);
    CHECK(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &held) == MPI_SUCCESS);
    check_empty(held);
    MPI_Info_free(&info);
    CHECK_EQUAL(
        MPI_T_event_handle_set_info(registration, reinterpret_cast<MPI_Info>(MPI_COMM_WORLD)), MPI_T_ERR_INVALID);
    CHECK_EQUAL(MPI_T_event_register_callback(registration, MPI_T_cb_safety(1), MPI_INFO_NULL, nullptr, never),
        MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_handle_free(registration, nullptr, nullptr) == MPI_SUCCESS);
}

void descriptions() {
    int number = 0, index = event_index("pml_ob1_unexpected_message"), elements = 2, bind = 0, length = 64;
    MPI_Datatype types[3] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
    MPI_Aint displacements[3] = {-1, -1, -1};
    MPI_T_enum items = MPI_T_ENUM_NULL;
    MPI_Info info = MPI_INFO_NULL;
    char name[64] = "";
    CHECK(MPI_T_event_get_num(&number) == MPI_SUCCESS && number >= 3);
    CHECK(MPI_T_event_get_info(index, name, &length, nullptr, types, displacements, &elements, &items, &info, nullptr,
              nullptr, &bind) == MPI_SUCCESS);
    CHECK(std::strcmp(name, "pml_ob1_unexpected_message") == 0 && bind == MPI_T_BIND_MPI_COMM);
    CHECK(elements == 3 && types[1] == MPI_INT && displacements[1] == 4 && displacements[2] == -1);
    CHECK(items == MPI_T_ENUM_NULL && info != MPI_INFO_NULL);
    MPI_Info_free(&info);
    CHECK_EQUAL(MPI_T_event_get_info(number, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                    nullptr, nullptr, nullptr),
        MPI_T_ERR_INVALID_INDEX);
    CHECK_EQUAL(MPI_T_event_read(nullptr, 0, name), MPI_T_ERR_INVALID_HANDLE);
    MPI_T_source_order order = MPI_T_SOURCE_ORDERED;
    MPI_Count ticks = 0, most = 0, first = 0, second = 0;
    CHECK(MPI_T_source_get_num(&number) == MPI_SUCCESS && number == 1);
    CHECK(MPI_T_source_get_info(0, nullptr, nullptr, nullptr, nullptr, &order, &ticks, &most, nullptr) == MPI_SUCCESS);
    CHECK(order == MPI_T_SOURCE_UNORDERED && ticks == 1000000000 && most > ticks);
    CHECK(
        MPI_T_source_get_timestamp(0, &first) == MPI_SUCCESS && MPI_T_source_get_timestamp(0, &second) == MPI_SUCCESS);
    CHECK(first <= second);
    CHECK_EQUAL(MPI_T_source_get_timestamp(1, &first), MPI_T_ERR_INVALID_INDEX);
}

// The components that were selected, "framework/name" each.
std::vector<std::string> selected;

void on_selected(MPI_T_event_instance instance, MPI_T_event_registration, MPI_T_cb_safety, void* user_data) {
    int item = -1;
    MPI_Count priority = -1;
    CHECK(MPI_T_event_read(instance, 0, &item) == MPI_SUCCESS);
    CHECK(MPI_T_event_read(instance, 1, &priority) == MPI_SUCCESS);
    selected.push_back((*static_cast<std::vector<std::string>*>(user_data))[std::size_t(item)]);
}

std::vector<std::string> component_names() {
    std::vector<std::string> names;
    MPI_T_enum items = MPI_T_ENUM_NULL;
    int number = 0;
    MPI_T_event_get_info(event_index("component_selected"), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
        &items, nullptr, nullptr, nullptr, nullptr);
    CHECK(MPI_T_enum_get_info(items, &number, nullptr, nullptr) == MPI_SUCCESS && number > 5);
    for (int i = 0; i < number; ++i) {
        char name[64];
        int length = sizeof name;
        CHECK(MPI_T_enum_get_item(items, i, nullptr, name, &length) == MPI_SUCCESS);
        names.emplace_back(name);
    }
    return names;
}

bool was_selected(const char* name) {
    for (const std::string& one : selected) {
        if (one == name) {
            return true;
        }
    }
    return false;
}

} // namespace

int main(int argc, char** argv) {
    int provided;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    std::vector<std::string> names = component_names();
    auto registration =
        register_for("component_selected", nullptr, MPI_T_CB_REQUIRE_MPI_RESTRICTED, on_selected, &names);
    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    last = size - 1;
    CHECK(was_selected("pml/ob1") && was_selected("coll/self"));
    CHECK(MPI_T_event_handle_free(registration, nullptr, nullptr) == MPI_SUCCESS);
    descriptions();
    infos();
    messages();
    freed_communicators();
    freeing_in_a_callback();
    without_restrictions();
    dropping();
    reading_in_a_callback();
    // A registration that is left ends with the interface.
    register_for("pml_ob1_unexpected_message", nullptr, MPI_T_CB_REQUIRE_NONE, never, nullptr);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    send_unexpected(MPI_COMM_WORLD, 500, 2);
    return finish();
}
