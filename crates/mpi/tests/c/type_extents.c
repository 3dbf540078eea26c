/* Sizes, extents and true extents of every constructor, and of the predefined types. */
#include <stddef.h>
#include "check.h"

static void is(MPI_Datatype type, MPI_Count size, MPI_Aint lb, MPI_Aint extent, MPI_Aint true_lb, MPI_Aint true_extent)
{
    int bytes;
    MPI_Aint a, b;
    MPI_Count large, c, d;
    MPI_Type_size(type, &bytes);
    EQUAL(bytes, size);
    MPI_Type_size_x(type, &large);
    EQUAL(large, size);
    MPI_Type_size_c(type, &large);
    EQUAL(large, size);
    MPI_Type_get_extent(type, &a, &b);
    EQUAL(a, lb);
    EQUAL(b, extent);
    MPI_Type_get_true_extent(type, &a, &b);
    EQUAL(a, true_lb);
    EQUAL(b, true_extent);
    MPI_Type_get_extent_x(type, &c, &d);
    EQUAL(c, lb);
    EQUAL(d, extent);
    MPI_Type_get_true_extent_x(type, &c, &d);
    EQUAL(c, true_lb);
    EQUAL(d, true_extent);
    MPI_Type_get_extent_c(type, &c, &d);
    EQUAL(c, lb);
    EQUAL(d, extent);
    MPI_Type_get_true_extent_c(type, &c, &d);
    EQUAL(c, true_lb);
    EQUAL(d, true_extent);
}

static void predefined(void)
{
    is(MPI_BYTE, 1, 0, 1, 0, 1);
    is(MPI_PACKED, 1, 0, 1, 0, 1);
    is(MPI_INT, 4, 0, 4, 0, 4);
    is(MPI_DOUBLE, 8, 0, 8, 0, 8);
    is(MPI_LONG_DOUBLE, sizeof(long double), 0, sizeof(long double), 0, sizeof(long double));
    is(MPI_C_DOUBLE_COMPLEX, 16, 0, 16, 0, 16);
    struct { float f; int i; } float_int;
    struct { double d; int i; } double_int;
    struct { long l; int i; } long_int;
    struct { short s; int i; } short_int;
    struct { long double l; int i; } long_double_int;
    is(MPI_2INT, 8, 0, 8, 0, 8);
    is(MPI_FLOAT_INT, 8, 0, sizeof float_int, 0, 8);
    is(MPI_DOUBLE_INT, 12, 0, sizeof double_int, 0, 12);
    is(MPI_LONG_INT, 12, 0, sizeof long_int, 0, 12);
    is(MPI_SHORT_INT, 6, 0, sizeof short_int, 0, 8);
    is(MPI_LONG_DOUBLE_INT, 20, 0, sizeof long_double_int, 0, 20);
}

static void constructed(void)
{
    MPI_Datatype t, u;
    MPI_Type_contiguous(5, MPI_INT, &t);
    is(t, 20, 0, 20, 0, 20);
    MPI_Type_free(&t);
    CHECK(t == MPI_DATATYPE_NULL);
    MPI_Type_contiguous(0, MPI_INT, &t);
    is(t, 0, 0, 0, 0, 0);
    MPI_Type_free(&t);
    MPI_Type_vector(3, 2, 4, MPI_INT, &t);
    is(t, 24, 0, 40, 0, 40);
    MPI_Type_free(&t);
    MPI_Type_vector(3, 2, -4, MPI_INT, &t);
    is(t, 24, -32, 40, -32, 40);
    MPI_Type_contiguous(2, t, &u);
    is(u, 48, -32, 80, -32, 80);
    MPI_Type_free(&u);
    MPI_Type_free(&t);
    MPI_Type_create_hvector(3, 2, 10, MPI_SHORT, &t);
    is(t, 12, 0, 24, 0, 24);
    MPI_Type_free(&t);
    int lengths[3] = {2, 0, 3}, displacements[3] = {4, 100, -2};
    MPI_Type_indexed(3, lengths, displacements, MPI_INT, &t);
    is(t, 20, -8, 32, -8, 32);
    MPI_Type_free(&t);
    MPI_Aint bytes[3] = {4, 100, -20};
    MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &t);
    is(t, 20, -20, 32, -20, 32);
    MPI_Type_free(&t);
    MPI_Type_create_indexed_block(3, 2, displacements, MPI_INT, &t);
    is(t, 24, -8, 416, -8, 416);
    MPI_Type_free(&t);
    MPI_Type_create_hindexed_block(3, 2, bytes, MPI_INT, &t);
    is(t, 24, -20, 128, -20, 128);
    MPI_Type_free(&t);
    /* a struct's extent is rounded up to the alignment of its members */
    struct { double d; char c; } padded;
    MPI_Datatype members[2] = {MPI_DOUBLE, MPI_CHAR};
    int ones[2] = {1, 1};
    MPI_Aint places[2] = {0, 8};
    MPI_Type_create_struct(2, ones, places, members, &t);
    is(t, 9, 0, sizeof padded, 0, 9);
    MPI_Type_contiguous(3, t, &u);
    is(u, 27, 0, 3 * sizeof padded, 0, 2 * sizeof padded + 9);
    MPI_Type_free(&u);
    MPI_Type_dup(t, &u);
    is(u, 9, 0, sizeof padded, 0, 9);
    MPI_Type_free(&u);
    MPI_Type_free(&t);
    /* resized: markers win over contents, and are inherited */
    MPI_Type_create_resized(MPI_INT, -3, 16, &t);
    is(t, 4, -3, 16, 0, 4);
    MPI_Type_contiguous(2, t, &u);
    is(u, 8, -3, 32, 0, 20);
    MPI_Type_free(&u);
    MPI_Type_vector(2, 1, 3, t, &u);
    is(u, 8, -3, 64, 0, 52);
    MPI_Type_free(&u);
    MPI_Datatype with_markers[2] = {t, MPI_CHAR};
    MPI_Aint at[2] = {8, 100};
    MPI_Type_create_struct(2, ones, at, with_markers, &u);
    is(u, 5, 5, 16, 8, 93);
    MPI_Type_free(&u);
    MPI_Type_create_resized(t, 0, 4, &u);
    is(u, 4, 0, 4, 0, 4);
    MPI_Type_free(&u);
    MPI_Type_free(&t);
    MPI_Type_create_resized(MPI_INT, 0, -8, &t);
    MPI_Aint lb, extent;
    MPI_Type_get_extent(t, &lb, &extent);
    EQUAL(extent, -8);
    MPI_Type_free(&t);
}

