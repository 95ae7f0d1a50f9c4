// SPDX-License-Identifier: BSD-3-Clause
#include "tests/bad_input/pool.h"

#include "tests/mpi_check/check.h"

namespace {

Word null_handle(Handle type) {
    switch (type) {
    case Handle::comm:
        return MPI_COMM_NULL;
    case Handle::group:
        return MPI_GROUP_NULL;
    case Handle::datatype:
        return MPI_DATATYPE_NULL;
    case Handle::op:
        return MPI_OP_NULL;
    case Handle::info:
        return MPI_INFO_NULL;
    case Handle::errhandler:
        return MPI_ERRHANDLER_NULL;
    case Handle::session:
        return MPI_SESSION_NULL;
    case Handle::request:
        return MPI_REQUEST_NULL;
    case Handle::message:
        return MPI_MESSAGE_NULL;
    case Handle::win:
        return MPI_WIN_NULL;
    case Handle::cvar:
        return MPI_T_CVAR_HANDLE_NULL;
    case Handle::pvar_session:
        return MPI_T_PVAR_SESSION_NULL;
    case Handle::pvar:
        return MPI_T_PVAR_HANDLE_NULL;
    case Handle::enumeration:
        return MPI_T_ENUM_NULL;
    default:
        return nullptr; // MPI_T has no names for the others
    }
}

void handle_nothing(MPI_Comm*, int*, ...) {}

int query_nothing(void*, MPI_Status* status) {
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    return MPI_SUCCESS;
}

int free_nothing(void*) {
    return MPI_SUCCESS;
}

int cancel_nothing(void*, int) {
    return MPI_SUCCESS;
}

void reduce_nothing(void*, void*, int*, MPI_Datatype*) {}

MPI_Comm make_intercomm() {
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        return MPI_COMM_NULL;
    }
    MPI_Comm half, inter;
    const int color = rank == 0 ? 0 : 1;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, color, 0, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - color, 5, &inter));
    CHECK_OK(MPI_Comm_free(&half));
    return inter;
}

} // namespace

Pool::Pool() {
    const int dims[1] = {1};
    const int periods[1] = {1};
    const int indx[1] = {1};
    const int edges[1] = {0};
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    inter = make_intercomm();
    CHECK_OK(MPI_Cart_create(MPI_COMM_SELF, 1, dims, periods, 0, &cart));
    CHECK_OK(MPI_Graph_create(MPI_COMM_SELF, 1, indx, edges, 0, &graph));
    CHECK_OK(MPI_Dist_graph_create_adjacent(
        MPI_COMM_SELF, 1, edges, MPI_UNWEIGHTED, 1, edges, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &dist));
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    CHECK_OK(MPI_Type_vector(2, 1, 2, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_vector(2, 1, 2, MPI_INT, &uncommitted));
    CHECK_OK(MPI_Op_create(reduce_nothing, 1, &op));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Comm_create_errhandler(handle_nothing, &errhandler));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Send_init(_sent.data(), 1, MPI_INT, 0, 3, MPI_COMM_SELF, &persistent));
    CHECK_OK(MPI_Psend_init(_sent.data(), 4, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &psend));
    CHECK_OK(MPI_Precv_init(_received.data(), 4, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &precv));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_keyval, nullptr));
    CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_keyval, nullptr));
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &win_keyval, nullptr));
    CHECK_OK(MPIX_Session_create_keyval(nullptr, &session_keyval, nullptr));
    CHECK_OK(MPI_Win_create(_sent.data(), 64, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win));
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &dynamic));
    start_partitions();
    make_tools();
    make_freed();
    make_freed_requests();
    make_freed_tools();
}

Pool::Pool(Without)
    : comm(MPI_COMM_WORLD),
      inter(MPI_COMM_WORLD),
      cart(MPI_COMM_WORLD),
      graph(MPI_COMM_WORLD),
      dist(MPI_COMM_WORLD),
      group(MPI_GROUP_EMPTY),
      type(MPI_INT),
      op(MPI_SUM),
      info(MPI_INFO_ENV),
      errhandler(MPI_ERRORS_RETURN),
      comm_keyval(MPI_KEYVAL_INVALID),
      type_keyval(MPI_KEYVAL_INVALID),
      win_keyval(MPI_KEYVAL_INVALID),
      session_keyval(MPI_KEYVAL_INVALID),
      _has_objects(false) {}

// Of started requests the partitions are checked.
void Pool::start_partitions() {
    CHECK_OK(MPI_Start(&precv));
    CHECK_OK(MPI_Start(&psend));
}

void Pool::end_partitions() {
    CHECK_OK(MPI_Pready_range(0, 3, psend));
    CHECK_OK(MPI_Wait(&psend, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&precv, MPI_STATUS_IGNORE));
}

