/* Info objects: keys in order, replaced, deleted, copied; hints of communicators; the environment. */
#include "check.h"

int main(void)
{
    start();
    MPI_Info info, dup, used;
    char value[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 11];
    int n, flag, length;
    MPI_Info_create(&info);
    MPI_Info_get_nkeys(info, &n);
    EQUAL(n, 0);
    MPI_Info_set(info, "one", "1");
    MPI_Info_set(info, "two", "a longer value, with blanks");
    MPI_Info_set(info, "three", "3");
    MPI_Info_set(info, "one", "uno");
    MPI_Info_get_nkeys(info, &n);
    EQUAL(n, 3);
    MPI_Info_get_nthkey(info, 0, key);
    CHECK(!strcmp(key, "one"));
    MPI_Info_get_nthkey(info, 2, key);
    CHECK(!strcmp(key, "three"));
    length = sizeof value;
    MPI_Info_get_string(info, "two", &length, value, &flag);
    CHECK(flag && length == 28 && !strcmp(value, "a longer value, with blanks"));
    /* a short buffer cuts, and the length needed comes back; 0 asks only */
    length = 5;
    MPI_Info_get_string(info, "two", &length, value, &flag);
    CHECK(flag && length == 28 && !strcmp(value, "a lo"));
    length = 0;
    MPI_Info_get_string(info, "one", &length, NULL, &flag);
    CHECK(flag && length == 4);
    length = 7;
    MPI_Info_get_string(info, "absent", &length, value, &flag);
    CHECK(!flag && length == 7);
    MPI_Info_dup(info, &dup);
    MPI_Info_delete(info, "two");
    MPI_Info_get_nkeys(info, &n);
    EQUAL(n, 2);
    MPI_Info_get_nkeys(dup, &n);
    EQUAL(n, 3);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    FAILS(MPI_Info_delete(info, "two"), MPI_ERR_INFO_NOKEY);
    FAILS(MPI_Info_get_nthkey(info, 2, key), MPI_ERR_ARG);
    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = 0;
    FAILS(MPI_Info_set(info, key, "v"), MPI_ERR_INFO_KEY);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Info_free(&dup);
    CHECK(dup == MPI_INFO_NULL);
    /* hints go with a communicator; unknown ones may be dropped, but the call works */
    MPI_Comm comm;
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Comm_get_info(comm, &used);
    MPI_Info_get_nkeys(used, &n);
    CHECK(n >= 0);
    MPI_Info_free(&used);
    MPI_Comm_set_info(comm, info);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
    /* the environment: keys are strings where they are set */
    MPI_Info_get_nkeys(MPI_INFO_ENV, &n);
    CHECK(n >= 0);
    for (int i = 0; i < n; i++) {
        MPI_Info_get_nthkey(MPI_INFO_ENV, i, key);
        length = sizeof value;
        MPI_Info_get_string(MPI_INFO_ENV, key, &length, value, &flag);
        CHECK(flag && length >= 1);
    }
    MPI_Info_create_env(0, NULL, &info);
    MPI_Info_get_nkeys(info, &n);
    MPI_Info_free(&info);
    return finish("info");
}
