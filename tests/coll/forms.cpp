// SPDX-License-Identifier: BSD-3-Clause
// Linked into a test program, this has its blocking collectives run in another form, by way of the profiling interface:
// MPI_Bcast becomes MPI_Ibcast and MPI_Wait, or MPI_Bcast_init and starts. FORM is 1 for the nonblocking form, 2 for
// the persistent one with one start, and 3 for three starts, where a repetition has the same result.
#include <mpi.h>

#if FORM != 1 && FORM != 2 && FORM != 3
#error "FORM must be 1, 2 or 3"
#endif

namespace {

int finish(int code, MPI_Request request, bool repeatable) {
    if (code != MPI_SUCCESS) {
        return code;
    }
#if FORM == 1
    (void)repeatable;
    return PMPI_Wait(&request, MPI_STATUS_IGNORE);
#else
    for (int left = FORM == 3 && repeatable ? 3 : 1; left > 0 && code == MPI_SUCCESS; --left) {
        code = PMPI_Start(&request);
        if (code == MPI_SUCCESS) {
            code = PMPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    PMPI_Request_free(&request);
    return code;
#endif
}

// All members give MPI_IN_PLACE or none of them does, except for rooted functions.
bool not_in_place(const void* send) {
    return send != MPI_IN_PLACE;
}

} // namespace

#if FORM == 1
#define CALL(lower, Name, ...) PMPI_I##lower(__VA_ARGS__, &request)
#define CALL_C(lower, Name, ...) PMPI_I##lower##_c(__VA_ARGS__, &request)
#else
#define CALL(lower, Name, ...) PMPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request)
#define CALL_C(lower, Name, ...) PMPI_##Name##_init_c(__VA_ARGS__, MPI_INFO_NULL, &request)
#endif

// Defines MPI_Name and MPI_Name_c. Each parameter list is in parentheses; `again`: whether a repetition has the same
// result.
#define PLAIN(lower, Name, again, parameters, ...)                                                                     \
    extern "C" int MPI_##Name parameters {                                                                             \
        MPI_Request request = MPI_REQUEST_NULL;                                                                        \
        const int code = CALL(lower, Name, __VA_ARGS__);                                                               \
        return finish(code, request, again);                                                                           \
    }
#define LARGE(lower, Name, again, parameters, ...)                                                                     \
    extern "C" int MPI_##Name##_c parameters {                                                                         \
        MPI_Request request = MPI_REQUEST_NULL;                                                                        \
        const int code = CALL_C(lower, Name, __VA_ARGS__);                                                             \
        return finish(code, request, again);                                                                           \
    }

#define NOT_IN_PLACE not_in_place(s)
using Type = MPI_Datatype;
using Comm = MPI_Comm;

PLAIN(barrier, Barrier, true, (Comm c), c)
PLAIN(bcast, Bcast, true, (void* b, int n, Type t, int root, Comm c), b, n, t, root, c)
LARGE(bcast, Bcast, true, (void* b, MPI_Count n, Type t, int root, Comm c), b, n, t, root, c)
PLAIN(gather, Gather, true, (const void* s, int n, Type t, void* r, int m, Type u, int root, Comm c), s, n, t, r, m, u,
    root, c)
LARGE(gather, Gather, true, (const void* s, MPI_Count n, Type t, void* r, MPI_Count m, Type u, int root, Comm c), s, n,
    t, r, m, u, root, c)
PLAIN(gatherv, Gatherv, true,
    (const void* s, int n, Type t, void* r, const int m[], const int d[], Type u, int root, Comm c), s, n, t, r, m, d,
    u, root, c)
LARGE(gatherv, Gatherv, true,
    (const void* s, MPI_Count n, Type t, void* r, const MPI_Count m[], const MPI_Aint d[], Type u, int root, Comm c), s,
    n, t, r, m, d, u, root, c)
PLAIN(scatter, Scatter, true, (const void* s, int n, Type t, void* r, int m, Type u, int root, Comm c), s, n, t, r, m,
    u, root, c)
LARGE(scatter, Scatter, true, (const void* s, MPI_Count n, Type t, void* r, MPI_Count m, Type u, int root, Comm c), s,
    n, t, r, m, u, root, c)
PLAIN(scatterv, Scatterv, true,
    (const void* s, const int n[], const int d[], Type t, void* r, int m, Type u, int root, Comm c), s, n, d, t, r, m,
    u, root, c)
LARGE(scatterv, Scatterv, true,
    (const void* s, const MPI_Count n[], const MPI_Aint d[], Type t, void* r, MPI_Count m, Type u, int root, Comm c), s,
    n, d, t, r, m, u, root, c)
