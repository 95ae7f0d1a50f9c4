// SPDX-License-Identifier: BSD-3-Clause
// Handles as integers (MPI-5.0, 21.6). These functions do not return an error code: for a handle or a number that is
// not valid the result is 0, which is neither.
#include "include/mpi.h"
#include "mpi/api/handle_table.h"

namespace {

// Never destroyed: a program may call MPI in its static destructors.
patchbay::api::HandleTable& table() {
    static auto& instance = *new patchbay::api::HandleTable;
    return instance;
}

template <class Handle>
int to_number(Handle handle) noexcept {
    return table().number_of(reinterpret_cast<std::uintptr_t>(handle));
}

template <class Handle>
Handle to_handle(int number) noexcept {
    return reinterpret_cast<Handle>(table().handle_of(number));
}

} // namespace

int PMPI_Comm_toint(MPI_Comm comm) {
    return to_number(comm);
}
MPI_Comm PMPI_Comm_fromint(int comm) {
    return to_handle<MPI_Comm>(comm);
}

int PMPI_Errhandler_toint(MPI_Errhandler errhandler) {
    return to_number(errhandler);
}
MPI_Errhandler PMPI_Errhandler_fromint(int errhandler) {
    return to_handle<MPI_Errhandler>(errhandler);
}

int PMPI_File_toint(MPI_File file) {
    return to_number(file);
}
MPI_File PMPI_File_fromint(int file) {
    return to_handle<MPI_File>(file);
}

int PMPI_Group_toint(MPI_Group group) {
    return to_number(group);
}
MPI_Group PMPI_Group_fromint(int group) {
    return to_handle<MPI_Group>(group);
}

int PMPI_Info_toint(MPI_Info info) {
    return to_number(info);
}
MPI_Info PMPI_Info_fromint(int info) {
    return to_handle<MPI_Info>(info);
}

int PMPI_Message_toint(MPI_Message message) {
    return to_number(message);
}
MPI_Message PMPI_Message_fromint(int message) {
    return to_handle<MPI_Message>(message);
}

int PMPI_Op_toint(MPI_Op op) {
    return to_number(op);
}
MPI_Op PMPI_Op_fromint(int op) {
    return to_handle<MPI_Op>(op);
}

int PMPI_Request_toint(MPI_Request request) {
    return to_number(request);
}
MPI_Request PMPI_Request_fromint(int request) {
    return to_handle<MPI_Request>(request);
}

int PMPI_Session_toint(MPI_Session session) {
    return to_number(session);
}
MPI_Session PMPI_Session_fromint(int session) {
    return to_handle<MPI_Session>(session);
}

int PMPI_Type_toint(MPI_Datatype datatype) {
    return to_number(datatype);
}
MPI_Datatype PMPI_Type_fromint(int datatype) {
    return to_handle<MPI_Datatype>(datatype);
}

int PMPI_Win_toint(MPI_Win win) {
    return to_number(win);
}
MPI_Win PMPI_Win_fromint(int win) {
    return to_handle<MPI_Win>(win);
}
