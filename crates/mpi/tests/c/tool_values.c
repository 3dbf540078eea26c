/* The tool interface's values: handles, sessions, starting and stopping, enumerations, writing, errors, order of
 * calls. */
#include "check.h"

static int bytes_of(MPI_Datatype type)
{
    int bytes;
    MPI_Type_size(type, &bytes);
    return bytes;
}

static void performance(void)
{
    int n, value = 1, in;
    MPI_T_pvar_session session;
    MPI_T_pvar_get_num(&n);
    MPI_T_pvar_session_create(&session);
    for (int i = 0; i < n; i++) {
        char name[512], text[4096];
        int name_length = sizeof name, text_length = sizeof text, verbosity, class, bind, readonly, continuous, atomic,
            count;
        MPI_Datatype type;
        MPI_T_enum set;
        MPI_T_pvar_handle handle;
        MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &set, text, &text_length, &bind,
                            &readonly, &continuous, &atomic);
        if (bind != MPI_T_BIND_NO_OBJECT) continue;
        EQUAL(MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count), MPI_SUCCESS);
        CHECK(count >= 1);
        char *before = calloc(count, 16), *after = calloc(count, 16);
        if (continuous) {
            CHECK(MPI_T_pvar_start(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP);
            CHECK(MPI_T_pvar_stop(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP);
        } else {
            EQUAL(MPI_T_pvar_start(session, handle), MPI_SUCCESS);
        }
        EQUAL(MPI_T_pvar_read(session, handle, before), MPI_SUCCESS);
        for (int k = 0; k < 10; k++)
            MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, (rank + size - 1) % size, 1,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EQUAL(MPI_T_pvar_read(session, handle, after), MPI_SUCCESS);
        if (class == MPI_T_PVAR_CLASS_COUNTER && count == 1 && bytes_of(type) == 8)
            CHECK(*(long long *)after >= *(long long *)before);
        if (!continuous) EQUAL(MPI_T_pvar_stop(session, handle), MPI_SUCCESS);
        if (readonly) {
            CHECK(MPI_T_pvar_write(session, handle, before) == MPI_T_ERR_PVAR_NO_WRITE);
            CHECK(MPI_T_pvar_reset(session, handle) == MPI_T_ERR_PVAR_NO_WRITE);
        } else {
            EQUAL(MPI_T_pvar_reset(session, handle), MPI_SUCCESS);
        }
        EQUAL(MPI_T_pvar_handle_free(session, &handle), MPI_SUCCESS);
        CHECK(handle == MPI_T_PVAR_HANDLE_NULL);
        free(before);
        free(after);
    }
    MPI_T_pvar_handle none;
    int count;
    CHECK(MPI_T_pvar_handle_alloc(session, n, NULL, &none, &count) == MPI_T_ERR_INVALID_INDEX);
    int index;
    CHECK(MPI_T_pvar_get_index("no such variable", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_T_ERR_INVALID_NAME);
    EQUAL(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
    CHECK(session == MPI_T_PVAR_SESSION_NULL);
}

/* Names are cut to the room there is, and 0 asks for the length. */
static void short_room(void)
{
    int n;
    MPI_T_cvar_get_num(&n);
    if (n == 0) return;
    char name[512];
    int whole = 0, some = 4, verbosity, bind, scope;
    MPI_Datatype type;
    EQUAL(MPI_T_cvar_get_info(0, NULL, &whole, &verbosity, &type, NULL, NULL, NULL, &bind, &scope), MPI_SUCCESS);
    CHECK(whole > 1 && whole <= 512);
    memset(name, 'x', sizeof name);
    EQUAL(MPI_T_cvar_get_info(0, name, &some, &verbosity, &type, NULL, NULL, NULL, &bind, &scope), MPI_SUCCESS);
    EQUAL(strlen(name), 3);
}

static void enumerations(void)
{
    int n;
    MPI_T_cvar_get_num(&n);
    for (int i = 0; i < n; i++) {
        int verbosity, bind, scope, items, length = 256;
        MPI_Datatype type;
        MPI_T_enum set = MPI_T_ENUM_NULL;
        char name[256];
        MPI_T_cvar_get_info(i, NULL, NULL, &verbosity, &type, &set, NULL, NULL, &bind, &scope);
        if (set == MPI_T_ENUM_NULL) continue;
        EQUAL(MPI_T_enum_get_info(set, &items, name, &length), MPI_SUCCESS);
        CHECK(items > 0);
        for (int k = 0; k < items; k++) {
            int value;
            length = 256;
            EQUAL(MPI_T_enum_get_item(set, k, &value, name, &length), MPI_SUCCESS);
            CHECK(length == (int)strlen(name) + 1);
        }
    }
}

static void events(void)
{
    int n, sources;
    EQUAL(MPI_T_event_get_num(&n), MPI_SUCCESS);
    CHECK(n >= 0);
    EQUAL(MPI_T_source_get_num(&sources), MPI_SUCCESS);
    CHECK(sources >= 0);
}

int main(void)
{
    int provided, n;
    CHECK(MPI_T_cvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
    EQUAL(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
    start();
    performance();
    short_room();
    enumerations();
    events();
    MPI_T_category_get_num(&n);
    int code = finish("tool_values");
    /* it outlives MPI_Finalize */
    if (MPI_T_cvar_get_num(&n) != MPI_SUCCESS || MPI_T_finalize() != MPI_SUCCESS) return 1;
    return code;
}
