/* A buffered send costs little, however many wait for a receiver that is behind, and nothing of it is left over: the
   library says at MPI_Finalize what was never completed. */
#include "../c/check.h"

enum { MESSAGES = 100000, BYTES = 500 };

int main(void)
{
    static char data[BYTES];
    void *at;
    int bytes;
    start();
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Status status;
        int length = i % (BYTES + 1), got;
        if (rank == 0) {
            MPI_Bsend(data, length, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            continue;
        }
        MPI_Recv(data, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &got);
        CHECK(got == length);
    }
    MPI_Buffer_detach(&at, &bytes);
    return finish("many_buffered");
}
