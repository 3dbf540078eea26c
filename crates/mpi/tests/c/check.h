/* What the conformance programs share: a check that names the line and ends the job when it fails. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) check_that(!!(condition), __FILE__, __LINE__, #condition)
#define EQUAL(got, wanted) check_equal((long long)(got), (long long)(wanted), __FILE__, __LINE__, #got)
/* The call returns an error of the class (the communicator's errors return). */
#define FAILS(call, wanted) check_class((call), (wanted), __FILE__, __LINE__, #call)
#define UNUSED __attribute__((unused))

UNUSED static int rank, size; /* in MPI_COMM_WORLD */

UNUSED static void check_that(int good, const char *file, int line, const char *text)
{
    if (good) return;
    fprintf(stderr, "%s:%d: rank %d of %d: not true: %s\n", file, line, rank, size, text);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

UNUSED static void check_equal(long long got, long long wanted, const char *file, int line, const char *text)
{
    if (got == wanted) return;
    fprintf(stderr, "%s:%d: rank %d of %d: %s is %lld, not %lld\n", file, line, rank, size, text, got, wanted);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

UNUSED static void check_class(int code, int wanted, const char *file, int line, const char *text)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    check_equal(class, wanted, file, line, text);
}

UNUSED static void start(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

UNUSED static int finish(const char *name)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("ok %s\n", name);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}

#endif