namespace {

// The first variable or event that is bound to no object; `bind` gets what it is bound to.
template <class Bind>
int first_unbound(int number, const Bind& bind) {
    for (int i = 0; i < number; ++i) {
        if (bind(i) == MPI_T_BIND_NO_OBJECT) {
            return i;
        }
    }
    check_failed(__FILE__, __LINE__, "all are bound to objects");
    return 0;
}

int unbound_pvar() {
    int number = 0;
    CHECK_OK(MPI_T_pvar_get_num(&number));
    return first_unbound(number, [](int i) {
        int bind = -1;
        CHECK_OK(MPI_T_pvar_get_info(i, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &bind,
            nullptr, nullptr, nullptr));
        return bind;
    });
}

int unbound_event() {
    int number = 0;
    CHECK_OK(MPI_T_event_get_num(&number));
    return first_unbound(number, [](int i) {
        int bind = -1;
        CHECK_OK(MPI_T_event_get_info(
            i, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &bind));
        return bind;
    });
}

} // namespace

void Pool::make_tools() {
    int provided = 0, index = 0, count = 0;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_OK(MPI_T_cvar_get_index("mpi_initial_errhandler", &index));
    CHECK_OK(MPI_T_cvar_get_info(
        index, nullptr, nullptr, nullptr, nullptr, &enumeration, nullptr, nullptr, nullptr, nullptr));
    CHECK_OK(MPI_T_cvar_handle_alloc(index, nullptr, &cvar, &count));
    CHECK_OK(MPI_T_pvar_session_create(&pvar_session));
    CHECK_OK(MPI_T_pvar_handle_alloc(pvar_session, unbound_pvar(), nullptr, &pvar, &count));
    CHECK_OK(MPI_T_event_handle_alloc(unbound_event(), nullptr, MPI_INFO_NULL, &registration));
}

void Pool::make_freed_tools() {
    MPI_T_cvar_handle gone_cvar;
    MPI_T_pvar_session gone_session;
    MPI_T_pvar_handle gone_pvar;
    MPI_T_event_registration gone_registration;
    int count = 0;
    CHECK_OK(MPI_T_cvar_handle_alloc(0, nullptr, &gone_cvar, &count));
    CHECK_OK(MPI_T_pvar_session_create(&gone_session));
    CHECK_OK(MPI_T_pvar_handle_alloc(pvar_session, unbound_pvar(), nullptr, &gone_pvar, &count));
    CHECK_OK(MPI_T_event_handle_alloc(unbound_event(), nullptr, MPI_INFO_NULL, &gone_registration));
    add_freed(Handle::cvar, gone_cvar);
    add_freed(Handle::pvar_session, gone_session);
    add_freed(Handle::pvar, gone_pvar);
    add_freed(Handle::registration, gone_registration);
    CHECK_OK(MPI_T_event_handle_free(gone_registration, nullptr, nullptr));
    CHECK_OK(MPI_T_pvar_handle_free(pvar_session, &gone_pvar));
    CHECK_OK(MPI_T_pvar_session_free(&gone_session));
    CHECK_OK(MPI_T_cvar_handle_free(&gone_cvar));
}

// Handles of objects that have been freed. Nothing else is constructed afterwards which could get their memory.
void Pool::make_freed() {
    MPI_Comm gone_comm;
    MPI_Group gone_group;
    MPI_Datatype gone_type;
    MPI_Op gone_op;
    MPI_Info gone_info;
    MPI_Errhandler gone_errhandler;
    MPI_Session gone_session;
    MPI_Win gone_win;
    const int first[1] = {0};
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &gone_comm));
    CHECK_OK(MPI_Group_incl(group, 1, first, &gone_group));
    CHECK_OK(MPI_Type_vector(3, 1, 2, MPI_INT, &gone_type));
    CHECK_OK(MPI_Op_create(reduce_nothing, 1, &gone_op));
    CHECK_OK(MPI_Info_create(&gone_info));
    CHECK_OK(MPI_Comm_create_errhandler(handle_nothing, &gone_errhandler));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &gone_session));
    CHECK_OK(MPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &gone_win));
    add_freed(Handle::win, gone_win);
    const Word gone[] = {gone_comm, gone_group, gone_type, gone_op, gone_info, gone_errhandler, gone_session};
    for (std::size_t i = 0; i < std::size(gone); ++i) {
        add_freed(Handle(i), gone[i]);
    }
    CHECK_OK(MPI_Win_free(&gone_win));
    CHECK_OK(MPI_Session_finalize(&gone_session));
    CHECK_OK(MPI_Errhandler_free(&gone_errhandler));
    CHECK_OK(MPI_Info_free(&gone_info));
    CHECK_OK(MPI_Op_free(&gone_op));
    CHECK_OK(MPI_Type_free(&gone_type));
    CHECK_OK(MPI_Group_free(&gone_group));
    CHECK_OK(MPI_Comm_free(&gone_comm));
}