static void arrays(void)
{
    MPI_Datatype t;
    int sizes[3] = {4, 5, 6}, parts[3] = {2, 3, 2}, starts[3] = {1, 1, 3};
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &t);
    is(t, 12 * 4, 0, 120 * 4, (1 * 30 + 1 * 6 + 3) * 4, ((2 * 30 + 3 * 6 + 4) - (1 * 30 + 1 * 6 + 3) + 1) * 4);
    MPI_Type_free(&t);
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &t);
    is(t, 12 * 4, 0, 120 * 4, (1 + 1 * 4 + 3 * 20) * 4, ((2 + 3 * 4 + 4 * 20) - (1 + 1 * 4 + 3 * 20) + 1) * 4);
    MPI_Type_free(&t);
    int gsizes[2] = {7, 9}, distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    int dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, psizes[2] = {2, 2};
    int wanted[4] = {4 * 5, 4 * 4, 3 * 5, 3 * 4};
    for (int r = 0; r < 4; r++) {
        int bytes;
        MPI_Aint lb, extent;
        MPI_Type_create_darray(4, r, 2, gsizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_DOUBLE, &t);
        MPI_Type_size(t, &bytes);
        EQUAL(bytes, wanted[r] * 8);
        MPI_Type_get_extent(t, &lb, &extent);
        EQUAL(lb, 0);
        EQUAL(extent, 63 * 8);
        MPI_Type_free(&t);
    }
}

static void addresses(void)
{
    char data[10];
    MPI_Aint a, b;
    MPI_Get_address(&data[2], &a);
    MPI_Get_address(&data[7], &b);
    EQUAL(MPI_Aint_diff(b, a), 5);
    EQUAL(MPI_Aint_add(a, 5), b);
    CHECK((char *)a == &data[2]);
}

/* Sized types of the language bindings, by class and size. */
static void matched(void)
{
    MPI_Datatype t;
    int bytes;
    static const int floats[] = {4, 8}, integers[] = {1, 2, 4, 8}, complexes[] = {8, 16};
    for (int i = 0; i < 2; i++) {
        MPI_Type_match_size(MPI_TYPECLASS_REAL, floats[i], &t);
        MPI_Type_size(t, &bytes);
        EQUAL(bytes, floats[i]);
        MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, complexes[i], &t);
        MPI_Type_size(t, &bytes);
        EQUAL(bytes, complexes[i]);
    }
    for (int i = 0; i < 4; i++) {
        MPI_Type_match_size(MPI_TYPECLASS_INTEGER, integers[i], &t);
        MPI_Type_size(t, &bytes);
        EQUAL(bytes, integers[i]);
    }
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Type_get_name(MPI_INT, name, &length);
    CHECK(!strcmp(name, "MPI_INT") && length == 7);
    MPI_Type_get_name(MPI_C_DOUBLE_COMPLEX, name, &length);
    CHECK(!strcmp(name, "MPI_C_DOUBLE_COMPLEX"));
    MPI_Datatype t;
    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Type_get_name(t, name, &length);
    CHECK(length == 0 && name[0] == 0);
    MPI_Type_set_name(t, "two of them");
    MPI_Type_get_name(t, name, &length);
    CHECK(!strcmp(name, "two of them") && length == 11);
    MPI_Type_free(&t);
}

int main(void)
{
    start();
    predefined();
    constructed();
    arrays();
    addresses();
    matched();
    names();
    return finish("type_extents");
}
