/* Neighbourhood collectives on Cartesian, graph and distributed-graph communicators, blocking, non-blocking and
 * persistent. */
#include "check.h"

enum { N = 9 };
static MPI_Comm comm;
static int me, ins, outs, *sources, *destinations;

/* What `from` sends along its out-edge `edge`; the receiver's in-edge must be that one. */
static int value(int from, int edge, int i) { return from * 10000 + edge * 100 + i; }

static int *which; /* for each in-edge, the number of the source's out-edge that it is; -1: source is nobody */

static void check_in(const int *in, int all_alike)
{
    for (int k = 0; k < ins; k++)
        for (int i = 0; i < N; i++)
            EQUAL(in[k * N + i], sources[k] == MPI_PROC_NULL ? -1 : value(sources[k], all_alike ? 0 : which[k], i));
}

static void clear(int *in)
{
    for (int i = 0; i < ins * N; i++) in[i] = -1;
}

static void exchange(void)
{
    int *out = malloc((outs * N + N) * sizeof(int)), *in = malloc((ins * N + 1) * sizeof(int));
    int *counts = malloc((ins + outs + 1) * sizeof(int)), *places = malloc((ins + outs + 1) * sizeof(int));
    MPI_Aint *addresses = malloc((ins + outs + 1) * sizeof *addresses);
    MPI_Datatype *types = malloc((ins + outs + 1) * sizeof *types);
    MPI_Request r[5];
    for (int k = 0; k < outs || k == 0; k++)
        for (int i = 0; i < N; i++) out[k * N + i] = value(me, k, i);
    for (int k = 0; k < ins + outs; k++) {
        counts[k] = N;
        places[k] = k * N;
        addresses[k] = k * N * (MPI_Aint)sizeof(int);
        types[k] = MPI_INT;
    }
    clear(in);
    MPI_Neighbor_allgather(out, N, MPI_INT, in, N, MPI_INT, comm);
    check_in(in, 1);
    clear(in);
    MPI_Neighbor_allgatherv(out, N, MPI_INT, in, counts, places, MPI_INT, comm);
    check_in(in, 1);
    clear(in);
    MPI_Neighbor_alltoall(out, N, MPI_INT, in, N, MPI_INT, comm);
    check_in(in, 0);
    clear(in);
    MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm);
    check_in(in, 0);
    clear(in);
    MPI_Neighbor_alltoallw(out, counts, addresses, types, in, counts, addresses, types, comm);
    check_in(in, 0);
    int *many[5];
    for (int j = 0; j < 5; j++) {
        many[j] = malloc((ins * N + 1) * sizeof(int));
        clear(many[j]);
    }
    MPI_Ineighbor_allgather(out, N, MPI_INT, many[0], N, MPI_INT, comm, &r[0]);
    MPI_Ineighbor_allgatherv(out, N, MPI_INT, many[1], counts, places, MPI_INT, comm, &r[1]);
    MPI_Ineighbor_alltoall(out, N, MPI_INT, many[2], N, MPI_INT, comm, &r[2]);
    MPI_Ineighbor_alltoallv(out, counts, places, MPI_INT, many[3], counts, places, MPI_INT, comm, &r[3]);
    MPI_Ineighbor_alltoallw(out, counts, addresses, types, many[4], counts, addresses, types, comm, &r[4]);
    MPI_Waitall(5, r, MPI_STATUSES_IGNORE);
    for (int j = 0; j < 5; j++) {
        check_in(many[j], j < 2);
        clear(many[j]);
    }
    MPI_Neighbor_allgather_init(out, N, MPI_INT, many[0], N, MPI_INT, comm, MPI_INFO_NULL, &r[0]);
    MPI_Neighbor_allgatherv_init(out, N, MPI_INT, many[1], counts, places, MPI_INT, comm, MPI_INFO_NULL, &r[1]);
    MPI_Neighbor_alltoall_init(out, N, MPI_INT, many[2], N, MPI_INT, comm, MPI_INFO_NULL, &r[2]);
    MPI_Neighbor_alltoallv_init(out, counts, places, MPI_INT, many[3], counts, places, MPI_INT, comm, MPI_INFO_NULL,
                                &r[3]);
    MPI_Neighbor_alltoallw_init(out, counts, addresses, types, many[4], counts, addresses, types, comm, MPI_INFO_NULL,
                                &r[4]);
    for (int round = 0; round < 2; round++) {
        MPI_Startall(5, r);
        MPI_Waitall(5, r, MPI_STATUSES_IGNORE);
        for (int j = 0; j < 5; j++) {
            check_in(many[j], j < 2);
            clear(many[j]);
        }
    }
    for (int j = 0; j < 5; j++) {
        MPI_Request_free(&r[j]);
        free(many[j]);
    }
    free(out);
    free(in);
    free(counts);
    free(places);
    free(addresses);
    free(types);
}

