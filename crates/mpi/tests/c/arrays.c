/* Subarrays and distributed arrays against a plain reference. */
#include "check.h"

static int column_major, dims;
static int sizes[3];

/* Place of an element in the whole array. */
static int place(const int *index)
{
    int at = 0;
    for (int k = 0; k < dims; k++) {
        int d = column_major ? dims - 1 - k : k;
        at = at * sizes[d] + index[d];
    }
    return at;
}

/* The elements that `mine` says yes to, in storage order, must be what the type packs. */
static void packs(MPI_Datatype type, int total, const char *mine)
{
    int *whole = malloc(total * sizeof(int)), *packed = malloc(total * sizeof(int) + 4), position = 0, n = 0;
    for (int i = 0; i < total; i++) whole[i] = 7 * i + 1;
    MPI_Type_commit(&type);
    MPI_Pack(whole, 1, type, packed, total * (int)sizeof(int) + 4, &position, MPI_COMM_WORLD);
    for (int i = 0; i < total; i++)
        if (mine[i]) EQUAL(packed[n++], whole[i]);
    EQUAL(position, n * (int)sizeof(int));
    MPI_Type_free(&type);
    free(whole);
    free(packed);
}

static void next_index(int *index)
{
    for (int d = dims - 1; d >= 0; d--) {
        if (++index[d] < sizes[d]) return;
        index[d] = 0;
    }
}

static void subarrays(void)
{
    static const int shapes[3][3] = {{10, 0, 0}, {5, 7, 0}, {4, 5, 6}};
    for (dims = 1; dims <= 3; dims++) {
        int total = 1, parts[3], starts[3];
        for (int d = 0; d < dims; d++) total *= sizes[d] = shapes[dims - 1][d];
        for (int round = 0; round < 12; round++) {
            for (int d = 0; d < dims; d++) {
                parts[d] = 1 + (round * 5 + d * 3) % sizes[d];
                starts[d] = (round + d) % (sizes[d] - parts[d] + 1);
            }
            for (column_major = 0; column_major < 2; column_major++) {
                char *mine = calloc(total, 1);
                int index[3] = {0};
                for (int i = 0; i < total; i++, next_index(index)) {
                    int in = 1;
                    for (int d = 0; d < dims; d++) in &= index[d] >= starts[d] && index[d] < starts[d] + parts[d];
                    mine[place(index)] = (char)in;
                }
                MPI_Datatype type;
                MPI_Type_create_subarray(dims, sizes, parts, starts, column_major ? MPI_ORDER_FORTRAN : MPI_ORDER_C,
                                         MPI_INT, &type);
                packs(type, total, mine);
                free(mine);
            }
        }
    }
}

/* Who of `p` has element i of n. */
static int owner(int i, int n, int distribution, int argument, int p)
{
    if (distribution == MPI_DISTRIBUTE_NONE) return 0;
    if (distribution == MPI_DISTRIBUTE_BLOCK) {
        int block = argument == MPI_DISTRIBUTE_DFLT_DARG ? (n + p - 1) / p : argument;
        return i / block;
    }
    return i / (argument == MPI_DISTRIBUTE_DFLT_DARG ? 1 : argument) % p;
}

static void darrays(void)
{
    static const int kinds[3] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    for (dims = 1; dims <= 3; dims++) {
        sizes[0] = 11, sizes[1] = 6, sizes[2] = 5;
        int total = dims == 1 ? 11 : dims == 2 ? 66 : 330;
        for (int round = 0; round < 27; round++) {
            int distributions[3], arguments[3], grid[3], ranks = 1, code = round;
            for (int d = 0; d < dims; d++, code /= 3) {
                distributions[d] = kinds[code % 3];
                grid[d] = distributions[d] == MPI_DISTRIBUTE_NONE ? 1 : 2 + d % 2;
                ranks *= grid[d];
                arguments[d] = MPI_DISTRIBUTE_DFLT_DARG;
                if (round % 2 && distributions[d] == MPI_DISTRIBUTE_CYCLIC) arguments[d] = 2;
                if (round % 2 && distributions[d] == MPI_DISTRIBUTE_BLOCK)
                    arguments[d] = (sizes[d] + grid[d] - 1) / grid[d] + 1;
            }
            for (int r = 0; r < ranks; r++) {
                int coordinates[3], rest = r;
                for (int d = dims - 1; d >= 0; d--) { /* row-major, also for a column-major array */
                    coordinates[d] = rest % grid[d];
                    rest /= grid[d];
                }
                for (column_major = 0; column_major < 2; column_major++) {
                    char *mine = calloc(total, 1);
                    int index[3] = {0};
                    for (int i = 0; i < total; i++, next_index(index)) {
                        int in = 1;
                        for (int d = 0; d < dims; d++)
                            in &= owner(index[d], sizes[d], distributions[d], arguments[d], grid[d]) == coordinates[d];
                        mine[place(index)] = (char)in;
                    }
                    MPI_Datatype type;
                    MPI_Type_create_darray(ranks, r, dims, sizes, distributions, arguments, grid,
                                           column_major ? MPI_ORDER_FORTRAN : MPI_ORDER_C, MPI_INT, &type);
                    packs(type, total, mine);
                    free(mine);
                }
            }
        }
    }
}

/* A column of a matrix goes around as a row. */
static void transposed(void)
{
    enum { N = 20 };
    int matrix[N][N], row[N], whole[2] = {N, N}, part[2] = {N, 1}, start_[2] = {0, 3};
    MPI_Datatype column;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) matrix[i][j] = i * 100 + j + rank;
    MPI_Type_create_subarray(2, whole, part, start_, MPI_ORDER_C, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(matrix, 1, column, (rank + 1) % size, 1, row, N, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) EQUAL(row[i], i * 100 + 3 + (rank + size - 1) % size);
    MPI_Type_free(&column);
}

int main(void)
{
    start();
    subarrays();
    darrays();
    transposed();
    return finish("arrays");
}
