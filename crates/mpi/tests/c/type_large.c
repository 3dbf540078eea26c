/* Every constructor with large counts makes what the one with ints makes, and tells its arguments as large counts. */
#include "check.h"

enum { MOST = 32 };

/* Two datatypes of the same bounds that pack the same bytes. */
static void same(MPI_Datatype small, MPI_Datatype large)
{
    static char data[4096], a[2048], b[2048];
    MPI_Count values[2][5], at = 0;
    MPI_Datatype both[2] = {small, large};
    for (int i = 0; i < 2; i++) {
        MPI_Type_commit(&both[i]);
        MPI_Type_size_c(both[i], &values[i][0]);
        MPI_Type_get_extent_c(both[i], &values[i][1], &values[i][2]);
        MPI_Type_get_true_extent_c(both[i], &values[i][3], &values[i][4]);
    }
    for (int i = 0; i < 5; i++) EQUAL(values[1][i], values[0][i]);
    for (int i = 0; i < 4096; i++) data[i] = (char)(i * 5 + i / 256);
    int position = 0;
    MPI_Pack(data + 1024, 1, small, a, sizeof a, &position, MPI_COMM_SELF);
    MPI_Pack_c(data + 1024, 1, large, b, sizeof b, &at, MPI_COMM_SELF);
    EQUAL(at, position);
    CHECK(!memcmp(a, b, position));
}

/* What a datatype with large counts tells of itself: its integers, its counts. */
static void tells(MPI_Datatype type, int wanted, const char *integers, const char *counts)
{
    MPI_Count ni, na, nc, nt, c[MOST];
    MPI_Datatype t[MOST];
    MPI_Aint a[1];
    int i[MOST], combiner, n = 0, small[3];
    MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nt, &combiner);
    EQUAL(combiner, wanted);
    EQUAL(na, 0);
    FAILS(MPI_Type_get_envelope(type, &small[0], &small[1], &small[2], &combiner), MPI_ERR_TYPE);
    MPI_Type_get_contents_c(type, MOST, 0, MOST, MOST, i, a, c, t);
    char text[400] = "";
    for (n = 0; n < ni; n++) sprintf(text + strlen(text), "%d ", i[n]);
    CHECK(!strcmp(text, integers));
    text[0] = 0;
    for (n = 0; n < nc; n++) sprintf(text + strlen(text), "%lld ", (long long)c[n]);
    CHECK(!strcmp(text, counts));
    for (n = 0; n < nt; n++) CHECK(t[n] == MPI_INT || t[n] == MPI_DOUBLE);
}

static void constructors(void)
{
    MPI_Datatype s, l;
    int lengths[2] = {2, 1}, places[2] = {3, 0};
    MPI_Aint at[2] = {40, -8};
    MPI_Count lengths_c[2] = {2, 1}, places_c[2] = {3, 0}, at_c[2] = {40, -8};
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};

    MPI_Type_contiguous(3, MPI_INT, &s);
    MPI_Type_contiguous_c(3, MPI_INT, &l);
    same(s, l);
    tells(l, MPI_COMBINER_CONTIGUOUS, "", "3 ");
    MPI_Type_vector(3, 2, -4, MPI_INT, &s);
    MPI_Type_vector_c(3, 2, -4, MPI_INT, &l);
    same(s, l);
    tells(l, MPI_COMBINER_VECTOR, "", "3 2 -4 ");
    MPI_Type_create_hvector(3, 2, 20, MPI_INT, &s);
    MPI_Type_create_hvector_c(3, 2, 20, MPI_INT, &l);
    same(s, l);
    tells(l, MPI_COMBINER_HVECTOR, "", "3 2 20 ");
    MPI_Type_indexed(2, lengths, places, MPI_INT, &s);
    MPI_Type_indexed_c(2, lengths_c, places_c, MPI_INT, &l);
    same(s, l);
    tells(l, MPI_COMBINER_INDEXED, "", "2 2 1 3 0 ");
    MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &s);
    MPI_Type_create_hindexed_c(2, lengths_c, at_c, MPI_INT, &l);
    same(s, l);
    tells(l, MPI_COMBINER_HINDEXED, "", "2 2 1 40 -8 ");
    MPI_Type_create_indexed_block(2, 2, places, MPI_INT, &s);
    MPI_Type_create_indexed_block_c(2, 2, places_c, MPI_INT, &l);
    same(s, l);
    tells(l, MPI_COMBINER_INDEXED_BLOCK, "", "2 2 3 0 ");
    MPI_Type_create_hindexed_block(2, 2, at, MPI_INT, &s);
    MPI_Type_create_hindexed_block_c(2, 2, at_c, MPI_INT, &l);
    same(s, l);
    tells(l, MPI_COMBINER_HINDEXED_BLOCK, "", "2 2 40 -8 ");
    MPI_Type_create_struct(2, lengths, at, types, &s);
    MPI_Type_create_struct_c(2, lengths_c, at_c, types, &l);
    same(s, l);
    tells(l, MPI_COMBINER_STRUCT, "", "2 2 1 40 -8 ");
    MPI_Type_create_resized(MPI_INT, -4, 12, &s);
    MPI_Type_create_resized_c(MPI_INT, -4, 12, &l);
    same(s, l);
    tells(l, MPI_COMBINER_RESIZED, "", "-4 12 ");
}

