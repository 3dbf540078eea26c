/* Round trips of 8 bytes between two ranks, from one moment to another, which are the same for all jobs of a case.

       shared START_NS STOP_NS

   The moments are those of CLOCK_MONOTONIC. A round trip is the time from one to the other over the number of trips, so
   that time in which a job got no core counts. */
#include "../mpi/measure.h"
#include <mpi.h>

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "use: shared START_NS STOP_NS\n");
        return 2;
    }
    double start_us = atof(argv[1]) / 1e3, stop_us = atof(argv[2]) / 1e3;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (double left_us; (left_us = start_us - now_us()) > 0;) {
        struct timespec pause = {(time_t)(left_us / 1e6), (long)(left_us * 1e3) % 1000000000L};
        nanosleep(&pause, NULL);
    }
    if (now_us() > start_us + 1e3) start_us = now_us();
    long trips = 0, over = 0;
    double worst_us = 0, last_us = start_us;
    while (!over) {
        if (rank == 0) {
            double now = now_us();
            if (trips && now - last_us > worst_us) worst_us = now - last_us;
            last_us = now;
            over = now > stop_us;
            MPI_Send(&over, 1, MPI_LONG, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(&over, 1, MPI_LONG, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            trips++;
        } else {
            MPI_Recv(&over, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&over, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD);
        }
    }
    if (rank == 0) {
        printf("{\"us\": %.4f, \"worst_us\": %.1f, \"trips\": %ld}\n", (now_us() - start_us) / trips, worst_us,
               trips);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
