/* Heat on a square plate: its upper edge is kept at 100 degrees, the others at 0. Jacobi's method on blocks that a
 * Cartesian grid of ranks shares; each step exchanges the blocks' edges with the four neighbours. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 150, CHECKED = 50 };     /* inner points a side; steps between looks at the change */
static const double ENOUGH = 0.002; /* degrees a step */

int main(int argc, char **argv)
{
    int rank, size, shape[2] = {0, 0}, open[2] = {0, 0}, here[2];
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, shape);
    MPI_Cart_create(MPI_COMM_WORLD, 2, shape, open, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, here);
    int top = N * here[0] / shape[0], left = N * here[1] / shape[1];
    int rows = N * (here[0] + 1) / shape[0] - top, columns = N * (here[1] + 1) / shape[1] - left;
    int stride = columns + 2; /* a margin of one point around the block */
    double *now = calloc((size_t)(rows + 2) * stride, sizeof(double));
    double *then = calloc((size_t)(rows + 2) * stride, sizeof(double));
    if (here[0] == 0)
        for (int j = 0; j < stride; j++) now[j] = then[j] = 100;

    /* what goes up, down, left and right, and where it comes in: byte places of a row or a column */
    MPI_Datatype row, column;
    MPI_Type_contiguous(columns, MPI_DOUBLE, &row);
    MPI_Type_vector(rows, 1, stride, MPI_DOUBLE, &column);
    MPI_Type_commit(&row);
    MPI_Type_commit(&column);
    MPI_Datatype types[4] = {row, row, column, column};
    int counts[4] = {1, 1, 1, 1};
    MPI_Aint unit = sizeof(double);
    MPI_Aint out[4] = {(stride + 1) * unit, (rows * stride + 1) * unit, (stride + 1) * unit, (stride + columns) * unit};
    MPI_Aint in[4] = {1 * unit, ((rows + 1) * stride + 1) * unit, stride * unit, (stride + columns + 1) * unit};

    double change = 2 * ENOUGH, start = MPI_Wtime();
    int steps = 0;
    while (change > ENOUGH) {
        MPI_Neighbor_alltoallw(now, counts, out, types, now, counts, in, types, grid);
        change = 0;
        for (int i = 1; i <= rows; i++) {
            for (int j = 1; j <= columns; j++) {
                const double *p = now + (size_t)i * stride + j;
                double value = (p[-stride] + p[stride] + p[-1] + p[1]) / 4;
                change = fmax(change, fabs(value - *p));
                then[(size_t)i * stride + j] = value;
            }
        }
        double *swap = now;
        now = then;
        then = swap;
        if (++steps % CHECKED == 0) MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, grid);
        else change = 2 * ENOUGH;
    }
    double seconds = MPI_Wtime() - start;

    /* every rank tells the temperature down the middle column where it has it */
    double probe[3] = {0}, heard[3];
    for (int k = 0; k < 3; k++) {
        int i = N * (k + 1) / 4 - top, j = N / 2 - left;
        if (i >= 0 && i < rows && j >= 0 && j < columns) probe[k] = now[(size_t)(i + 1) * stride + j + 1];
    }
    MPI_Reduce(probe, heard, 3, MPI_DOUBLE, MPI_SUM, 0, grid);
    if (rank == 0) {
        printf("%d x %d points on %d x %d ranks: %d steps\n", N, N, shape[0], shape[1], steps);
        printf("a quarter down %.6f, in the middle %.6f, three quarters down %.6f\n", heard[0], heard[1], heard[2]);
        printf("%.3f s\n", seconds);
    }
    MPI_Type_free(&row);
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    free(now);
    free(then);
    MPI_Finalize();
    return 0;
}
