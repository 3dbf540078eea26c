/* Attributes: predefined ones; keyvals of communicators and types with copy and delete callbacks, their order and their
 * errors. */
#include "check.h"

static int copies, deletes, last_deleted[16];

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm;
    (void)key;
    copies++;
    *(void **)out = (char *)in + *(int *)extra;
    *flag = 1;
    return MPI_SUCCESS;
}

static int copy_not(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)value;
    (void)extra;
    last_deleted[deletes++ % 16] = key;
    return MPI_SUCCESS;
}

static int refuse(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return MPI_ERR_OTHER;
}

static int copy_fails(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_ERR_OTHER;
}

static void predefined(void)
{
    int *value, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    CHECK(flag && *value >= 32767);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag);
    CHECK(flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag);
    CHECK(flag && (*value == 0 || *value == 1));
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag);
    if (flag) CHECK(*value >= 0);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
    if (flag) CHECK(*value >= size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    CHECK(flag && *value >= MPI_ERR_LASTCODE);
}

static void on_communicators(void)
{
    int key, nokey, gone, one = 1, flag, *value;
    char data[4];
    MPI_Comm a, b;
    MPI_Comm_create_keyval(copy, delete, &key, &one);
    MPI_Comm_create_keyval(copy_not, delete, &nokey, NULL);
    CHECK(key != MPI_KEYVAL_INVALID && key != nokey);
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_get_attr(a, key, &value, &flag);
    CHECK(!flag);
    MPI_Comm_set_attr(a, key, data);
    MPI_Comm_set_attr(a, nokey, data);
    MPI_Comm_get_attr(a, key, &value, &flag);
    CHECK(flag && (char *)value == data);
    copies = deletes = 0;
    MPI_Comm_dup(a, &b);
    EQUAL(copies, 1);
    MPI_Comm_get_attr(b, key, &value, &flag);
    CHECK(flag && (char *)value == data + 1);
    MPI_Comm_get_attr(b, nokey, &value, &flag);
    CHECK(!flag);
    /* another value deletes the old one; deleting calls back once */
    MPI_Comm_set_attr(b, key, data + 3);
    EQUAL(deletes, 1);
    MPI_Comm_delete_attr(b, key);
    EQUAL(deletes, 2);
    MPI_Comm_get_attr(b, key, &value, &flag);
    CHECK(!flag);
    MPI_Comm_free(&b);
    EQUAL(deletes, 2);
    /* a freed keyval works until the last attribute is gone */
    gone = key;
    MPI_Comm_free_keyval(&gone);
    EQUAL(gone, MPI_KEYVAL_INVALID);
    MPI_Comm_get_attr(a, key, &value, &flag);
    CHECK(flag && (char *)value == data);
    MPI_Comm_free(&a);
    EQUAL(deletes, 4);
    MPI_Comm_free_keyval(&nokey);
    /* split does not copy, dup does; idup too */
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_set_attr(a, key, data);
    MPI_Comm_split(a, 0, 0, &b);
    MPI_Comm_get_attr(b, key, &value, &flag);
    CHECK(!flag);
    MPI_Comm_free(&b);
    MPI_Request request;
    MPI_Comm_idup(a, &b, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_get_attr(b, key, &value, &flag);
    CHECK(flag && (char *)value == data);
    MPI_Comm_free(&b);
    MPI_Comm_free(&a);
    MPI_Comm_free_keyval(&key);
}

/* Free deletes in the reverse order of setting on MPI_COMM_SELF at the end (checked there); a refusal stays. */
static void refusals(void)
{
    int key, flag, *value;
    MPI_Comm a, b;
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_set_errhandler(a, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, &key, NULL);
    MPI_Comm_set_attr(a, key, &flag);
    CHECK(MPI_Comm_delete_attr(a, key) != MPI_SUCCESS);
    MPI_Comm_get_attr(a, key, &value, &flag);
    CHECK(flag);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_create_keyval(copy_fails, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Comm_set_attr(c, key, &flag);
    CHECK(MPI_Comm_dup(c, &b) != MPI_SUCCESS);
    MPI_Comm_free(&c);
    MPI_Comm_free_keyval(&key);
}

static int type_copies, type_deletes;

static int type_copy(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
    (void)type, (void)key, (void)extra;
    type_copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int type_delete(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    type_deletes++;
    return MPI_SUCCESS;
}

static void on_types(void)
{
    int key, dup, flag, x, *value;
    MPI_Datatype a, b;
    MPI_Type_create_keyval(type_copy, type_delete, &key, NULL);
    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &dup, NULL);
    MPI_Type_contiguous(2, MPI_INT, &a);
    MPI_Type_set_attr(a, key, &x);
    MPI_Type_set_attr(a, dup, &key);
    MPI_Type_dup(a, &b);
    EQUAL(type_copies, 1);
    MPI_Type_get_attr(b, key, &value, &flag);
    CHECK(flag && value == &x);
    MPI_Type_get_attr(b, dup, &value, &flag);
    CHECK(flag && value == &key);
    MPI_Type_delete_attr(b, key);
    EQUAL(type_deletes, 1);
    MPI_Type_free(&a);
    MPI_Type_free(&b);
    EQUAL(type_deletes, 2);
    /* predefined types carry attributes too */
    MPI_Type_set_attr(MPI_INT, key, &x);
    MPI_Type_get_attr(MPI_INT, key, &value, &flag);
    CHECK(flag && value == &x);
    MPI_Type_delete_attr(MPI_INT, key);
    MPI_Type_free_keyval(&key);
    MPI_Type_free_keyval(&dup);
}

static int order[3], at_end;

/* Finalize deletes the attributes of MPI_COMM_SELF first, the last set first, while MPI still works. */
static int in_finalize(MPI_Comm comm, int key, void *value, void *extra)
{
    int finalized, n;
    (void)key;
    (void)extra;
    MPI_Finalized(&finalized);
    MPI_Comm_size(comm, &n);
    if (!finalized && n == 1) order[at_end++] = *(int *)value;
    return MPI_SUCCESS;
}

int main(void)
{
    start();
    predefined();
    on_communicators();
    refusals();
    on_types();
    static int values[3] = {10, 11, 12};
    for (int i = 0; i < 3; i++) {
        int key;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, in_finalize, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, &values[i]);
        MPI_Comm_free_keyval(&key);
    }
    MPI_Finalize();
    if (at_end != 3 || order[0] != 12 || order[1] != 11 || order[2] != 10) {
        fprintf(stderr, "attributes.c: Finalize deleted %d of 3: %d %d %d\n", at_end, order[0], order[1], order[2]);
        return 1;
    }
    if (rank == 0) printf("ok attributes\n");
    return 0;
}
