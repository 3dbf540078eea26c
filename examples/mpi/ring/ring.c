/* A token goes round the ranks; each adds its rank and passes it on. */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 1000 };

int main(int argc, char **argv)
{
    int rank, size;
    long token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    double start = MPI_Wtime();
    for (int round = 0; round < ROUNDS && size > 1; round++) {
        if (rank == 0) {
            MPI_Send(&token, 1, MPI_LONG, next, round, MPI_COMM_WORLD);
            MPI_Recv(&token, 1, MPI_LONG, previous, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&token, 1, MPI_LONG, previous, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token += rank;
            MPI_Send(&token, 1, MPI_LONG, next, round, MPI_COMM_WORLD);
        }
    }
    double seconds = MPI_Wtime() - start;
    if (rank == 0) {
        printf("%d ranks, %d rounds: the token is %ld\n", size, ROUNDS, token);
        printf("%.2f us per hop\n", seconds / ROUNDS / size * 1e6);
    }
    MPI_Finalize();
    return 0;
}
