/* Functions that the standard calls deprecated, or has deleted: programs use them. */
#include "check.h"

static int copies, deletes;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static int failures;

static void count_failure(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    failures++;
}

/* The names that MPI 3.0 deleted. */
static void deleted(void)
{
    struct { double d; int i[2]; char c; } data[3];
    int lengths[2] = {1, 2};
    MPI_Aint base, places[2], extent, lb, ub;
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT}, made, resized, strided, indexed;
    MPI_Errhandler handler, found;
    MPI_Address(data, &base);
    MPI_Address(&data[0].i, &places[1]);
    places[0] = 0;
    places[1] -= base;
    EQUAL((int)places[1], 8);
    MPI_Type_struct(2, lengths, places, types, &made);
    MPI_Type_create_resized(made, -4, 24, &resized);
    MPI_Type_extent(resized, &extent);
    MPI_Type_lb(resized, &lb);
    MPI_Type_ub(resized, &ub);
    EQUAL((int)extent, 24);
    EQUAL((int)lb, -4);
    EQUAL((int)ub, 20);
    MPI_Type_hvector(3, 1, 24, MPI_INT, &strided);
    MPI_Type_extent(strided, &extent);
    EQUAL((int)extent, 52);
    MPI_Type_hindexed(2, lengths, places, MPI_INT, &indexed);
    MPI_Type_extent(indexed, &extent);
    EQUAL((int)extent, 16);
    MPI_Type_free(&made), MPI_Type_free(&resized), MPI_Type_free(&strided), MPI_Type_free(&indexed);
    MPI_Errhandler_create(count_failure, &handler);
    MPI_Errhandler_set(MPI_COMM_WORLD, handler);
    MPI_Errhandler_get(MPI_COMM_WORLD, &found);
    CHECK(found == handler);
    MPI_Send(NULL, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    EQUAL(failures, 1);
    MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler), MPI_Errhandler_free(&found);
}

int main(void)
{
    start();
    deleted();
    int key, flag, *value, data = 3, length;
    MPI_Comm a, b;
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Keyval_create(copy, delete, &key, NULL);
    MPI_Attr_put(a, key, &data);
    MPI_Attr_get(a, key, &value, &flag);
    CHECK(flag && value == &data);
    MPI_Comm_dup(a, &b);
    EQUAL(copies, 1);
    MPI_Attr_get(b, key, &value, &flag);
    CHECK(flag && value == &data);
    MPI_Attr_delete(b, key);
    EQUAL(deletes, 1);
    MPI_Comm_free(&a);
    EQUAL(deletes, 2);
    MPI_Comm_free(&b);
    EQUAL(deletes, 2);
    MPI_Keyval_free(&key);
    EQUAL(key, MPI_KEYVAL_INVALID);
    MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    CHECK(flag && *value >= 32767);
    MPI_Info info;
    char text[20];
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "a value");
    MPI_Info_get_valuelen(info, "key", &length, &flag);
    CHECK(flag && length == 7);
    MPI_Info_get(info, "key", 19, text, &flag);
    CHECK(flag && !strcmp(text, "a value"));
    MPI_Info_get(info, "key", 3, text, &flag);
    CHECK(flag && !strcmp(text, "a v"));
    MPI_Info_get(info, "other", 19, text, &flag);
    CHECK(!flag);
    MPI_Info_get_valuelen(info, "other", &length, &flag);
    CHECK(!flag);
    MPI_Info_free(&info);
    return finish("deprecated");
}
