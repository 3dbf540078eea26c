/* Where ranks share cpus, one of them may have threads that call at a time, and others not. */
#include "../c/check.h"

enum { N = 50000 };

static int in[N], out[N];

int main(void)
{
    int provided;
    const char *number = getenv("CELLWEAVE_MPI_RANK");
    CHECK(number);
    int threads = atoi(number) == 1;
    MPI_Init_thread(NULL, NULL, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm without;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1, rank, &without);
    for (int t = 0; t < 20; t++) {
        int root = t % size;
        for (int i = 0; i < N; i++) in[i] = rank + i + t;
        MPI_Reduce(in, out, N, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
        for (int i = 0; rank == root && i < N; i++) EQUAL(out[i], size - 1 + i + t);
        MPI_Bcast(in, N, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++) EQUAL(in[i], root + i + t);
        MPI_Bcast(in, N, MPI_INT, 0, without);
        MPI_Allreduce(in, out, N, MPI_INT, MPI_MAX, without);
        for (int i = 0; i < N; i++) EQUAL(out[i], root + i + t);
    }
    MPI_Comm_free(&without);
    return finish("one_with_threads");
}
