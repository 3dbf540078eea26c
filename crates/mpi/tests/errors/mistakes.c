/* Programs with one mistake each, named by the first argument: errors.rs compares what a user sees of it. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;

static void truncated(void)
{
    int data[4] = {1, 2, 3, 4};
    if (rank == 0) MPI_Send(data, 4, MPI_INT, size - 1, 7, MPI_COMM_WORLD);
    if (rank == size - 1) MPI_Recv(data, 2, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void truncated_later(void)
{
    int data[4] = {1, 2, 3, 4};
    MPI_Request request;
    if (rank == 0) MPI_Send(data, 4, MPI_INT, size - 1, 7, MPI_COMM_WORLD);
    if (rank == size - 1) {
        MPI_Irecv(data, 2, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void rank_beyond(void) { MPI_Send(&rank, 1, MPI_INT, size, 0, MPI_COMM_WORLD); }
static void any_source_to_send(void) { MPI_Send(&rank, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD); }
static void source_negative(void) { MPI_Recv(&rank, 1, MPI_INT, -7, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
static void root_beyond(void) { MPI_Bcast(&rank, 1, MPI_INT, size, MPI_COMM_WORLD); }
static void tag_negative(void) { MPI_Send(&rank, 1, MPI_INT, 0, -5, MPI_COMM_WORLD); }
static void any_tag_to_send(void) { MPI_Isend(&rank, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &(MPI_Request){0}); }
static void count_negative(void) { MPI_Send(&rank, -1, MPI_INT, 0, 0, MPI_COMM_WORLD); }
static void count_negative_in_collective(void) {
    MPI_Allreduce(MPI_IN_PLACE, &rank, -3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
static void buffer_null(void) { MPI_Send(NULL, 2, MPI_INT, 0, 0, MPI_COMM_WORLD); }
static void datatype_null(void) { MPI_Send(&rank, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD); }

static void datatype_uncommitted(void)
{
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Send(&rank, 0, pair, 0, 0, MPI_COMM_WORLD);
}

static void datatype_freed(void)
{
    MPI_Datatype pair, copy;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    copy = pair;
    MPI_Type_free(&pair);
    MPI_Send(&rank, 0, copy, 0, 0, MPI_COMM_WORLD);
}

static void datatype_is_communicator(void) { MPI_Send(&rank, 1, (MPI_Datatype)MPI_COMM_WORLD, 0, 0, MPI_COMM_WORLD); }
static void comm_null(void) { MPI_Barrier(MPI_COMM_NULL); }
static void comm_garbage(void) { MPI_Comm_size((MPI_Comm)0x7f0012345678, &size); }

static void comm_freed(void)
{
    MPI_Comm comm, copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    copy = comm;
    MPI_Comm_free(&comm);
    MPI_Send(&rank, 1, MPI_INT, 0, 0, copy);
}

static void comm_is_group(void)
{
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_rank((MPI_Comm)group, &rank);
}

static void world_freed(void) { MPI_Comm comm = MPI_COMM_WORLD; MPI_Comm_free(&comm); }

static void group_freed(void)
{
    MPI_Group group, copy;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    copy = group;
    MPI_Group_free(&group);
    MPI_Group_size(copy, &size);
}

static void request_freed(void)
{
    int place;
    MPI_Request request, copy;
    MPI_Irecv(&place, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    copy = request;
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&copy, MPI_STATUS_IGNORE);
}

static void operation_wrong(void) { double a = 0, b; MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD); }
static void operation_null(void) { double a = 0, b; MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_OP_NULL, MPI_COMM_WORLD); }
static void colour_negative(void) { MPI_Comm comm; MPI_Comm_split(MPI_COMM_WORLD, -1, 0, &comm); }
static void info_key_empty(void) { MPI_Info_set(MPI_INFO_NULL, "", "x"); }

static void request_leaked(void)
{
    static int place[2];
    MPI_Request request[2];
    for (int i = 0; i < 2; i++) MPI_Irecv(&place[i], 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &request[i]);
}

static void library_memory(void)
{
    struct rlimit limit;
    MPI_Request request;
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1) exit(98);
    fclose(file);
    limit.rlim_cur = limit.rlim_max = pages * sysconf(_SC_PAGESIZE) + (32 << 20);
    setrlimit(RLIMIT_AS, &limit);
    for (;;) MPI_Irecv(&size, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
}

static void memory(void)
{
    void *base;
    MPI_Alloc_mem((MPI_Aint)1 << 46, MPI_INFO_NULL, &base);
}

static void killed(void)
{
    if (rank == size - 1) kill(getpid(), SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void crashed(void)
{
    if (rank == size - 1) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void left(void)
{
    if (rank == size - 1) exit(0);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void aborted(void) { MPI_Abort(MPI_COMM_WORLD, 9); }

static void forked(void)
{
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        _exit(0);
    }
    waitpid(child, &status, 0);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}

/* The launcher was told that errors return. */
static void returned(void)
{
    int *number, found;
    int code = MPI_Send(&rank, 1, MPI_INT, 0, -5, MPI_COMM_WORLD);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &found);
    exit((MPI_Finalize(), code == MPI_ERR_TAG && found && *number == 0 ? 0 : 97));
}