static void arrays(void)
{
    MPI_Datatype s, l;
    int sizes[2] = {5, 4}, parts[2] = {2, 3}, starts[2] = {1, 0};
    MPI_Count sizes_c[2] = {5, 4}, parts_c[2] = {2, 3}, starts_c[2] = {1, 0};
    char integers[100];
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &s);
    MPI_Type_create_subarray_c(2, sizes_c, parts_c, starts_c, MPI_ORDER_FORTRAN, MPI_INT, &l);
    same(s, l);
    sprintf(integers, "2 %d ", MPI_ORDER_FORTRAN);
    tells(l, MPI_COMBINER_SUBARRAY, integers, "5 4 2 3 1 0 ");
    int how[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, block[2] = {2, 2}, grid[2] = {2, 2};
    for (int process = 0; process < 4; process++) {
        MPI_Type_create_darray(4, process, 2, sizes, how, block, grid, MPI_ORDER_C, MPI_INT, &s);
        MPI_Type_create_darray_c(4, process, 2, sizes_c, how, block, grid, MPI_ORDER_C, MPI_INT, &l);
        same(s, l);
        sprintf(integers, "4 %d 2 %d %d 2 2 2 2 %d ", process, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK,
                MPI_ORDER_C);
        tells(l, MPI_COMBINER_DARRAY, integers, "5 4 ");
    }
}

/* Sizes beyond an int are told where there is room for them, and undefined where not. */
static void beyond(void)
{
    MPI_Datatype type, wide;
    MPI_Count large = (MPI_Count)1 << 33, bytes, lb, extent;
    int small;
    MPI_Type_contiguous_c(large, MPI_DOUBLE, &type);
    MPI_Type_size_c(type, &bytes);
    EQUAL(bytes, 8 * large);
    MPI_Type_size(type, &small);
    EQUAL(small, MPI_UNDEFINED);
    MPI_Type_vector_c(large, 1, 3, MPI_INT, &wide);
    MPI_Type_get_extent_c(wide, &lb, &extent);
    EQUAL(extent, 12 * (large - 1) + 4);
    MPI_Type_free(&wide);
    FAILS(MPI_Type_vector_c(large, large, 3, type, &wide), MPI_ERR_ARG);
    MPI_Status status;
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements_c(&status, MPI_INT, large);
    MPI_Get_elements_c(&status, MPI_INT, &bytes);
    EQUAL(bytes, large);
    MPI_Get_count(&status, MPI_INT, &small);
    EQUAL(small, MPI_UNDEFINED);
    MPI_Get_elements(&status, MPI_INT, &small);
    EQUAL(small, MPI_UNDEFINED);
    MPI_Type_free(&type);
}

static void external(void)
{
    double data[4] = {1, -2, 3, -4}, back[4] = {0};
    char packed[64];
    MPI_Count at = 0, room;
    MPI_Pack_external_size_c("external32", 4, MPI_DOUBLE, &room);
    EQUAL(room, 32);
    MPI_Pack_external_c("external32", data, 4, MPI_DOUBLE, packed, room, &at);
    EQUAL(at, room);
    CHECK(packed[0] == 0x3f && packed[8] == (char)0xc0);
    at = 0;
    MPI_Unpack_external_c("external32", packed, room, &at, back, 4, MPI_DOUBLE);
    EQUAL(at, room);
    CHECK(!memcmp(data, back, sizeof data));
    FAILS(MPI_Pack_external_c("external32", data, 4, MPI_DOUBLE, packed, 63, &room), MPI_ERR_TRUNCATE);
}

int main(void)
{
    start();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    constructors();
    arrays();
    beyond();
    external();
    return finish("type_large");
}