PLAIN(allgather, Allgather, NOT_IN_PLACE, (const void* s, int n, Type t, void* r, int m, Type u, Comm c), s, n, t, r, m,
    u, c)
LARGE(allgather, Allgather, NOT_IN_PLACE, (const void* s, MPI_Count n, Type t, void* r, MPI_Count m, Type u, Comm c), s,
    n, t, r, m, u, c)
PLAIN(allgatherv, Allgatherv, NOT_IN_PLACE,
    (const void* s, int n, Type t, void* r, const int m[], const int d[], Type u, Comm c), s, n, t, r, m, d, u, c)
LARGE(allgatherv, Allgatherv, NOT_IN_PLACE,
    (const void* s, MPI_Count n, Type t, void* r, const MPI_Count m[], const MPI_Aint d[], Type u, Comm c), s, n, t, r,
    m, d, u, c)
PLAIN(alltoall, Alltoall, NOT_IN_PLACE, (const void* s, int n, Type t, void* r, int m, Type u, Comm c), s, n, t, r, m,
    u, c)
LARGE(alltoall, Alltoall, NOT_IN_PLACE, (const void* s, MPI_Count n, Type t, void* r, MPI_Count m, Type u, Comm c), s,
    n, t, r, m, u, c)
PLAIN(alltoallv, Alltoallv, NOT_IN_PLACE,
    (const void* s, const int n[], const int d[], Type t, void* r, const int m[], const int e[], Type u, Comm c), s, n,
    d, t, r, m, e, u, c)
LARGE(alltoallv, Alltoallv, NOT_IN_PLACE,
    (const void* s, const MPI_Count n[], const MPI_Aint d[], Type t, void* r, const MPI_Count m[], const MPI_Aint e[],
        Type u, Comm c),
    s, n, d, t, r, m, e, u, c)
PLAIN(alltoallw, Alltoallw, NOT_IN_PLACE,
    (const void* s, const int n[], const int d[], const Type t[], void* r, const int m[], const int e[], const Type u[],
        Comm c),
    s, n, d, t, r, m, e, u, c)
LARGE(alltoallw, Alltoallw, NOT_IN_PLACE,
    (const void* s, const MPI_Count n[], const MPI_Aint d[], const Type t[], void* r, const MPI_Count m[],
        const MPI_Aint e[], const Type u[], Comm c),
    s, n, d, t, r, m, e, u, c)
PLAIN(reduce, Reduce, false, (const void* s, void* r, int n, Type t, MPI_Op op, int root, Comm c), s, r, n, t, op, root,
    c)
LARGE(reduce, Reduce, false, (const void* s, void* r, MPI_Count n, Type t, MPI_Op op, int root, Comm c), s, r, n, t, op,
    root, c)
PLAIN(allreduce, Allreduce, NOT_IN_PLACE, (const void* s, void* r, int n, Type t, MPI_Op op, Comm c), s, r, n, t, op, c)
LARGE(allreduce, Allreduce, NOT_IN_PLACE, (const void* s, void* r, MPI_Count n, Type t, MPI_Op op, Comm c), s, r, n, t,
    op, c)
PLAIN(reduce_scatter, Reduce_scatter, NOT_IN_PLACE, (const void* s, void* r, const int n[], Type t, MPI_Op op, Comm c),
    s, r, n, t, op, c)
LARGE(reduce_scatter, Reduce_scatter, NOT_IN_PLACE,
    (const void* s, void* r, const MPI_Count n[], Type t, MPI_Op op, Comm c), s, r, n, t, op, c)
PLAIN(reduce_scatter_block, Reduce_scatter_block, NOT_IN_PLACE,
    (const void* s, void* r, int n, Type t, MPI_Op op, Comm c), s, r, n, t, op, c)
LARGE(reduce_scatter_block, Reduce_scatter_block, NOT_IN_PLACE,
    (const void* s, void* r, MPI_Count n, Type t, MPI_Op op, Comm c), s, r, n, t, op, c)
PLAIN(scan, Scan, NOT_IN_PLACE, (const void* s, void* r, int n, Type t, MPI_Op op, Comm c), s, r, n, t, op, c)
LARGE(scan, Scan, NOT_IN_PLACE, (const void* s, void* r, MPI_Count n, Type t, MPI_Op op, Comm c), s, r, n, t, op, c)
PLAIN(exscan, Exscan, NOT_IN_PLACE, (const void* s, void* r, int n, Type t, MPI_Op op, Comm c), s, r, n, t, op, c)
LARGE(exscan, Exscan, NOT_IN_PLACE, (const void* s, void* r, MPI_Count n, Type t, MPI_Op op, Comm c), s, r, n, t, op, c)
