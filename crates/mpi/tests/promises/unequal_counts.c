/* Where ranks share cpus, a rank that hears of another count than its own says so, and all others go on. */
#include "../c/check.h"

enum { LESS = 20000, USUAL = 50000, MORE = 90000 };

static int in[MORE], out[MORE + 1];

/* The class of what the root is told when one rank has another count. */
static int told(MPI_Comm comm, int other, int count)
{
    int class = MPI_SUCCESS;
    for (int i = 0; i < MORE; i++) in[i] = 1, out[i] = 0;
    out[MORE] = -1;
    int code = MPI_Reduce(in, out, rank == other ? count : USUAL, MPI_INT, MPI_SUM, 0, comm);
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    EQUAL(out[MORE], -1);
    if (rank == 0) EQUAL(out[0], size);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &class, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return class;
}

/* Who hears of another count in an allreduce says so; all others go on, and all do the next one. */
static void all_counts(MPI_Comm comm)
{
    for (int other = 0; other < size; other++) {
        int wrong = 0;
        for (int i = 0; i < MORE; i++) in[i] = 1, out[i] = 0;
        int n = rank == other ? other % 2 ? LESS : MORE : USUAL;
        out[n] = -1;
        int code = MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm);
        if (code != MPI_SUCCESS) MPI_Error_class(code, &wrong), EQUAL(wrong, MPI_ERR_TRUNCATE);
        EQUAL(out[n], -1);
        MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        EQUAL(wrong, MPI_ERR_TRUNCATE);
        for (int i = 0; i < USUAL; i++) out[i] = rank;
        MPI_Allreduce(MPI_IN_PLACE, out, USUAL, MPI_INT, MPI_SUM, comm);
        for (int i = 0; i < USUAL; i++) EQUAL(out[i], size * (size - 1) / 2);
    }
}

/* Who is sent more in an allgather than it has room for says so; what comes short leaves the rest alone. */
static void all_blocks(MPI_Comm comm)
{
    int *all = malloc(sizeof(int) * size * USUAL), class = MPI_SUCCESS;
    for (int other = 0; other < size; other++) {
        int n = rank == other ? LESS : USUAL;
        for (int i = 0; i < USUAL; i++) in[i] = rank;
        for (int i = 0; i < size * USUAL; i++) all[i] = -1;
        int code = MPI_Allgather(in, n, MPI_INT, all, n, MPI_INT, comm);
        if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
        EQUAL(code != MPI_SUCCESS, rank == other);
        if (rank == other) EQUAL(class, MPI_ERR_TRUNCATE);
        for (int i = 0; i < size * n; i++) EQUAL(all[i], rank != other && i / n == other && i % n >= LESS ? -1 : i / n);
        MPI_Allgather(in, USUAL, MPI_INT, all, USUAL, MPI_INT, comm);
        for (int i = 0; i < size * USUAL; i++) EQUAL(all[i], i / USUAL);
    }
    free(all);
}

static void is_truncated(int code, int expected)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    EQUAL(class, expected ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
}

/* The root of a gather is told of who sends more than it has room for; what comes short leaves the rest alone. So
 * often, data has gone through slots and as messages. */
static void root_blocks(MPI_Comm comm)
{
    static const int counts[] = {MORE, LESS, USUAL, 5};
    int *all = malloc(sizeof(int) * size * USUAL);
    for (int t = 0; t < 120; t++) {
        int other = t % size, root = t / 40 % size, n = rank == other ? counts[t / 3 % 4] : USUAL;
        int whose = counts[t / 3 % 4], is_root = rank == root, fits = other == root || whose <= USUAL;
        for (int i = 0; i < MORE; i++) in[i] = rank;
        for (int i = 0; i < size * USUAL; i++) all[i] = -1;
        int sent = is_root ? USUAL : n, class = MPI_SUCCESS;
        int code = MPI_Gather(in, sent, MPI_INT, all, USUAL, MPI_INT, root, comm);
        if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
        EQUAL(class, is_root && !fits ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        for (int i = 0; is_root && i < size * USUAL; i++) {
            int from = i / USUAL, came = from != other || other == root || i % USUAL < whose;
            if (from != other || fits) EQUAL(all[i], came ? from : -1);
        }
    }
    free(all);
}

/* Who expects less says so, also where little is sent. */
static void small_counts(MPI_Comm comm)
{
    enum { FEW = 2 };
    for (int root = 0; root < size; root++) {
        for (int more = FEW + 1; more < MORE; more *= 30) {
            int other = (root + 1) % size, is_root = rank == root, n = rank == other ? more : FEW;
            is_truncated(MPI_Bcast(in, is_root ? more : FEW, MPI_INT, root, comm), !is_root);
            if (more > 400) continue;
            is_truncated(MPI_Gather(in, n, MPI_INT, out, FEW, MPI_INT, root, comm), is_root);
            is_truncated(MPI_Reduce(in, out, n, MPI_INT, MPI_MAX, root, comm), is_root);
            is_truncated(MPI_Scatter(in, more, MPI_INT, out, is_root ? more : FEW, MPI_INT, root, comm), !is_root);
        }
        for (int i = 0; i < size; i++) in[0] = rank, out[i] = -1;
        MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, root, comm);
        for (int i = 0; rank == root && i < size; i++) EQUAL(out[i], i);
    }
}

/* A root that has less: what it does not send stays as it is. */
static void less_comes(MPI_Comm comm)
{
    for (int i = 0; i < MORE; i++) in[i] = rank ? 7 : 1;
    MPI_Bcast(in, MORE, MPI_INT, 0, comm);
    for (int i = 0; i < MORE; i++) in[i] = rank ? 7 : 2;
    MPI_Bcast(in, rank ? MORE : LESS, MPI_INT, 0, comm);
    for (int i = 0; rank && i < MORE; i++) EQUAL(in[i], i < LESS ? 2 : 7);
}

int main(void)
{
    start();
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int other = 0; other < size; other++) {
        EQUAL(told(comm, other, LESS), other == 0 || other != size - 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        int more = told(comm, other, MORE);
        CHECK(more == (other == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE));
        EQUAL(told(comm, other, USUAL), MPI_SUCCESS);
    }
    small_counts(comm);
    all_counts(comm);
    all_blocks(comm);
    root_blocks(comm);
    less_comes(comm);
    MPI_Comm_free(&comm);
    return finish("unequal_counts");
}
