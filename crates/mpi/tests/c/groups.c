/* Groups: made, combined, translated, compared. */
#include "check.h"

static MPI_Group world;

static int members(MPI_Group group, int *list)
{
    int n, every[64], k;
    MPI_Group_size(group, &n);
    for (k = 0; k < n; k++) every[k] = k;
    MPI_Group_translate_ranks(group, n, every, world, list);
    return n;
}

static void is(MPI_Group *group, int n, const int *wanted)
{
    int list[64];
    EQUAL(members(*group, list), n);
    for (int k = 0; k < n; k++) EQUAL(list[k], wanted[k]);
    MPI_Group_free(group);
    CHECK(*group == MPI_GROUP_NULL);
}

int main(void)
{
    start();
    MPI_Group a, b, c;
    int n, r, result, list[64];
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(world, &n);
    EQUAL(n, size);
    MPI_Group_rank(world, &r);
    EQUAL(r, rank);
    MPI_Group_size(MPI_GROUP_EMPTY, &n);
    EQUAL(n, 0);
    MPI_Group_rank(MPI_GROUP_EMPTY, &r);
    EQUAL(r, MPI_UNDEFINED);

    /* incl and excl */
    int evens[64], ne = 0, odds[64], no = 0, reversed[64];
    for (int i = 0; i < size; i++) {
        if (i % 2) odds[no++] = i;
        else evens[ne++] = i;
        reversed[i] = size - 1 - i;
    }
    MPI_Group_incl(world, ne, evens, &a);
    is(&a, ne, evens);
    MPI_Group_excl(world, ne, evens, &a);
    is(&a, no, odds);
    MPI_Group_incl(world, size, reversed, &a);
    MPI_Group_compare(world, a, &result);
    EQUAL(result, size == 1 ? MPI_IDENT : MPI_SIMILAR);
    is(&a, size, reversed);
    MPI_Group_incl(world, 0, NULL, &a);
    MPI_Group_compare(a, MPI_GROUP_EMPTY, &result);
    EQUAL(result, MPI_IDENT);

    /* ranges, also downwards */
    int ranges[2][3] = {{0, size - 1, 2}, {0, 0, 0}};
    MPI_Group_range_incl(world, 1, ranges, &a);
    is(&a, ne, evens);
    MPI_Group_range_excl(world, 1, ranges, &a);
    is(&a, no, odds);
    ranges[0][0] = size - 1, ranges[0][1] = 0, ranges[0][2] = -1;
    MPI_Group_range_incl(world, 1, ranges, &a);
    is(&a, size, reversed);

    /* union: the first's, then the second's that are not in it; intersection and difference in the first's order */
    MPI_Group_incl(world, size, reversed, &a);
    MPI_Group_incl(world, ne, evens, &b);
    MPI_Group_union(a, b, &c);
    is(&c, size, reversed);
    MPI_Group_union(b, a, &c);
    int wanted[64] = {0}, k = 0;
    for (int i = 0; i < ne; i++) wanted[k++] = evens[i];
    for (int i = size - 1; i >= 0; i--)
        if (i % 2) wanted[k++] = i;
    is(&c, size, wanted);
    MPI_Group_intersection(a, b, &c);
    for (int i = 0; i < ne; i++) wanted[i] = evens[ne - 1 - i];
    is(&c, ne, wanted);
    MPI_Group_intersection(b, a, &c);
    is(&c, ne, evens);
    MPI_Group_difference(a, b, &c);
    for (int i = 0; i < no; i++) wanted[i] = odds[no - 1 - i];
    is(&c, no, wanted);
    MPI_Group_difference(b, a, &c);
    MPI_Group_size(c, &n);
    EQUAL(n, 0);
    MPI_Group_compare(a, b, &result);
    EQUAL(result, size == 1 ? MPI_IDENT : MPI_UNEQUAL);
    MPI_Group_compare(a, a, &result);
    EQUAL(result, MPI_IDENT);

    /* translation: absent ranks are undefined, nobody stays nobody */
    int from[3] = {0, size - 1, MPI_PROC_NULL}, to[3];
    MPI_Group_translate_ranks(world, 3, from, b, to);
    EQUAL(to[0], 0);
    EQUAL(to[1], (size - 1) % 2 ? MPI_UNDEFINED : (size - 1) / 2);
    EQUAL(to[2], MPI_PROC_NULL);
    MPI_Group_translate_ranks(b, 0, NULL, a, NULL);
    MPI_Group_rank(b, &r);
    EQUAL(r, rank % 2 ? MPI_UNDEFINED : rank / 2);
    MPI_Group_rank(a, &r);
    EQUAL(r, size - 1 - rank);
    EQUAL(members(a, list), size);
    MPI_Group_free(&a);
    MPI_Group_free(&b);

    /* a group outlives its communicator */
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_group(dup, &a);
    MPI_Comm_free(&dup);
    MPI_Group_compare(a, world, &result);
    EQUAL(result, MPI_IDENT);
    MPI_Group_free(&a);
    MPI_Group_free(&world);
    return finish("groups");
}