/* In dimension d, neighbour 2d is at -1 and 2d + 1 at +1: what comes from -1 left there through +1. */
static void cartesian(int dims, int periodic)
{
    int shape[3] = {0}, periods[3] = {periodic, periodic, periodic};
    MPI_Dims_create(size, dims, shape);
    MPI_Cart_create(MPI_COMM_WORLD, dims, shape, periods, 0, &comm);
    MPI_Comm_rank(comm, &me);
    ins = outs = 2 * dims;
    int s[6], w[6];
    for (int d = 0; d < dims; d++) {
        MPI_Cart_shift(comm, d, 1, &s[2 * d], &s[2 * d + 1]);
        w[2 * d] = 2 * d + 1;
        w[2 * d + 1] = 2 * d;
    }
    sources = destinations = s;
    which = w;
    exchange();
    MPI_Comm_free(&comm);
}

/* Everybody's neighbours are the two beside it in a line. */
static void line_graph(void)
{
    int *index = malloc(size * sizeof(int)), *edges = malloc(2 * size * sizeof(int)), total = 0;
    for (int r = 0; r < size; r++) {
        if (r > 0) edges[total++] = r - 1;
        if (r + 1 < size) edges[total++] = r + 1;
        index[r] = total;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
    MPI_Comm_rank(comm, &me);
    int s[2], w[2];
    MPI_Graph_neighbors_count(comm, me, &ins);
    MPI_Graph_neighbors(comm, me, 2, s);
    outs = ins;
    for (int k = 0; k < ins; k++) w[k] = s[k] < me && s[k] > 0 ? 1 : 0;
    sources = s;
    which = w;
    exchange();
    MPI_Comm_free(&comm);
    free(index);
    free(edges);
}

/* A directed graph: rank r sends to r + 1 and r + 2, and rank 0 to itself too. */
static void directed(void)
{
    int s[3], d[3], w[3];
    ins = outs = 0;
    if (rank == 0) d[outs++] = 0;
    d[outs++] = (rank + 1) % size;
    d[outs++] = (rank + 2) % size;
    int before = (rank + size - 1) % size, second = (rank + 2 * size - 2) % size;
    if (rank == 0) {
        s[ins] = 0;
        w[ins++] = 0;
    }
    s[ins] = before;
    w[ins++] = before == 0;
    s[ins] = second;
    w[ins++] = 1 + (second == 0);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, s, MPI_UNWEIGHTED, outs, d, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &comm);
    MPI_Comm_rank(comm, &me);
    sources = s;
    which = w;
    /* with few ranks several edges join the same two: they are matched in order */
    exchange();
    MPI_Comm_free(&comm);
}

int main(void)
{
    start();
    cartesian(1, 0);
    cartesian(2, 0);
    cartesian(3, 0);
    cartesian(1, 1);
    cartesian(2, 1);
    cartesian(3, 1);
    line_graph();
    directed();
    return finish("neighbourhood");
}
