/* Functions that the standard calls deprecated and still has: programs use them. */
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

int main(void)
{
    start();
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
