/* One rank starts a non-blocking collective before a barrier, the other ranks after it. The standard asks for one
 * order on all ranks; programs that run on other libraries do without. */
#include "../c/check.h"

int main(void)
{
    start();
    for (int round = 0; round < 100; round++) {
        MPI_Request request;
        int mine = rank == round % size ? 11 : 13, all = 0;
        if (rank == round % size) MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_BAND, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank != round % size) MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_BAND, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EQUAL(all, 9);
    }
    return finish("numbered_apart");
}
