/* Predefined datatypes by precision, class and pair; names; what may not be done to a datatype. */
#include "check.h"

static void by_precision(void)
{
    MPI_Datatype a, b;
    int bytes, integers, addresses, types, combiner, arguments[2];
    MPI_Type_create_f90_real(6, 30, &a);
    MPI_Type_size(a, &bytes);
    EQUAL(bytes, 4);
    MPI_Type_create_f90_real(6, 30, &b);
    CHECK(a == b);
    MPI_Type_create_f90_real(7, 30, &b);
    CHECK(a != b);
    MPI_Type_size(b, &bytes);
    EQUAL(bytes, 8);
    MPI_Type_create_f90_real(MPI_UNDEFINED, 300, &b);
    MPI_Type_size(b, &bytes);
    EQUAL(bytes, 8);
    MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &b);
    MPI_Type_size(b, &bytes);
    EQUAL(bytes, 16);
    MPI_Type_get_envelope(b, &integers, &addresses, &types, &combiner);
    EQUAL(combiner, MPI_COMBINER_F90_COMPLEX);
    CHECK(integers == 2 && addresses == 0 && types == 0);
    MPI_Type_get_contents(b, 2, 0, 0, arguments, NULL, NULL);
    CHECK(arguments[0] == 15 && arguments[1] == MPI_UNDEFINED);
    static const int range[] = {1, 2, 3, 4, 9, 10, 18, 19, 38}, wanted[] = {1, 1, 2, 2, 4, 8, 8, 16, 16};
    for (int i = 0; i < 9; i++) {
        MPI_Type_create_f90_integer(range[i], &b);
        MPI_Type_size(b, &bytes);
        EQUAL(bytes, wanted[i]);
        MPI_Type_get_envelope(b, &integers, &addresses, &types, &combiner);
        EQUAL(combiner, MPI_COMBINER_F90_INTEGER);
        EQUAL(integers, 1);
    }
    FAILS(MPI_Type_create_f90_real(100, 10, &b), MPI_ERR_ARG);
    FAILS(MPI_Type_create_f90_integer(39, &b), MPI_ERR_ARG);
    FAILS(MPI_Type_free(&a), MPI_ERR_TYPE);
    /* A part of another datatype comes back as it was. */
    MPI_Datatype pair, part;
    MPI_Type_contiguous(2, a, &pair);
    MPI_Type_get_contents(pair, 1, 0, 1, arguments, NULL, &part);
    CHECK(part == a);
    MPI_Type_free(&pair);
    /* They are predefined: committed, and reduced. */
    float in[2] = {1, 2}, sum[2];
    MPI_Allreduce(in, sum, 2, a, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum[0] == size && sum[1] == 2 * size);
}

static void by_class(void)
{
    MPI_Datatype type;
    int bytes;
    static const int classes[] = {MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL, MPI_TYPECLASS_COMPLEX},
        least[] = {1, 4, 8};
    static const int most[] = {8, 8, 16};
    for (int i = 0; i < 3; i++) {
        for (int wanted = least[i]; wanted <= most[i]; wanted *= 2) {
            MPI_Type_match_size(classes[i], wanted, &type);
            MPI_Type_size(type, &bytes);
            EQUAL(bytes, wanted);
        }
        FAILS(MPI_Type_match_size(classes[i], 3, &type), MPI_ERR_ARG);
    }
    FAILS(MPI_Type_match_size(77, 4, &type), MPI_ERR_ARG);
}

static void by_pair(void)
{
    MPI_Datatype pair;
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair);
    CHECK(pair == MPI_DOUBLE_INT);
    MPI_Type_get_value_index(MPI_INT, MPI_INT, &pair);
    CHECK(pair == MPI_2INT);
    MPI_Type_get_value_index(MPI_LONG_DOUBLE, MPI_INT, &pair);
    CHECK(pair == MPI_LONG_DOUBLE_INT);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_FLOAT, &pair);
    CHECK(pair == MPI_DATATYPE_NULL);
    FAILS(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &pair), MPI_ERR_TYPE);
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME], longer[2 * MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Datatype type, copy;
    MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length);
    CHECK(!strcmp(name, "MPI_DATATYPE_NULL") && length == 17);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_get_name(type, name, &length);
    CHECK(name[0] == 0 && length == 0);
    MPI_Type_set_name(type, "three");
    MPI_Type_dup(type, &copy);
    MPI_Type_get_name(copy, name, &length);
    EQUAL(length, 0);
    MPI_Type_get_name(type, name, &length);
    CHECK(!strcmp(name, "three") && length == 5);
    memset(longer, 'n', sizeof longer);
    longer[sizeof longer - 1] = 0;
    MPI_Type_set_name(type, longer);
    MPI_Type_get_name(type, name, &length);
    EQUAL(length, MPI_MAX_OBJECT_NAME - 1);
    CHECK(!strncmp(name, longer, MPI_MAX_OBJECT_NAME - 1) && name[length] == 0);
    MPI_Type_free(&type);
    MPI_Type_free(&copy);
}

static void refused(void)
{
    MPI_Datatype type, other, freed;
    int none[1] = {-1}, at[1] = {0}, value = 0, position = 0;
    char room[8];
    type = MPI_INT;
    FAILS(MPI_Type_free(&type), MPI_ERR_TYPE);
    type = MPI_DATATYPE_NULL;
    FAILS(MPI_Type_free(&type), MPI_ERR_TYPE);
    FAILS(MPI_Type_commit(&type), MPI_ERR_TYPE);
    FAILS(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
    FAILS(MPI_Type_vector(1, -1, 1, MPI_INT, &type), MPI_ERR_COUNT);
    FAILS(MPI_Type_indexed(1, none, at, MPI_INT, &type), MPI_ERR_COUNT);
    FAILS(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
    FAILS(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG);
    MPI_Type_contiguous(1, MPI_INT, &type);
    freed = type;
    FAILS(MPI_Send(&value, 1, type, 0, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    FAILS(MPI_Pack(&value, 1, type, room, 8, &position, MPI_COMM_WORLD), MPI_ERR_TYPE);
    MPI_Type_free(&type);
    CHECK(type == MPI_DATATYPE_NULL);
    FAILS(MPI_Type_commit(&freed), MPI_ERR_TYPE);
    FAILS(MPI_Type_dup(freed, &other), MPI_ERR_TYPE);
    MPI_Aint where = 0;
    FAILS(MPI_Pack_external("internal", &value, 1, MPI_INT, room, 8, &where), MPI_ERR_UNSUPPORTED_DATAREP);
}

int main(void)
{
    start();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    by_precision();
    by_class();
    by_pair();
    names();
    refused();
    return finish("type_predefined");
}
