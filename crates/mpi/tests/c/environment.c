/* Initialised and finalised; time; versions; the processor's name; memory; a version call before Init. */
#include "check.h"

int main(int argc, char **argv)
{
    int flag = 1, version, subversion, length, provided;
    char text[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME];
    MPI_Initialized(&flag);
    EQUAL(flag, 0);
    MPI_Finalized(&flag);
    EQUAL(flag, 0);
    MPI_Get_version(&version, &subversion);
    EQUAL(version, MPI_VERSION);
    EQUAL(subversion, MPI_SUBVERSION);
    MPI_Get_library_version(text, &length);
    CHECK(length > 0 && (int)strlen(text) == length && length < MPI_MAX_LIBRARY_VERSION_STRING);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    CHECK(provided >= MPI_THREAD_FUNNELED && argc == 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Initialized(&flag);
    EQUAL(flag, 1);
    MPI_Finalized(&flag);
    EQUAL(flag, 0);
    MPI_Is_thread_main(&flag);
    EQUAL(flag, 1);
    MPI_Get_processor_name(name, &length);
    CHECK(length > 0 && (int)strlen(name) == length);
    /* time goes forwards, in steps of a tick at least, and for all ranks alike when it is global */
    double before = MPI_Wtime(), tick = MPI_Wtick(), after;
    CHECK(tick > 0 && tick < 1);
    do after = MPI_Wtime();
    while (after == before);
    CHECK(after > before);
    int *global;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global, &flag);
    for (int r = 0; flag && *global && r + 1 < size; r++) {
        double there;
        before = MPI_Wtime();
        if (rank == r) MPI_Send(&before, 1, MPI_DOUBLE, r + 1, 1, MPI_COMM_WORLD);
        if (rank == r + 1) {
            MPI_Recv(&there, 1, MPI_DOUBLE, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(MPI_Wtime() >= there);
        }
    }
    void *memory;
    MPI_Alloc_mem(1 << 20, MPI_INFO_NULL, &memory);
    CHECK(memory != NULL);
    memset(memory, 1, 1 << 20);
    MPI_Free_mem(memory);
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
    int major, minor;
    MPI_Abi_get_version(&major, &minor);
    EQUAL(major, MPI_ABI_VERSION);
    EQUAL(minor, MPI_ABI_SUBVERSION);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    MPI_Finalized(&flag);
    EQUAL(flag, 1);
    MPI_Initialized(&flag);
    EQUAL(flag, 1);
    MPI_Get_version(&version, &subversion);
    EQUAL(version, MPI_VERSION);
    if (rank == 0) printf("ok environment\n");
    return 0;
}
