/* Large counts: the _c functions, datatypes of more than 2^31 elements, and a message of more than 2^31 bytes'
 * extent. */
#include "check.h"

static const MPI_Count HUGE_COUNT = (MPI_Count)1 << 33;

/* Sizes and extents that no int holds. */
static void bounds(void)
{
    MPI_Datatype t, u;
    MPI_Count size_, lb, extent, true_lb, true_extent;
    int narrow;
    MPI_Type_contiguous_c(HUGE_COUNT, MPI_INT, &t);
    MPI_Type_size_c(t, &size_);
    EQUAL(size_, 4 * HUGE_COUNT);
    MPI_Type_size_x(t, &size_);
    EQUAL(size_, 4 * HUGE_COUNT);
    MPI_Type_size(t, &narrow);
    EQUAL(narrow, MPI_UNDEFINED);
    MPI_Type_get_extent_c(t, &lb, &extent);
    CHECK(lb == 0 && extent == 4 * HUGE_COUNT);
    MPI_Type_vector_c(3, 2, HUGE_COUNT, MPI_BYTE, &u);
    MPI_Type_size_c(u, &size_);
    EQUAL(size_, 6);
    MPI_Type_get_true_extent_c(u, &true_lb, &true_extent);
    CHECK(true_lb == 0 && true_extent == 2 * HUGE_COUNT + 2);
    MPI_Type_free(&t);
    MPI_Type_free(&u);
    MPI_Count lengths[2] = {HUGE_COUNT, 1}, places[2] = {0, HUGE_COUNT};
    MPI_Datatype types[2] = {MPI_BYTE, MPI_INT};
    MPI_Type_create_struct_c(2, lengths, places, types, &t);
    MPI_Type_size_c(t, &size_);
    EQUAL(size_, HUGE_COUNT + 4);
    MPI_Type_free(&t);
    MPI_Type_indexed_c(2, lengths, places, MPI_BYTE, &t);
    MPI_Type_get_extent_c(t, &lb, &extent);
    EQUAL(extent, HUGE_COUNT + 1);
    MPI_Type_free(&t);
    MPI_Type_create_resized_c(MPI_INT, -HUGE_COUNT, 2 * HUGE_COUNT, &t);
    MPI_Type_get_extent_c(t, &lb, &extent);
    CHECK(lb == -HUGE_COUNT && extent == 2 * HUGE_COUNT);
    MPI_Type_free(&t);
    MPI_Count sizes[2] = {HUGE_COUNT, 10}, parts[2] = {2, 3}, starts[2] = {5, 1};
    MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_C, MPI_BYTE, &t);
    MPI_Type_get_extent_c(t, &lb, &extent);
    EQUAL(extent, 10 * HUGE_COUNT);
    MPI_Type_free(&t);
}

