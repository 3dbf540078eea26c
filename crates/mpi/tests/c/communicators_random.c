/* Communicators made of communicators in a random order, many at once; each must carry its own messages and nobody
 * else's. All ranks draw the same numbers where they must agree, and their own where they need not. */
#include "check.h"

enum { MOST = 24, STEPS = 150, BATCH = 4 };

static MPI_Comm comms[MOST]; /* MPI_COMM_NULL: free place, or this rank is not in it */
static int places[MOST];     /* 0: free on all ranks */
static unsigned long shared_seed = 42, own_seed;

static unsigned draw(unsigned long *seed, unsigned below)
{
    *seed = *seed * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(*seed >> 33) % below;
}

/* A ring of messages whose data names the communicator; on an intercommunicator, from each of a group to the
 * other's. */
static void carries(MPI_Comm comm, int which)
{
    int inter, own, members, others, in[2] = {-1, -1};
    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &members);
    others = members;
    if (inter) MPI_Comm_remote_size(comm, &others);
    int out[2] = {which, own};
    MPI_Request requests[MOST * 8];
    int n = 0;
    /* Rank r of this side sends to all of the other side that are congruent to it. */
    if (!inter) {
        MPI_Isend(out, 2, MPI_INT, (own + 1) % members, 1, comm, &requests[n++]);
        MPI_Recv(in, 2, MPI_INT, (own + members - 1) % members, 1, comm, MPI_STATUS_IGNORE);
        EQUAL(in[0], which);
        EQUAL(in[1], (own + members - 1) % members);
    } else {
        for (int r = 0; r < others; r++) MPI_Isend(out, 2, MPI_INT, r, 1, comm, &requests[n++]);
        for (int r = 0; r < others; r++) {
            MPI_Recv(in, 2, MPI_INT, r, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
            EQUAL(in[0], which);
            EQUAL(in[1], r);
        }
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static int place(void)
{
    for (int i = 0; i < MOST; i++)
        if (!places[i]) return i;
    int i = draw(&shared_seed, MOST);
    if (comms[i] != MPI_COMM_NULL) MPI_Comm_free(&comms[i]);
    return i;
}

/* Several duplicates of the world at once, waited for in an order of each rank's own. */
static void duplicates(int step)
{
    MPI_Comm made[BATCH];
    MPI_Request requests[BATCH];
    for (int i = 0; i < BATCH; i++) MPI_Comm_idup(MPI_COMM_WORLD, &made[i], &requests[i]);
    if (step % 2) {
        MPI_Comm between;
        MPI_Comm_dup(MPI_COMM_WORLD, &between);
        carries(between, -step);
        MPI_Comm_free(&between);
    }
    for (int left = BATCH; left; left--) {
        int i = draw(&own_seed, BATCH);
        while (requests[i] == MPI_REQUEST_NULL) i = (i + 1) % BATCH;
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < BATCH; i++) {
        carries(made[i], step * BATCH + i);
        MPI_Comm_free(&made[i]);
    }
}

static MPI_Comm of_some(unsigned mask, int tag)
{
    MPI_Group world, some;
    MPI_Comm made = MPI_COMM_NULL;
    int ranks[64], n = 0;
    for (int r = 0; r < size; r++)
        if (mask >> r % 32 & 1) ranks[n++] = r;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, n, ranks, &some);
    if (mask >> rank % 32 & 1) MPI_Comm_create_group(MPI_COMM_WORLD, some, tag, &made);
    MPI_Group_free(&some);
    MPI_Group_free(&world);
    return made;
}

/* Two parts of the world as an intercommunicator; sometimes merged. */
static MPI_Comm of_two(unsigned how)
{
    MPI_Comm half, inter, merged;
    int side = size == 1 ? 0 : rank >= (int)(1 + how % (size - 1));
    int first = 1 + (size == 1 ? 0 : how % (size - 1));
    if (size == 1) {
        MPI_Comm_dup(MPI_COMM_SELF, &merged);
        return merged;
    }
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side ? 0 : first, how % 5, &inter);
    MPI_Comm_free(&half);
    if (how % 3 == 0) {
        MPI_Comm split;
        MPI_Comm_split(inter, 0, -rank, &split);
        MPI_Comm_free(&inter);
        return split;
    }
    if (how % 3 == 1) {
        MPI_Comm again;
        MPI_Request request;
        MPI_Comm_idup(inter, &again, &request);
        carries(inter, how);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_free(&inter);
        return again;
    }
    MPI_Intercomm_merge(inter, side ^ (how >> 4 & 1), &merged);
    MPI_Comm_free(&inter);
    return merged;
}

int main(void)
{
    start();
    own_seed = rank + 1;
    for (int i = 0; i < MOST; i++) comms[i] = MPI_COMM_NULL;
    for (int step = 0; step < STEPS; step++) {
        unsigned what = draw(&shared_seed, 6), how = draw(&shared_seed, 1000);
        if (what == 0) {
            duplicates(step);
            continue;
        }
        int i = place();
        places[i] = 1;
        if (what == 1) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        if (what == 2) MPI_Comm_split(MPI_COMM_WORLD, (rank * 7 + how) % 3, (int)draw(&own_seed, 5), &comms[i]);
        if (what == 3) comms[i] = of_some(how, how % 2);
        if (what == 4) comms[i] = of_two(how);
        if (what == 5) {
            /* Of one that was made before, by those who are in it. */
            int from = draw(&shared_seed, MOST);
            if (from == i || comms[from] == MPI_COMM_NULL) comms[i] = MPI_COMM_NULL;
            else MPI_Comm_dup(comms[from], &comms[i]);
        }
        /* In an order of messages that differs from the order of making. */
        for (int j = MOST - 1; j >= 0; j--)
            if (comms[j] != MPI_COMM_NULL && j % 4 == (int)(how % 4)) carries(comms[j], j);
    }
    for (int i = 0; i < MOST; i++)
        if (comms[i] != MPI_COMM_NULL) MPI_Comm_free(&comms[i]);
    return finish("communicators_random");
}
