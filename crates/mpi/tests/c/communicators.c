/* Communicators: dup, idup, split, split_type, create, create_group, names, comparison; each is apart from the
 * others. */
#include "check.h"

static int sum_of(MPI_Comm comm)
{
    int total;
    MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, comm);
    return total;
}

static void duplicates(void)
{
    MPI_Comm a, b, c;
    int result, mine;
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_compare(MPI_COMM_WORLD, a, &result);
    EQUAL(result, MPI_CONGRUENT);
    MPI_Comm_compare(a, a, &result);
    EQUAL(result, MPI_IDENT);
    MPI_Comm_rank(a, &mine);
    EQUAL(mine, rank);
    EQUAL(sum_of(a), size * (size - 1) / 2);
    /* messages stay in their communicator */
    int next = (rank + 1) % size, previous = (rank + size - 1) % size, x = 1, y = 2, got;
    MPI_Request r[2];
    MPI_Isend(&x, 1, MPI_INT, next, 7, a, &r[0]);
    MPI_Isend(&y, 1, MPI_INT, next, 7, MPI_COMM_WORLD, &r[1]);
    MPI_Recv(&got, 1, MPI_INT, previous, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EQUAL(got, 2);
    MPI_Recv(&got, 1, MPI_INT, previous, 7, a, MPI_STATUS_IGNORE);
    EQUAL(got, 1);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Request requests[2];
    MPI_Comm_idup(MPI_COMM_WORLD, &b, &requests[0]);
    MPI_Comm_idup(a, &c, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    EQUAL(sum_of(b), size * (size - 1) / 2);
    EQUAL(sum_of(c), size * (size - 1) / 2);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
    MPI_Comm_free(&c);
    CHECK(a == MPI_COMM_NULL && b == MPI_COMM_NULL && c == MPI_COMM_NULL);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &a);
    EQUAL(sum_of(a), size * (size - 1) / 2);
    MPI_Comm_idup_with_info(a, MPI_INFO_NULL, &b, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    EQUAL(sum_of(b), size * (size - 1) / 2);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
}

static void splits(void)
{
    MPI_Comm part;
    int mine, n, result;
    /* by keys in reverse; equal keys keep the old order */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &part);
    MPI_Comm_rank(part, &mine);
    EQUAL(mine, size - 1 - rank);
    MPI_Comm_compare(MPI_COMM_WORLD, part, &result);
    EQUAL(result, size == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
    MPI_Comm_free(&part);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 3 == 2 ? MPI_UNDEFINED : rank % 3, 5, &part);
    if (rank % 3 == 2) {
        CHECK(part == MPI_COMM_NULL);
    } else {
        MPI_Comm_rank(part, &mine);
        MPI_Comm_size(part, &n);
        EQUAL(mine, rank / 3);
        EQUAL(n, (size - rank % 3 + 2) / 3);
        int wanted = 0;
        for (int r = rank % 3; r < size; r += 3) wanted += r;
        EQUAL(sum_of(part), wanted);
        /* the parts split again */
        MPI_Comm single;
        MPI_Comm_split(part, mine, 0, &single);
        MPI_Comm_size(single, &n);
        EQUAL(n, 1);
        MPI_Comm_compare(single, MPI_COMM_SELF, &result);
        EQUAL(result, MPI_CONGRUENT);
        MPI_Comm_free(&single);
        MPI_Comm_free(&part);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &part);
    MPI_Comm_size(part, &n);
    EQUAL(n, size); /* one machine */
    MPI_Comm_free(&part);
    MPI_Comm_split_type(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &part);
    if (rank == 0) {
        CHECK(part == MPI_COMM_NULL);
    } else {
        MPI_Comm_rank(part, &mine);
        EQUAL(mine, size - 1 - rank);
        MPI_Comm_free(&part);
    }
}

static void of_groups(void)
{
    MPI_Group world, evens;
    MPI_Comm comm;
    int n, list[64], k = 0;
    for (int r = size - 1; r >= 0; r--)
        if (r % 2 == 0) list[k++] = r;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, k, list, &evens);
    MPI_Comm_create(MPI_COMM_WORLD, evens, &comm);
    if (rank % 2) {
        CHECK(comm == MPI_COMM_NULL);
    } else {
        int mine;
        MPI_Comm_rank(comm, &mine);
        EQUAL(list[mine], rank);
        MPI_Comm_size(comm, &n);
        EQUAL(n, k);
        sum_of(comm);
        MPI_Comm_free(&comm);
        /* only the members call it */
        MPI_Comm_create_group(MPI_COMM_WORLD, evens, 17, &comm);
        MPI_Comm_rank(comm, &mine);
        EQUAL(list[mine], rank);
        sum_of(comm);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm);
    CHECK(comm == MPI_COMM_NULL);
    /* disjoint groups in one call */
    MPI_Group mine;
    int range[1][3] = {{rank % 2, size - 1, 2}};
    MPI_Group_range_incl(world, 1, range, &mine);
    MPI_Comm_create(MPI_COMM_WORLD, mine, &comm);
    int wanted = 0;
    for (int r = rank % 2; r < size; r += 2) wanted += r;
    EQUAL(sum_of(comm), wanted);
    MPI_Comm_free(&comm);
    /* from a group without a parent (MPI 4.0) */
    MPI_Comm_create_from_group(mine, "org.example.halves", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    EQUAL(sum_of(comm), wanted);
    MPI_Comm_free(&comm);
    MPI_Group_free(&mine);
    MPI_Group_free(&evens);
    MPI_Group_free(&world);
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(!strcmp(name, "MPI_COMM_WORLD") && length == 14);
    MPI_Comm_get_name(MPI_COMM_SELF, name, &length);
    CHECK(!strcmp(name, "MPI_COMM_SELF"));
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_get_name(dup, name, &length);
    CHECK(length == 0 && name[0] == 0);
    MPI_Comm_set_name(dup, "mine");
    MPI_Comm_get_name(dup, name, &length);
    CHECK(!strcmp(name, "mine") && length == 4);
    MPI_Comm_free(&dup);
}

/* A communicator that is freed with messages under way delivers them. */
static void freed_early(void)
{
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    enum { N = 100000 };
    int *in = malloc(N * sizeof(int)), *out = malloc(N * sizeof(int));
    for (int i = 0; i < N; i++) out[i] = i + rank;
    MPI_Request r[2];
    MPI_Irecv(in, N, MPI_INT, (rank + size - 1) % size, 1, dup, &r[0]);
    MPI_Isend(out, N, MPI_INT, (rank + 1) % size, 1, dup, &r[1]);
    MPI_Comm_free(&dup);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) EQUAL(in[i], i + (rank + size - 1) % size);
    free(in);
    free(out);
}

static void thousands(void)
{
    MPI_Comm comm;
    for (int i = 0; i < 3000; i++) {
        if (i % 3) MPI_Comm_dup(MPI_COMM_SELF, &comm);
        else MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_free(&comm);
    }
}

static void tests(void)
{
    int flag;
    MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
    CHECK(!flag);
    MPI_Topo_test(MPI_COMM_WORLD, &flag);
    EQUAL(flag, MPI_UNDEFINED);
}

int main(void)
{
    start();
    duplicates();
    splits();
    of_groups();
    names();
    freed_early();
    tests();
    thousands();
    return finish("communicators");
}
