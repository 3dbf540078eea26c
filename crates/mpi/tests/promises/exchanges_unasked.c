/* Two ranks with cpus of their own that exchange large data ask each other nothing, from the first time on and whoever
   comes first: up to 256 kB, it is read from the other one's memory, or goes through the pool and is not announced. */
#include "../c/check.h"
#include <unistd.h>

static unsigned long long announced(void)
{
    static MPI_T_pvar_session session;
    static MPI_T_pvar_handle handle;
    int provided, index, count;
    unsigned long long value;
    if (!handle) {
        MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
        MPI_T_pvar_get_index("rendezvous_sent", MPI_T_PVAR_CLASS_COUNTER, &index);
        MPI_T_pvar_session_create(&session);
        MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    }
    MPI_T_pvar_read(session, handle, &value);
    return value;
}

static void exchange(size_t bytes)
{
    unsigned char *in = malloc(2 * bytes), *out = malloc(2 * bytes);
    unsigned long long before = announced();
    for (int i = 0; i < 60; i++) {
        memset(in, rank + i, bytes), memset(in + bytes, 64 + rank + i, bytes);
        if (i % 3 == rank) usleep(300);
        MPI_Alltoall(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
        for (size_t k = 0; k < 2 * bytes; k++) EQUAL(out[k], (unsigned char)(64 * rank + k / bytes + i));
        MPI_Allgather(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
        for (size_t k = 0; k < 2 * bytes; k++) EQUAL(out[k], (unsigned char)(k / bytes + i));
    }
    if (bytes <= 256 << 10) EQUAL(announced() - before, 0);
    free(in), free(out);
}

int main(void)
{
    start();
    exchange(70000);
    exchange(256 << 10);
    exchange((256 << 10) + 1);
    exchange(5 << 20);
    return finish("exchanges_unasked");
}
