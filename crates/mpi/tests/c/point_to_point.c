/* Blocking send and receive: contents, sizes, types, statuses, order. */
#include "check.h"

static void sizes(void)
{
    static const int lengths[] = {0, 1, 7, 8, 31, 32, 33, 40, 47, 48, 49, 56, 63, 64, 65, 127, 128, 1000, 4095, 4096,
                                  4097, 8192, 16383, 16384, 16385, 65535, 65536, 65537, 262144, 1048576, 3000001};
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        int n = lengths[k];
        unsigned char *out = malloc(n + 1), *in = malloc(n + 2);
        for (int i = 0; i < n; i++) out[i] = (unsigned char)(i * 7 + i / 251 + rank + n);
        memset(in, 0xee, n + 2);
        MPI_Status status;
        MPI_Request request;
        MPI_Irecv(in + 1, n, MPI_BYTE, previous, n, MPI_COMM_WORLD, &request);
        MPI_Send(out, n, MPI_BYTE, next, n, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        EQUAL(status.MPI_SOURCE, previous);
        EQUAL(status.MPI_TAG, n);
        int count;
        MPI_Get_count(&status, MPI_BYTE, &count);
        EQUAL(count, n);
        CHECK(in[0] == 0xee && in[n + 1] == 0xee);
        for (int i = 0; i < n; i++) EQUAL(in[i + 1], (unsigned char)(i * 7 + i / 251 + previous + n));
        free(out);
        free(in);
    }
}