// One of each kind that the library has a class for: messages of all lengths, collectives, generalized requests.
void Pool::make_freed_requests() {
    std::vector<int> sent(100000, 1), received(100000);
    std::vector<MPI_Request> requests;
    const auto add = [&]() -> MPI_Request* { return &requests.emplace_back(MPI_REQUEST_NULL); };
    requests.reserve(20);
    for (const int count : {1, 2000, 100000}) {
        CHECK_OK(MPI_Irecv(received.data(), count, MPI_INT, 0, count, MPI_COMM_SELF, add()));
        CHECK_OK(MPI_Isend(sent.data(), count, MPI_INT, 0, count, MPI_COMM_SELF, add()));
        add_freed(Handle::request, requests.end()[-1]);
        add_freed(Handle::request, requests.end()[-2]);
        CHECK_OK(MPI_Waitall(2, &requests.end()[-2], MPI_STATUSES_IGNORE));
    }
    CHECK_OK(MPI_Isend(sent.data(), 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, add()));
    CHECK_OK(MPI_Iallreduce(sent.data(), received.data(), 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, add()));
    CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, add()));
    CHECK_OK(MPI_Grequest_start(query_nothing, free_nothing, cancel_nothing, nullptr, add()));
    CHECK_OK(MPI_Grequest_complete(requests.back()));
    for (std::size_t i = requests.size() - 4; i < requests.size(); ++i) {
        add_freed(Handle::request, requests[i]);
        CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Send_init(sent.data(), 1, MPI_INT, 0, 3, MPI_COMM_SELF, add()));
    CHECK_OK(MPI_Recv_init(received.data(), 1, MPI_INT, 0, 3, MPI_COMM_SELF, add()));
    CHECK_OK(MPI_Bcast_init(sent.data(), 1, MPI_INT, 0, MPI_COMM_SELF, MPI_INFO_NULL, add()));
    CHECK_OK(MPI_Psend_init(sent.data(), 2, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_SELF, MPI_INFO_NULL, add()));
    for (std::size_t i = requests.size() - 4; i < requests.size(); ++i) {
        add_freed(Handle::request, requests[i]);
        CHECK_OK(MPI_Request_free(&requests[i]));
    }
    MPI_Message message;
    CHECK_OK(MPI_Isend(sent.data(), 1, MPI_INT, 0, 8, MPI_COMM_SELF, add()));
    CHECK_OK(MPI_Mprobe(0, 8, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE));
    add_freed(Handle::message, message);
    CHECK_OK(MPI_Mrecv(received.data(), 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&requests.back(), MPI_STATUS_IGNORE));
}

Pool::~Pool() {
    if (!_has_objects) {
        return;
    }
    CHECK_OK(MPI_T_event_handle_free(registration, nullptr, nullptr));
    CHECK_OK(MPI_T_pvar_session_free(&pvar_session));
    CHECK_OK(MPI_T_cvar_handle_free(&cvar));
    CHECK_OK(MPI_T_finalize());
    end_partitions();
    CHECK_OK(MPIX_Session_free_keyval(&session_keyval));
    for (MPI_Request* request : {&persistent, &psend, &precv}) {
        CHECK_OK(MPI_Request_free(request));
    }
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Win_free(&dynamic));
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_OK(MPI_Errhandler_free(&errhandler));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPI_Type_free(&uncommitted));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_free_keyval(&comm_keyval));
    CHECK_OK(MPI_Type_free_keyval(&type_keyval));
    CHECK_OK(MPI_Win_free_keyval(&win_keyval));
    for (MPI_Comm* one : {&dist, &graph, &cart, &inter, &comm}) {
        if (*one != MPI_COMM_NULL) {
            CHECK_OK(MPI_Comm_free(one));
        }
    }
}

std::vector<Word> Pool::bad_handles(Handle type, Bad what) const {
    switch (what) {
    case Bad::null_handle:
        return {null_handle(type)};
    case Bad::zero_handle:
        return {nullptr};
    case Bad::freed_handle:
        return _freed[std::size_t(type)];
    case Bad::other_handle:
        // A predefined handle, and the address of an object.
        return type == Handle::group ? std::vector<Word>{MPI_INT, info} : std::vector<Word>{MPI_GROUP_EMPTY, group};
    case Bad::random_handle:
        return {
            std::intptr_t(0x1009),             // no predefined handle, and in the page after theirs
            std::intptr_t(0x0000123456789ab8), // most likely not mapped
            std::intptr_t(0x4141414141414141), // no address of this machine
            std::intptr_t(-1),
            std::intptr_t(0x7ffffffff001), // not aligned, at the end of the addresses
            _no_object.data(), reinterpret_cast<char*>(const_cast<std::intptr_t*>(_no_object.data())) + 3,
            reinterpret_cast<void*>(&MPI_Send), // code
        };
    default:
        return {};
    }
}
