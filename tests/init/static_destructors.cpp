// SPDX-License-Identifier: BSD-3-Clause
// MPI in the destructors of objects with static storage, which were constructed before the library was first used.
// Arguments: "world": MPI_Init in main, all else in the destructor, with objects that main has made. "sessions N": N
// sessions in main, and one in the destructor. "beside": a session in the destructor beside the world model.
#include "tests/mpi_check/check.h"

#include <cstdlib>
#include <string>
#include <unistd.h>

namespace {

std::string mode;
MPI_Comm duplicate = MPI_COMM_NULL;
int number_of_duplicate = 0;
MPI_Datatype real = MPI_DATATYPE_NULL;

void use_session() {
    MPI_Session session;
    MPI_Group world;
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    CHECK_OK(MPI_Comm_create_from_group(world, "static", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Barrier(comm));
    MPI_Comm_free(&comm);
    MPI_Group_free(&world);
    CHECK_OK(MPI_Session_finalize(&session));
}

void make_objects() {
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &duplicate));
    number_of_duplicate = MPI_Comm_toint(duplicate);
    CHECK_OK(MPI_Type_create_f90_real(15, 307, &real));
}

void use_objects() {
    double values[2] = {1, 2};
    char packed[64];
    int position = 0;
    MPI_Datatype again = MPI_DATATYPE_NULL;
    CHECK(MPI_Comm_fromint(number_of_duplicate) == duplicate);
    CHECK_OK(MPI_Pack(values, 2, real, packed, sizeof packed, &position, duplicate));
    CHECK_EQUAL(position, 2 * sizeof(double));
    CHECK_OK(MPI_Type_create_f90_real(15, 307, &again));
    CHECK(again == real);
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, values, 2, real, MPI_SUM, duplicate));
    MPI_Comm_free(&duplicate);
}

struct AtEnd {
    ~AtEnd() {
        if (mode == "sessions") {
            use_session();
        } else if (mode == "beside") {
            use_session();
            MPI_Finalize();
        } else {
            use_objects();
            MPI_Finalize();
        }
        if (failures() != 0) {
            _exit(1); // the exit status has been given before
        }
    }
} at_end;

} // namespace

int main(int argc, char** argv) {
    mode = argc > 1 ? argv[1] : "world";
    if (mode == "sessions") {
        for (int i = std::atoi(argv[2]); i > 0; --i) {
            use_session();
        }
        return 0;
    }
    MPI_Init(&argc, &argv);
    if (mode == "world") {
        make_objects();
    }
    return 0;
}