static void shorter_than_the_buffer(void)
{
    double room[100];
    if (rank == 0 && size > 1) {
        double three[3] = {1.5, 2.5, 3.5};
        MPI_Send(three, 3, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD);
        MPI_Send(three, 0, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD);
        MPI_Send(NULL, 0, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    }
    if (rank == 1) {
        MPI_Status status;
        int count;
        for (int i = 0; i < 100; i++) room[i] = -1;
        MPI_Recv(room, 100, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        EQUAL(count, 3);
        MPI_Get_count(&status, MPI_BYTE, &count);
        EQUAL(count, 3 * (int)sizeof(double));
        MPI_Get_elements(&status, MPI_DOUBLE, &count);
        EQUAL(count, 3);
        CHECK(room[0] == 1.5 && room[1] == 2.5 && room[2] == 3.5 && room[3] == -1);
        MPI_Datatype pair;
        MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
        MPI_Type_commit(&pair);
        MPI_Get_count(&status, pair, &count);
        EQUAL(count, MPI_UNDEFINED);
        MPI_Get_elements(&status, pair, &count);
        EQUAL(count, 3);
        MPI_Type_free(&pair);
        MPI_Recv(room, 100, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        EQUAL(count, 0);
        MPI_Recv(NULL, 0, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

#define ECHO(type, c_type)                                                                                             \
    do {                                                                                                               \
        c_type out[5], in[6];                                                                                          \
        for (int i = 0; i < 5; i++) out[i] = (c_type)(i + 1 + rank);                                                   \
        memset(in, 0, sizeof in);                                                                                      \
        MPI_Status status;                                                                                             \
        int count, bytes;                                                                                              \
        MPI_Sendrecv(out, 5, type, (rank + 1) % size, 9, in, 6, type, (rank + size - 1) % size, 9, MPI_COMM_WORLD,     \
                     &status);                                                                                         \
        MPI_Get_count(&status, type, &count);                                                                          \
        EQUAL(count, 5);                                                                                               \
        MPI_Type_size(type, &bytes);                                                                                   \
        EQUAL(bytes, sizeof(c_type));                                                                                  \
        for (int i = 0; i < 5; i++) CHECK(in[i] == (c_type)(i + 1 + (rank + size - 1) % size));                        \
        CHECK(in[5] == (c_type)0);                                                                                     \
    } while (0)

static void types(void)
{
    ECHO(MPI_CHAR, char);
    ECHO(MPI_SIGNED_CHAR, signed char);
    ECHO(MPI_UNSIGNED_CHAR, unsigned char);
    ECHO(MPI_WCHAR, __WCHAR_TYPE__);
    ECHO(MPI_SHORT, short);
    ECHO(MPI_UNSIGNED_SHORT, unsigned short);
    ECHO(MPI_INT, int);
    ECHO(MPI_UNSIGNED, unsigned);
    ECHO(MPI_LONG, long);
    ECHO(MPI_UNSIGNED_LONG, unsigned long);
    ECHO(MPI_LONG_LONG, long long);
    ECHO(MPI_LONG_LONG_INT, long long);
    ECHO(MPI_UNSIGNED_LONG_LONG, unsigned long long);
    ECHO(MPI_FLOAT, float);
    ECHO(MPI_DOUBLE, double);
    ECHO(MPI_LONG_DOUBLE, long double);
    ECHO(MPI_C_BOOL, _Bool);
    ECHO(MPI_INT8_T, __INT8_TYPE__);
    ECHO(MPI_INT16_T, __INT16_TYPE__);
    ECHO(MPI_INT32_T, __INT32_TYPE__);
    ECHO(MPI_INT64_T, __INT64_TYPE__);
    ECHO(MPI_UINT8_T, __UINT8_TYPE__);
    ECHO(MPI_UINT16_T, __UINT16_TYPE__);
    ECHO(MPI_UINT32_T, __UINT32_TYPE__);
    ECHO(MPI_UINT64_T, __UINT64_TYPE__);
    ECHO(MPI_C_COMPLEX, float _Complex);
    ECHO(MPI_C_FLOAT_COMPLEX, float _Complex);
    ECHO(MPI_C_DOUBLE_COMPLEX, double _Complex);
    ECHO(MPI_C_LONG_DOUBLE_COMPLEX, long double _Complex);
    ECHO(MPI_AINT, MPI_Aint);
    ECHO(MPI_OFFSET, MPI_Offset);
    ECHO(MPI_COUNT, MPI_Count);
    ECHO(MPI_BYTE, unsigned char);
}

static void tags_select(void)
{
    int *limit, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &flag);
    CHECK(flag && *limit >= 32767);
    if (rank == 0 && size > 1) {
        for (int t = 0; t < 20; t++) {
            int value = 100 + t;
            MPI_Send(&value, 1, MPI_INT, 1, t, MPI_COMM_WORLD);
        }
        MPI_Send(limit, 1, MPI_INT, 1, *limit, MPI_COMM_WORLD);
    }
    if (rank == 1) {
        int value;
        MPI_Recv(&value, 1, MPI_INT, 0, *limit, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EQUAL(value, *limit);
        for (int t = 19; t >= 0; t--) {
            MPI_Recv(&value, 1, MPI_INT, 0, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EQUAL(value, 100 + t);
        }
    }
}

static void same_tag_keeps_order(void)
{
    enum { N = 3000 };
    if (rank != 0) {
        for (int i = 0; i < N; i++) MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    } else {
        for (int from = size - 1; from > 0; from--) {
            for (int i = 0; i < N; i++) {
                int value;
                MPI_Recv(&value, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                EQUAL(value, i);
            }
        }
    }
}

/* Large and small messages with one tag arrive in the order they were sent, whatever carries them. */
static void sizes_keep_order(void)
{
    enum { N = 60, MOST = 200000 };
    static int buffer[MOST];
    if (rank == 0 && size > 1) {
        for (int i = 0; i < N; i++) {
            int n = i % 3 == 0 ? MOST : i % 3 == 1 ? 1 : 3000;
            for (int j = 0; j < n; j += 999) buffer[j] = i;
            MPI_Send(buffer, n, MPI_INT, 1, 2, MPI_COMM_WORLD);
        }
    }
    if (rank == 1) {
        for (int i = 0; i < N; i++) {
            int n = i % 3 == 0 ? MOST : i % 3 == 1 ? 1 : 3000, count;
            MPI_Status status;
            MPI_Recv(buffer, MOST, MPI_INT, 0, 2, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_INT, &count);
            EQUAL(count, n);
            for (int j = 0; j < n; j += 999) EQUAL(buffer[j], i);
        }
    }
}

/* Status objects may be null; MPI_ERROR is not touched by a call that returns one status. */
static void status_error_is_untouched(void)
{
    if (rank == 0 && size > 1) MPI_Send(&rank, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Status status;
        int value;
        status.MPI_ERROR = 4711;
        MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &status);
        EQUAL(status.MPI_ERROR, 4711);
    }
}

int main(void)
{
    start();
    sizes();
    shorter_than_the_buffer();
    types();
    tags_select();
    same_tag_keeps_order();
    sizes_keep_order();
    status_error_is_untouched();
    return finish("point_to_point");
}
