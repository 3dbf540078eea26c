/* Envelopes and contents: what a type was made of, for every constructor. */
#include "check.h"

enum { MOST = 16 };
static int integers[MOST];
static MPI_Aint addresses[MOST];
static MPI_Datatype types[MOST];

static void take(MPI_Datatype *type, int combiner, int n_integers, int n_addresses, int n_types)
{
    int i, a, d, c;
    MPI_Type_get_envelope(*type, &i, &a, &d, &c);
    EQUAL(c, combiner);
    EQUAL(i, n_integers);
    EQUAL(a, n_addresses);
    EQUAL(d, n_types);
    MPI_Type_get_contents(*type, i, a, d, integers, addresses, types);
    MPI_Type_free(type);
}

static void named(MPI_Datatype type)
{
    int i, a, d, c;
    MPI_Type_get_envelope(type, &i, &a, &d, &c);
    EQUAL(c, MPI_COMBINER_NAMED);
    EQUAL(i, 0);
    EQUAL(a, 0);
    EQUAL(d, 0);
}

static void the_int(void)
{
    CHECK(types[0] == MPI_INT);
    named(types[0]);
}

int main(void)
{
    start();
    MPI_Datatype t, u;
    int lengths[3] = {1, 2, 3}, displacements[3] = {0, 5, 9};
    MPI_Aint bytes[3] = {0, 40, 80};

    named(MPI_INT);
    named(MPI_FLOAT_INT);
    named(MPI_PACKED);

    MPI_Type_dup(MPI_INT, &t);
    take(&t, MPI_COMBINER_DUP, 0, 0, 1);
    the_int();

    MPI_Type_contiguous(7, MPI_INT, &t);
    take(&t, MPI_COMBINER_CONTIGUOUS, 1, 0, 1);
    EQUAL(integers[0], 7);
    the_int();

    MPI_Type_vector(3, 2, -4, MPI_INT, &t);
    take(&t, MPI_COMBINER_VECTOR, 3, 0, 1);
    CHECK(integers[0] == 3 && integers[1] == 2 && integers[2] == -4);
    the_int();

    MPI_Type_create_hvector(3, 2, 44, MPI_INT, &t);
    take(&t, MPI_COMBINER_HVECTOR, 2, 1, 1);
    CHECK(integers[0] == 3 && integers[1] == 2 && addresses[0] == 44);
    the_int();

    MPI_Type_indexed(3, lengths, displacements, MPI_INT, &t);
    take(&t, MPI_COMBINER_INDEXED, 7, 0, 1);
    EQUAL(integers[0], 3);
    for (int i = 0; i < 3; i++) CHECK(integers[1 + i] == lengths[i] && integers[4 + i] == displacements[i]);
    the_int();

    MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &t);
    take(&t, MPI_COMBINER_HINDEXED, 4, 3, 1);
    EQUAL(integers[0], 3);
    for (int i = 0; i < 3; i++) CHECK(integers[1 + i] == lengths[i] && addresses[i] == bytes[i]);
    the_int();

    MPI_Type_create_indexed_block(3, 2, displacements, MPI_INT, &t);
    take(&t, MPI_COMBINER_INDEXED_BLOCK, 5, 0, 1);
    CHECK(integers[0] == 3 && integers[1] == 2);
    for (int i = 0; i < 3; i++) EQUAL(integers[2 + i], displacements[i]);
    the_int();

    MPI_Type_create_hindexed_block(3, 2, bytes, MPI_INT, &t);
    take(&t, MPI_COMBINER_HINDEXED_BLOCK, 2, 3, 1);
    CHECK(integers[0] == 3 && integers[1] == 2);
    for (int i = 0; i < 3; i++) EQUAL(addresses[i], bytes[i]);
    the_int();

    MPI_Datatype members[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    MPI_Type_create_struct(3, lengths, bytes, members, &t);
    take(&t, MPI_COMBINER_STRUCT, 4, 3, 3);
    EQUAL(integers[0], 3);
    for (int i = 0; i < 3; i++)
        CHECK(integers[1 + i] == lengths[i] && addresses[i] == bytes[i] && types[i] == members[i]);

    MPI_Type_create_resized(MPI_INT, -4, 32, &t);
    take(&t, MPI_COMBINER_RESIZED, 0, 2, 1);
    CHECK(addresses[0] == -4 && addresses[1] == 32);
    the_int();

    int sizes[2] = {6, 7}, parts[2] = {2, 3}, starts[2] = {1, 4};
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &t);
    take(&t, MPI_COMBINER_SUBARRAY, 8, 0, 1);
    EQUAL(integers[0], 2);
    for (int i = 0; i < 2; i++) {
        EQUAL(integers[1 + i], sizes[i]);
        EQUAL(integers[3 + i], parts[i]);
        EQUAL(integers[5 + i], starts[i]);
    }
    EQUAL(integers[7], MPI_ORDER_FORTRAN);
    the_int();

    int distribs[2] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC}, dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, 3},
        grid[2] = {1, 2};
    MPI_Type_create_darray(2, 1, 2, sizes, distribs, dargs, grid, MPI_ORDER_C, MPI_INT, &t);
    take(&t, MPI_COMBINER_DARRAY, 12, 0, 1);
    CHECK(integers[0] == 2 && integers[1] == 1 && integers[2] == 2);
    for (int i = 0; i < 2; i++) {
        EQUAL(integers[3 + i], sizes[i]);
        EQUAL(integers[5 + i], distribs[i]);
        EQUAL(integers[7 + i], dargs[i]);
        EQUAL(integers[9 + i], grid[i]);
    }
    EQUAL(integers[11], MPI_ORDER_C);
    the_int();

    /* of a type made of a derived one, which is free already: a new handle for something equal */
    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Type_vector(2, 1, 3, t, &u);
    MPI_Type_free(&t);
    take(&u, MPI_COMBINER_VECTOR, 3, 0, 1);
    t = types[0];
    CHECK(t != MPI_INT);
    take(&t, MPI_COMBINER_CONTIGUOUS, 1, 0, 1);
    EQUAL(integers[0], 2);
    the_int();

    /* handles that contents gave make types that work */
    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Type_contiguous(3, t, &u);
    MPI_Type_free(&t);
    MPI_Type_get_contents(u, 1, 0, 1, integers, addresses, types);
    MPI_Type_free(&u);
    t = types[0];
    MPI_Type_commit(&t);
    int out[2] = {rank, 5}, in[2] = {0, 0};
    MPI_Sendrecv(out, 1, t, (rank + 1) % size, 1, in, 1, t, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(in[0] == (rank + size - 1) % size && in[1] == 5);
    MPI_Type_free(&t);

    /* large counts: integers became counts */
    MPI_Count n_counts, many[MOST], n_integers, n_addresses, n_types;
    int combiner;
    MPI_Type_vector_c(3, 2, 4, MPI_INT, &t);
    MPI_Type_get_envelope_c(t, &n_integers, &n_addresses, &n_counts, &n_types, &combiner);
    EQUAL(combiner, MPI_COMBINER_VECTOR);
    EQUAL(n_integers, 0);
    EQUAL(n_addresses, 0);
    EQUAL(n_counts, 3);
    EQUAL(n_types, 1);
    MPI_Type_get_contents_c(t, 0, 0, 3, 1, integers, addresses, many, types);
    CHECK(many[0] == 3 && many[1] == 2 && many[2] == 4 && types[0] == MPI_INT);
    MPI_Type_free(&t);
    return finish("type_contents");
}