static void unsupported(void)
{
    MPI_Win window;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    puts("goes on");
}

static void unsupported_part(void)
{
    MPI_Request request;
    MPI_Psend_init(&rank, 1, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    puts("goes on");
}

static void unsupported_memory(void)
{
    MPI_Win window;
    MPI_Win_create(&rank, sizeof rank, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    puts("goes on");
}

static void unsupported_session(void)
{
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    puts("goes on");
}

static void unsupported_file(void)
{
    MPI_File file;
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_File_open(MPI_COMM_WORLD, "name", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    puts("goes on");
}

static void unsupported_returned(void)
{
    MPI_Win window;
    MPI_File file;
    MPI_Request request;
    MPI_Session session;
    if (MPI_File_open(MPI_COMM_WORLD, "name", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_ERR_UNSUPPORTED_OPERATION)
        exit(95);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window) != MPI_ERR_UNSUPPORTED_OPERATION) exit(96);
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_ERR_UNSUPPORTED_OPERATION) exit(94);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = MPI_Psend_init(&rank, 1, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    if (code != MPI_ERR_UNSUPPORTED_OPERATION || request != MPI_REQUEST_NULL) exit(93);
}

static void mixed_collectives(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void twice(void) { MPI_Init(NULL, NULL); }

static void finalised(void)
{
    MPI_Finalize();
    MPI_Barrier(MPI_COMM_WORLD);
}

#define MISTAKE(name) {#name, name}
static const struct { const char *name; void (*make)(void); } mistakes[] = {
    MISTAKE(truncated), MISTAKE(truncated_later), MISTAKE(rank_beyond), MISTAKE(any_source_to_send),
    MISTAKE(source_negative), MISTAKE(root_beyond), MISTAKE(tag_negative), MISTAKE(any_tag_to_send),
    MISTAKE(count_negative), MISTAKE(count_negative_in_collective), MISTAKE(buffer_null), MISTAKE(datatype_null),
    MISTAKE(datatype_uncommitted), MISTAKE(datatype_freed), MISTAKE(datatype_is_communicator), MISTAKE(comm_null),
    MISTAKE(comm_garbage), MISTAKE(comm_freed), MISTAKE(comm_is_group), MISTAKE(world_freed), MISTAKE(group_freed),
    MISTAKE(request_freed), MISTAKE(operation_wrong), MISTAKE(operation_null), MISTAKE(colour_negative),
    MISTAKE(info_key_empty), MISTAKE(request_leaked), MISTAKE(memory), MISTAKE(library_memory), MISTAKE(killed),
    MISTAKE(crashed), MISTAKE(left), MISTAKE(aborted), MISTAKE(forked), MISTAKE(returned), MISTAKE(unsupported),
    MISTAKE(unsupported_part), MISTAKE(unsupported_memory), MISTAKE(unsupported_session), MISTAKE(unsupported_file),
    MISTAKE(unsupported_returned), MISTAKE(mixed_collectives),
    MISTAKE(twice), MISTAKE(finalised),
};

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "";
    if (!strcmp(wanted, "never_started")) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        if (!strcmp(wanted, mistakes[i].name)) mistakes[i].make();
    MPI_Finalize();
    return 0;
}
