/* Pack and unpack: positions, several items, messages of MPI_PACKED, external32's sizes and values. */
#include "check.h"

static void items_in_a_row(void)
{
    char buffer[1000];
    int position = 0, n = 3, numbers[3] = {7, 8, 9}, room, part;
    double x[2] = {1.5, -2.5};
    MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &room);
    MPI_Pack_size(3, MPI_INT, MPI_COMM_WORLD, &part);
    room += part;
    MPI_Pack_size(2, MPI_DOUBLE, MPI_COMM_WORLD, &part);
    room += part;
    CHECK(room <= (int)sizeof buffer);
    MPI_Pack(&n, 1, MPI_INT, buffer, room, &position, MPI_COMM_WORLD);
    MPI_Pack(numbers, 3, MPI_INT, buffer, room, &position, MPI_COMM_WORLD);
    MPI_Pack(x, 2, MPI_DOUBLE, buffer, room, &position, MPI_COMM_WORLD);
    CHECK(position <= room);
    char in[1000];
    MPI_Status status;
    MPI_Sendrecv(buffer, position, MPI_PACKED, (rank + 1) % size, 1, in, 1000, MPI_PACKED, (rank + size - 1) % size, 1,
                 MPI_COMM_WORLD, &status);
    int count, m = 0, got[3] = {0}, at = 0;
    double y[2] = {0};
    MPI_Get_count(&status, MPI_PACKED, &count);
    EQUAL(count, position);
    MPI_Unpack(in, count, &at, &m, 1, MPI_INT, MPI_COMM_WORLD);
    EQUAL(m, 3);
    MPI_Unpack(in, count, &at, got, m, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(in, count, &at, y, 2, MPI_DOUBLE, MPI_COMM_WORLD);
    EQUAL(at, position);
    CHECK(got[0] == 7 && got[1] == 8 && got[2] == 9 && y[0] == 1.5 && y[1] == -2.5);
}

/* Packed is received as its type, and the other way round. */
static void packed_matches_any_type(void)
{
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int out[6] = {0, 1, 2, 3, 4, 5}, in[3] = {-1, -1, -1}, position = 0;
    char buffer[100];
    MPI_Datatype every_other;
    MPI_Type_vector(3, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Pack(out, 1, every_other, buffer, 100, &position, MPI_COMM_WORLD);
    MPI_Sendrecv(buffer, position, MPI_PACKED, next, 2, in, 3, MPI_INT, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in[0] == 0 && in[1] == 2 && in[2] == 4);
    MPI_Sendrecv(out, 1, every_other, next, 3, buffer, 100, MPI_PACKED, previous, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    position = 0;
    in[0] = in[1] = in[2] = -1;
    MPI_Unpack(buffer, 12, &position, in, 3, MPI_INT, MPI_COMM_WORLD);
    CHECK(in[0] == 0 && in[1] == 2 && in[2] == 4);
    EQUAL(position, 12);
    MPI_Type_free(&every_other);
}

static void external_bytes(void)
{
    unsigned char buffer[64];
    MPI_Aint at = 0, room;
    short s = 0x0102;
    int i = 0x03040506;
    double d = 1.0;
    float f = -2.0f;
    MPI_Pack_external("external32", &s, 1, MPI_SHORT, buffer, 64, &at);
    MPI_Pack_external("external32", &i, 1, MPI_INT, buffer, 64, &at);
    MPI_Pack_external("external32", &d, 1, MPI_DOUBLE, buffer, 64, &at);
    MPI_Pack_external("external32", &f, 1, MPI_FLOAT, buffer, 64, &at);
    MPI_Pack_external("external32", "hi", 2, MPI_CHAR, buffer, 64, &at);
    EQUAL(at, 20);
    static const unsigned char wanted[20] = {1, 2, 3, 4, 5, 6, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 'h', 'i'};
    CHECK(!memcmp(buffer, wanted, 20));
    at = 2;
    i = 0;
    MPI_Unpack_external("external32", buffer, 20, &at, &i, 1, MPI_INT);
    EQUAL(at, 6);
    EQUAL(i, 0x03040506);
    /* sizes of external32 */
    MPI_Pack_external_size("external32", 3, MPI_LONG_DOUBLE, &room);
    EQUAL(room, 48);
    MPI_Pack_external_size("external32", 3, MPI_C_BOOL, &room);
    EQUAL(room, 3);
    MPI_Pack_external_size("external32", 5, MPI_INT64_T, &room);
    EQUAL(room, 40);
    MPI_Pack_external_size("external32", 5, MPI_C_DOUBLE_COMPLEX, &room);
    EQUAL(room, 80);
}

/* Negative numbers and long, whatever its external size, come back as they were. */
static void external_round_trip(void)
{
    char buffer[4000];
    long longs[5] = {-1, 2, -300000, 400, 5}, got[5];
    unsigned short words[3] = {65535, 1, 2}, words_got[3];
    MPI_Aint at = 0, back = 0;
    MPI_Pack_external("external32", longs, 5, MPI_LONG, buffer, 4000, &at);
    MPI_Pack_external("external32", words, 3, MPI_UNSIGNED_SHORT, buffer, 4000, &at);
    MPI_Unpack_external("external32", buffer, at, &back, got, 5, MPI_LONG);
    MPI_Unpack_external("external32", buffer, at, &back, words_got, 3, MPI_UNSIGNED_SHORT);
    EQUAL(at, back);
    for (int i = 0; i < 5; i++) EQUAL(got[i], longs[i]);
    for (int i = 0; i < 3; i++) EQUAL(words_got[i], words[i]);
}

int main(void)
{
    start();
    items_in_a_row();
    packed_matches_any_type();
    external_bytes();
    external_round_trip();
    return finish("pack");
}
