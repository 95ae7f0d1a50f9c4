/* SPDX-License-Identifier: BSD-3-Clause */
/* HYPRE solves inside a parallel region of OpenMP: each thread is a rank of a thread communicator that HYPRE gets as
   its communicator. With one thread a process HYPRE gets MPI_COMM_WORLD, so that the same ranks are processes. mpirun
   -n PROCESSES hypre_threads THREADS A 3-D grid, 27-point stencil, preconditioned conjugate gradients with the
   multigrid solver PFMG. Prints the number of iterations, the residual and the norm of the solution; they depend on the
   number of ranks alone. */
#include "HYPRE.h"
#include "HYPRE_krylov.h"
#include "HYPRE_struct_ls.h"
#include <math.h>
#include <mpi.h>
#include <mpix.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { edge = 12, points = 27 }; /* cells of a rank along each axis */

struct Problem {
    MPI_Comm comm;
    HYPRE_StructGrid grid;
    HYPRE_StructStencil stencil;
    HYPRE_StructMatrix matrix;
    HYPRE_StructVector right, solution;
    HYPRE_Int lower[3], upper[3];
};

static void place(struct Problem* problem) {
    int ranks, rank, dims[3] = {0, 0, 0};
    MPI_Comm_size(problem->comm, &ranks);
    MPI_Comm_rank(problem->comm, &rank);
    MPI_Dims_create(ranks, 3, dims);
    const int at[3] = {rank % dims[0], rank / dims[0] % dims[1], rank / dims[0] / dims[1]};
    for (int axis = 0; axis < 3; axis++) {
        problem->lower[axis] = at[axis] * edge;
        problem->upper[axis] = problem->lower[axis] + edge - 1;
    }
}

static void fill_matrix(struct Problem* problem) {
    HYPRE_Int entries[points];
    double* const values = malloc(sizeof(double) * edge * edge * edge * points);
    HYPRE_StructStencilCreate(3, points, &problem->stencil);
    for (HYPRE_Int i = 0; i < points; i++) {
        HYPRE_Int offset[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
        HYPRE_StructStencilSetElement(problem->stencil, i, offset);
        entries[i] = i;
    }
    for (int i = 0; i < edge * edge * edge * points; i++) {
        values[i] = i % points == points / 2 ? 26.0 : -1.0;
    }
    HYPRE_StructMatrixCreate(problem->comm, problem->grid, problem->stencil, &problem->matrix);
    HYPRE_StructMatrixInitialize(problem->matrix);
    HYPRE_StructMatrixSetBoxValues(problem->matrix, problem->lower, problem->upper, points, entries, values);
    HYPRE_StructMatrixAssemble(problem->matrix);
    free(values);
}

static HYPRE_StructVector filled_vector(const struct Problem* problem, int of_position) {
    HYPRE_StructVector vector;
    double* const values = calloc(edge * edge * edge, sizeof(double));
    for (int i = 0; of_position && i < edge * edge * edge; i++) {
        const double x = (double)(problem->lower[0] + i % edge), y = (double)(problem->lower[1] + i / edge % edge),
                     z = (double)(problem->lower[2] + i / edge / edge);
        values[i] = sin(x + 2 * y + 3 * z);
    }
    HYPRE_StructVectorCreate(problem->comm, problem->grid, &vector);
    HYPRE_StructVectorInitialize(vector);
    HYPRE_StructVectorSetBoxValues(vector, (HYPRE_Int*)problem->lower, (HYPRE_Int*)problem->upper, values);
    HYPRE_StructVectorAssemble(vector);
    free(values);
    return vector;
}

static double norm_of_solution(struct Problem* problem) {
    double* const values = malloc(sizeof(double) * edge * edge * edge);
    double square = 0, sum;
    HYPRE_StructVectorGetBoxValues(problem->solution, problem->lower, problem->upper, values);
    for (int i = 0; i < edge * edge * edge; i++) {
        square += values[i] * values[i];
    }
    free(values);
    MPI_Allreduce(&square, &sum, 1, MPI_DOUBLE, MPI_SUM, problem->comm);
    return sqrt(sum);
}

static void solve(MPI_Comm comm) {
    struct Problem problem = {.comm = comm};
    HYPRE_StructSolver solver, preconditioner;
    HYPRE_Int iterations;
    double residual;
    int rank, ranks;
    place(&problem);
    HYPRE_StructGridCreate(comm, 3, &problem.grid);
    HYPRE_StructGridSetExtents(problem.grid, problem.lower, problem.upper);
    HYPRE_StructGridAssemble(problem.grid);
    fill_matrix(&problem);
    problem.right = filled_vector(&problem, 1);
    problem.solution = filled_vector(&problem, 0);

    HYPRE_StructPFMGCreate(comm, &preconditioner);
    HYPRE_StructPFMGSetMaxIter(preconditioner, 1);
    HYPRE_StructPFMGSetTol(preconditioner, 0.0);
    HYPRE_StructPFMGSetZeroGuess(preconditioner);
    HYPRE_StructPCGCreate(comm, &solver);
    HYPRE_StructPCGSetTol(solver, 1e-10);
    HYPRE_StructPCGSetMaxIter(solver, 100);
    HYPRE_StructPCGSetTwoNorm(solver, 1);
    HYPRE_StructPCGSetPrecond(solver, HYPRE_StructPFMGSolve, HYPRE_StructPFMGSetup, preconditioner);
    HYPRE_StructPCGSetup(solver, problem.matrix, problem.right, problem.solution);
    HYPRE_StructPCGSolve(solver, problem.matrix, problem.right, problem.solution);
    HYPRE_StructPCGGetNumIterations(solver, &iterations);
    HYPRE_StructPCGGetFinalRelativeResidualNorm(solver, &residual);

    const double norm = norm_of_solution(&problem);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (rank == 0) {
        printf("%d ranks: %d iterations, residual %.4e, norm %.9e\n", ranks, (int)iterations, residual, norm);
    }
    HYPRE_StructPCGDestroy(solver);
    HYPRE_StructPFMGDestroy(preconditioner);
    HYPRE_StructVectorDestroy(problem.solution);
    HYPRE_StructVectorDestroy(problem.right);
    HYPRE_StructMatrixDestroy(problem.matrix);
    HYPRE_StructStencilDestroy(problem.stencil);
    HYPRE_StructGridDestroy(problem.grid);
}

int main(int argc, char** argv) {
    const int threads = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    HYPRE_Init(); /* once a process: what it sets up belongs to the process */
    if (threads <= 1) {
        solve(MPI_COMM_WORLD);
    } else {
        MPI_Comm comm;
        MPIX_Threadcomm_init(MPI_COMM_WORLD, threads, &comm);
#pragma omp parallel num_threads(threads)
        {
            MPIX_Threadcomm_start(comm);
            solve(comm);
            MPIX_Threadcomm_finish(comm);
        }
        MPIX_Threadcomm_free(&comm);
    }
    HYPRE_Finalize();
    MPI_Finalize();
    return 0;
}
