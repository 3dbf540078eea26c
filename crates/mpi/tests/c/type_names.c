/* The predefined datatypes: names, sizes, use in contents and duplicates; committing them; those of a language that has
 * none. */
#include "check.h"

#define NAMED(type) is((type), #type)

static void is(MPI_Datatype type, const char *wanted)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length, bytes, combiner, i, a, d;
    MPI_Type_get_name(type, name, &length);
    if (strcmp(name, wanted) || length != (int)strlen(wanted)) {
        fprintf(stderr, "type_names.c: %s is called %s\n", wanted, name);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Type_size(type, &bytes);
    CHECK(bytes > 0);
    MPI_Type_get_envelope(type, &i, &a, &d, &combiner);
    EQUAL(combiner, MPI_COMBINER_NAMED);
    MPI_Datatype copy = type, two;
    MPI_Type_commit(&copy); /* allowed, and nothing */
    CHECK(copy == type);
    MPI_Type_dup(type, &copy);
    MPI_Type_contiguous(2, copy, &two);
    MPI_Type_free(&copy);
    MPI_Type_commit(&two);
    char out[64], in[64];
    MPI_Aint lb, extent;
    MPI_Type_get_extent(type, &lb, &extent);
    CHECK(lb == 0 && 2 * extent <= 64);
    memset(out, 7, sizeof out);
    memset(in, 0, sizeof in);
    MPI_Sendrecv(out, 1, two, 0, 1, in, 1, two, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    EQUAL(in[0], 7);
    EQUAL(in[extent], 7);
    MPI_Type_free(&two);
}

int main(void)
{
    start();
    NAMED(MPI_CHAR);
    NAMED(MPI_SIGNED_CHAR);
    NAMED(MPI_UNSIGNED_CHAR);
    NAMED(MPI_BYTE);
    NAMED(MPI_WCHAR);
    NAMED(MPI_SHORT);
    NAMED(MPI_UNSIGNED_SHORT);
    NAMED(MPI_INT);
    NAMED(MPI_UNSIGNED);
    NAMED(MPI_LONG);
    NAMED(MPI_UNSIGNED_LONG);
    NAMED(MPI_FLOAT);
    NAMED(MPI_DOUBLE);
    NAMED(MPI_LONG_DOUBLE);
    NAMED(MPI_UNSIGNED_LONG_LONG);
    NAMED(MPI_INT8_T);
    NAMED(MPI_INT16_T);
    NAMED(MPI_INT32_T);
    NAMED(MPI_INT64_T);
    NAMED(MPI_UINT8_T);
    NAMED(MPI_UINT16_T);
    NAMED(MPI_UINT32_T);
    NAMED(MPI_UINT64_T);
    NAMED(MPI_C_BOOL);
    NAMED(MPI_C_DOUBLE_COMPLEX);
    NAMED(MPI_C_LONG_DOUBLE_COMPLEX);
    NAMED(MPI_AINT);
    NAMED(MPI_OFFSET);
    NAMED(MPI_COUNT);
    NAMED(MPI_PACKED);
    NAMED(MPI_FLOAT_INT);
    NAMED(MPI_DOUBLE_INT);
    NAMED(MPI_LONG_INT);
    NAMED(MPI_2INT);
    NAMED(MPI_SHORT_INT);
    NAMED(MPI_LONG_DOUBLE_INT);
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    /* these two are one type with either name */
    MPI_Type_get_name(MPI_LONG_LONG, name, &length);
    CHECK(!strcmp(name, "MPI_LONG_LONG") || !strcmp(name, "MPI_LONG_LONG_INT"));
    MPI_Type_get_name(MPI_C_COMPLEX, name, &length);
    CHECK(!strcmp(name, "MPI_C_COMPLEX") || !strcmp(name, "MPI_C_FLOAT_COMPLEX"));
    /* a predefined type's name can be changed, and back */
    MPI_Type_set_name(MPI_INT, "whole number");
    MPI_Type_get_name(MPI_INT, name, &length);
    CHECK(!strcmp(name, "whole number"));
    MPI_Type_set_name(MPI_INT, "MPI_INT");
    return finish("type_names");
}
