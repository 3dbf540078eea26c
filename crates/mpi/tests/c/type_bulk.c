/* Large messages of data with gaps: every kind of layout to every kind, in all sizes around where protocols change. */
#include "check.h"

enum { LAYOUTS = 7, MOST = 3 << 20, ROOM = 4 * MOST };

static char *from, *to, *packed, *wanted;

/* A layout of about `bytes` bytes of doubles. */
static MPI_Datatype layout(int kind, int bytes, int *count)
{
    MPI_Datatype part, type;
    int n = bytes / 8;
    *count = 1;
    if (kind == 0) { /* no gap */
        MPI_Type_contiguous(n, MPI_DOUBLE, &type);
    } else if (kind == 1) { /* every other one */
        MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &type);
    } else if (kind == 2) { /* rows of a matrix, one element each */
        MPI_Type_vector(n / 100 + 1, n / (n / 100 + 1), n / (n / 100 + 1) + 3, MPI_DOUBLE, &type);
    } else if (kind == 3) { /* many elements with a gap at the end */
        MPI_Type_create_resized(MPI_DOUBLE, 0, 24, &type);
        *count = n;
    } else if (kind == 4) { /* a transposition */
        int side = 1;
        while ((side + 1) * (side + 1) <= n) side++;
        MPI_Type_vector(side, 1, side, MPI_DOUBLE, &part);
        MPI_Type_create_resized(part, 0, 8, &type);
        MPI_Type_free(&part);
        *count = side;
    } else if (kind == 5) { /* backwards */
        MPI_Type_create_hvector(n, 1, -8, MPI_DOUBLE, &part);
        MPI_Aint at = 8 * (MPI_Aint)(n - 1);
        MPI_Type_create_hindexed_block(1, 1, &at, part, &type);
        MPI_Type_free(&part);
    } else { /* blocks of 1 to 50 doubles */
        int blocks = 0, placed = 0, at = 0, *lengths = malloc(n * sizeof *lengths),
            *places = malloc(n * sizeof *places);
        while (placed < n) {
            int length = 1 + blocks * 7 % 50;
            if (length > n - placed) length = n - placed;
            lengths[blocks] = length;
            places[blocks++] = at;
            placed += length;
            at += length + 1 + blocks % 3;
        }
        MPI_Type_indexed(blocks, lengths, places, MPI_DOUBLE, &type);
        free(lengths);
        free(places);
    }
    MPI_Type_commit(&type);
    return type;
}

static void exchange(int out_kind, int in_kind, int bytes, int tag)
{
    int out_count, in_count, out_bytes, in_bytes, next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Datatype out = layout(out_kind, bytes, &out_count), in = layout(in_kind, bytes, &in_count);
    MPI_Pack_size(out_count, out, MPI_COMM_WORLD, &out_bytes);
    MPI_Pack_size(in_count, in, MPI_COMM_WORLD, &in_bytes);
    if (out_bytes <= in_bytes) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        int position = 0, got;
        size_t room = 4 * (size_t)bytes; /* more than any layout spans */
        memset(to, 0x55, room);
        MPI_Pack(from, out_count, out, wanted, MOST, &position, MPI_COMM_WORLD);
        MPI_Irecv(to, in_count, in, previous, tag, MPI_COMM_WORLD, &requests[0]);
        if (tag % 2) MPI_Issend(from, out_count, out, next, tag, MPI_COMM_WORLD, &requests[1]);
        else MPI_Isend(from, out_count, out, next, tag, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
        MPI_Get_count(&statuses[0], MPI_BYTE, &got);
        EQUAL(got, out_bytes);
        position = 0;
        MPI_Pack(to, in_count, in, packed, MOST, &position, MPI_COMM_WORLD);
        CHECK(!memcmp(packed, wanted, out_bytes));
        /* Nothing beside the data was touched. */
        memset(wanted, 0x55, in_bytes);
        position = 0;
        MPI_Unpack(wanted, in_bytes, &position, to, in_count, in, MPI_COMM_WORLD);
        for (size_t i = 0; i < room; i++)
            if (to[i] != 0x55) EQUAL(i, -1);
    }
    MPI_Type_free(&out);
    MPI_Type_free(&in);
}

int main(void)
{
    start();
    from = malloc(ROOM);
    to = malloc(ROOM);
    packed = malloc(MOST);
    wanted = malloc(MOST);
    for (int i = 0; i < ROOM; i++) from[i] = (char)(i * 11 + i / 256 + i / 65536);
    static const int sizes[] = {4000, 20000, 100000};
    int tag = 0;
    for (int s = 0; s < 3; s++)
        for (int out = 0; out < LAYOUTS; out++)
            for (int in = 0; in < LAYOUTS; in++) exchange(out, in, sizes[s] + 8 * ((out + in) % 5), tag++);
    for (int kind = 0; kind < LAYOUTS; kind++) {
        exchange(kind, kind, 1 << 20, tag++);
        exchange(kind, (kind + 1) % LAYOUTS, 1 << 20, tag++);
        exchange(0, kind, (2 << 20) + 8, tag++);
        exchange(kind, 0, (2 << 20) + 8, tag++);
    }
    return finish("type_bulk");
}