static void point_to_point(void)
{
    enum { N = 5000 };
    static int out[N], in[N];
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Status status;
    MPI_Request r[2];
    MPI_Count count;
    for (int i = 0; i < N; i++) out[i] = i + rank;
    MPI_Irecv_c(in, (MPI_Count)N, MPI_INT, previous, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Isend_c(out, (MPI_Count)N, MPI_INT, next, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Wait(&r[0], &status);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    MPI_Get_count_c(&status, MPI_INT, &count);
    EQUAL(count, N);
    for (int i = 0; i < N; i++) EQUAL(in[i], i + previous);
    MPI_Sendrecv_c(out, N, MPI_INT, next, 2, in, N, MPI_INT, previous, 2, MPI_COMM_WORLD, &status);
    for (int i = 0; i < N; i++) EQUAL(in[i], i + previous);
    MPI_Sendrecv_replace_c(in, N, MPI_INT, next, 3, previous, 3, MPI_COMM_WORLD, &status);
    for (int i = 0; i < N; i++) EQUAL(in[i], i + (previous + size - 1) % size);
    if (rank == 0) {
        MPI_Isend_c(out, N, MPI_INT, size - 1, 4, MPI_COMM_WORLD, &r[0]);
        MPI_Issend_c(out, N, MPI_INT, size - 1, 5, MPI_COMM_WORLD, &r[1]);
    }
    if (rank == size - 1) {
        MPI_Message message;
        MPI_Recv_c(in, N, MPI_INT, 0, 4, MPI_COMM_WORLD, &status);
        MPI_Mprobe(0, 5, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv_c(in, N, MPI_INT, &message, &status);
        for (int i = 0; i < N; i++) EQUAL(in[i], i);
    }
    if (rank == 0) MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

/* Two bytes per 2^32 of address space: sent from a map that nobody filled. */
static void far_apart(void)
{
    MPI_Datatype t;
    unsigned char *data;
    MPI_Aint far = ((MPI_Aint)1 << 31) + 4096;
    if (rank >= 2) return;
    data = malloc(far + 8); /* untouched pages take no memory */
    if (data == NULL) return;
    MPI_Aint places[2] = {0, far};
    MPI_Type_create_hindexed_block(2, 8, places, MPI_BYTE, &t);
    MPI_Type_commit(&t);
    int partner = size == 1 ? 0 : 1 - rank;
    unsigned char in[16];
    memset(data, 10 + rank, 8);
    memset(data + far, 20 + rank, 8);
    MPI_Sendrecv(data, 1, t, partner, 6, in, 16, MPI_BYTE, partner, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EQUAL(in[7], 10 + partner);
    EQUAL(in[8], 20 + partner);
    MPI_Type_free(&t);
    free(data);
}

static void collectives(void)
{
    enum { N = 100 };
    int a[N], b[N], *all = malloc(N * size * sizeof(int)), *out = malloc(N * size * sizeof(int)),
        sum = size * (size - 1) / 2;
    MPI_Count *counts = malloc(size * sizeof *counts);
    MPI_Aint *places = malloc(size * sizeof *places);
    for (int r = 0; r < size; r++) counts[r] = N, places[r] = r * N;
    for (int i = 0; i < N; i++) a[i] = rank + i;
    MPI_Allreduce_c(a, b, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) EQUAL(b[i], sum + size * i);
    MPI_Reduce_c(a, b, N, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) EQUAL(b[3], size - 1 + 3);
    MPI_Bcast_c(b, N, MPI_INT, 0, MPI_COMM_WORLD);
    EQUAL(b[3], size - 1 + 3);
    MPI_Allgather_c(a, N, MPI_INT, all, N, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) EQUAL(all[r * N + 5], r + 5);
    memset(all, 0, N * size * sizeof(int));
    MPI_Allgatherv_c(a, N, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) EQUAL(all[r * N + 5], r + 5);
    MPI_Gatherv_c(a, N, MPI_INT, out, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) CHECK(!memcmp(out, all, N * size * sizeof(int)));
    MPI_Scatterv_c(all, counts, places, MPI_INT, b, N, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) EQUAL(b[i], a[i]);
    for (int i = 0; i < N * size; i++) out[i] = rank * 10000 + i;
    MPI_Alltoallv_c(out, counts, places, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) EQUAL(all[r * N + 5], r * 10000 + rank * N + 5);
    MPI_Reduce_scatter_c(out, b, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EQUAL(b[5], sum * 10000 + size * (rank * N + 5));
    MPI_Request request;
    MPI_Ialltoallv_c(out, counts, places, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
    /* the arrays may not change before completion, and are not needed after */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int r = 0; r < size; r++) EQUAL(all[r * N + 6], r * 10000 + rank * N + 6);
    free(all);
    free(out);
    free(counts);
    free(places);
}

static void packing(void)
{
    int a[3] = {1, 2, 3}, b[3] = {0};
    char buffer[100];
    MPI_Count position = 0, room;
    MPI_Pack_size_c(3, MPI_INT, MPI_COMM_WORLD, &room);
    CHECK(room >= 12);
    MPI_Pack_c(a, 3, MPI_INT, buffer, 100, &position, MPI_COMM_WORLD);
    EQUAL(position, 12);
    position = 0;
    MPI_Unpack_c(buffer, 12, &position, b, 3, MPI_INT, MPI_COMM_WORLD);
    CHECK(b[0] == 1 && b[1] == 2 && b[2] == 3);
    MPI_Status status;
    memset(&status, 0, sizeof status);
    MPI_Count n;
    int narrow;
    MPI_Status_set_elements_c(&status, MPI_BYTE, HUGE_COUNT);
    MPI_Get_elements_c(&status, MPI_BYTE, &n);
    EQUAL(n, HUGE_COUNT);
    MPI_Get_elements(&status, MPI_BYTE, &narrow);
    EQUAL(narrow, MPI_UNDEFINED);
}

int main(void)
{
    start();
    bounds();
    point_to_point();
    far_apart();
    collectives();
    packing();
    return finish("large_counts");
}
