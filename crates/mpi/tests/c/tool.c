/* The tool interface: control and performance variables, categories and enumerations are listed; values are read. */
#include "check.h"

static void controls(void)
{
    int n;
    MPI_T_cvar_get_num(&n);
    CHECK(n >= 0);
    for (int i = 0; i < n; i++) {
        char name[512], text[4096];
        int name_length = sizeof name, text_length = sizeof text, verbosity, bind, scope, index, count;
        MPI_Datatype type;
        MPI_T_enum set;
        EQUAL(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &set, text, &text_length, &bind, &scope),
              MPI_SUCCESS);
        EQUAL(strlen(name) + 1, name_length);
        EQUAL(MPI_T_cvar_get_index(name, &index), MPI_SUCCESS);
        EQUAL(index, i);
        if (bind == MPI_T_BIND_NO_OBJECT) {
            MPI_T_cvar_handle handle;
            char value[4096];
            EQUAL(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count), MPI_SUCCESS);
            CHECK(count >= 0);
            if (count <= 512 && scope != MPI_T_SCOPE_GROUP) MPI_T_cvar_read(handle, value);
            EQUAL(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
            CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
        }
    }
    int index;
    CHECK(MPI_T_cvar_get_index("no such variable", &index) == MPI_T_ERR_INVALID_NAME);
    char name[10];
    int length = 10, v, b, s;
    MPI_Datatype type;
    CHECK(MPI_T_cvar_get_info(n, name, &length, &v, &type, NULL, NULL, NULL, &b, &s) == MPI_T_ERR_INVALID_INDEX);
}

static void performance(void)
{
    int n;
    MPI_T_pvar_session session;
    MPI_T_pvar_get_num(&n);
    CHECK(n >= 0);
    EQUAL(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    for (int i = 0; i < n; i++) {
        char name[512], text[4096];
        int name_length = sizeof name, text_length = sizeof text, verbosity, class, bind, readonly, continuous, atomic,
            index;
        MPI_Datatype type;
        MPI_T_enum set;
        EQUAL(MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &set, text, &text_length, &bind,
                                  &readonly, &continuous, &atomic), MPI_SUCCESS);
        EQUAL(MPI_T_pvar_get_index(name, class, &index), MPI_SUCCESS);
        EQUAL(index, i);
    }
    EQUAL(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
}

static void categories(void)
{
    int n, stamp;
    MPI_T_category_get_num(&n);
    CHECK(n >= 0);
    MPI_T_category_changed(&stamp);
    for (int i = 0; i < n; i++) {
        char name[512], text[4096];
        int name_length = sizeof name, text_length = sizeof text, cvars, pvars, parts, index;
        EQUAL(MPI_T_category_get_info(i, name, &name_length, text, &text_length, &cvars, &pvars, &parts), MPI_SUCCESS);
        EQUAL(MPI_T_category_get_index(name, &index), MPI_SUCCESS);
        EQUAL(index, i);
        int *list = malloc((cvars + pvars + parts + 1) * sizeof(int)), total;
        MPI_T_category_get_cvars(i, cvars, list);
        MPI_T_cvar_get_num(&total);
        for (int k = 0; k < cvars; k++) CHECK(list[k] >= 0 && list[k] < total);
        MPI_T_category_get_pvars(i, pvars, list);
        MPI_T_pvar_get_num(&total);
        for (int k = 0; k < pvars; k++) CHECK(list[k] >= 0 && list[k] < total);
        MPI_T_category_get_categories(i, parts, list);
        for (int k = 0; k < parts; k++) CHECK(list[k] >= 0 && list[k] < n);
        free(list);
    }
}

int main(void)
{
    int provided;
    /* before MPI_Init, and as often as one likes */
    EQUAL(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
    EQUAL(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
    EQUAL(MPI_T_finalize(), MPI_SUCCESS);
    int n;
    EQUAL(MPI_T_cvar_get_num(&n), MPI_SUCCESS);
    start();
    controls();
    performance();
    categories();
    EQUAL(MPI_T_finalize(), MPI_SUCCESS);
    return finish("tool");
}
