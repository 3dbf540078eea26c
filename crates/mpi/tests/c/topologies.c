/* Cartesian, graph and distributed-graph topologies: made, asked, shifted, cut; with reorder too. */
#include "check.h"

static void dims(void)
{
    static const int cases[][5] = {/* ranks, dimensions, wanted */ {6, 2, 3, 2, 0}, {7, 2, 7, 1, 0}, {12, 3, 3, 2, 2},
                                   {16, 2, 4, 4, 0}, {1, 3, 1, 1, 1}, {64, 3, 4, 4, 4}, {60, 3, 5, 4, 3}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int shape[3] = {0};
        MPI_Dims_create(cases[k][0], cases[k][1], shape);
        for (int d = 0; d < cases[k][1]; d++) EQUAL(shape[d], cases[k][2 + d]);
    }
    int fixed[3] = {0, 3, 0};
    MPI_Dims_create(24, 3, fixed);
    CHECK(fixed[0] == 4 && fixed[1] == 3 && fixed[2] == 2);
    int whole[2] = {2, 3};
    MPI_Dims_create(6, 2, whole);
    CHECK(whole[0] == 2 && whole[1] == 3);
}

/* Dimensions that are given stay; what is left is split over the others as if they were alone. */
static void dims_beside_given_ones(void)
{
    for (int ranks = 1; ranks <= 240; ranks++)
        for (int given = 1; given <= ranks; given++)
            for (int place = 0; ranks % given == 0 && place < 4; place++) {
                int shape[4] = {0}, others[3] = {0};
                shape[place] = given;
                EQUAL(MPI_Dims_create(ranks, 4, shape), MPI_SUCCESS);
                MPI_Dims_create(ranks / given, 3, others);
                EQUAL(shape[place], given);
                EQUAL(others[0] * others[1] * others[2], ranks / given);
                CHECK(others[0] >= others[1] && others[1] >= others[2]);
                for (int d = 0, other = 0; d < 4; d++)
                    if (d != place) EQUAL(shape[d], others[other++]);
            }
}

static void cartesian(int reorder)
{
    int shape[2] = {0, 0}, periods[2] = {1, 0}, got[2], which[2], here[2], kind, me, n, to, from;
    MPI_Comm cart, row, dup;
    MPI_Dims_create(size, 2, shape);
    MPI_Cart_create(MPI_COMM_WORLD, 2, shape, periods, reorder, &cart);
    MPI_Topo_test(cart, &kind);
    EQUAL(kind, MPI_CART);
    MPI_Cartdim_get(cart, &n);
    EQUAL(n, 2);
    MPI_Comm_rank(cart, &me);
    if (!reorder) EQUAL(me, rank);
    MPI_Cart_get(cart, 2, got, which, here);
    CHECK(got[0] == shape[0] && got[1] == shape[1] && which[0] == 1 && which[1] == 0);
    EQUAL(me, here[0] * shape[1] + here[1]);
    for (int r = 0; r < size; r++) {
        int at[2], back;
        MPI_Cart_coords(cart, r, 2, at);
        EQUAL(at[0], r / shape[1]);
        EQUAL(at[1], r % shape[1]);
        MPI_Cart_rank(cart, at, &back);
        EQUAL(back, r);
    }
    /* a periodic coordinate wraps */
    int beyond[2] = {here[0] - 3 * shape[0] - 1, here[1]};
    MPI_Cart_rank(cart, beyond, &n);
    EQUAL(n, (here[0] + shape[0] - 1) % shape[0] * shape[1] + here[1]);
    MPI_Cart_shift(cart, 0, 1, &from, &to);
    EQUAL(to, (here[0] + 1) % shape[0] * shape[1] + here[1]);
    EQUAL(from, (here[0] + shape[0] - 1) % shape[0] * shape[1] + here[1]);
    MPI_Cart_shift(cart, 1, 1, &from, &to);
    EQUAL(to, here[1] + 1 < shape[1] ? me + 1 : MPI_PROC_NULL);
    EQUAL(from, here[1] > 0 ? me - 1 : MPI_PROC_NULL);
    MPI_Cart_shift(cart, 1, -2, &from, &to);
    EQUAL(to, here[1] - 2 >= 0 ? me - 2 : MPI_PROC_NULL);
    EQUAL(from, here[1] + 2 < shape[1] ? me + 2 : MPI_PROC_NULL);
    /* what is received comes from who says that it is the neighbour */
    int value = me, got_value = -1;
    MPI_Cart_shift(cart, 0, 1, &from, &to);
    MPI_Sendrecv(&value, 1, MPI_INT, to, 1, &got_value, 1, MPI_INT, from, 1, cart, MPI_STATUS_IGNORE);
    EQUAL(got_value, from);
    /* rows */
    int keep[2] = {0, 1};
    MPI_Cart_sub(cart, keep, &row);
    MPI_Comm_size(row, &n);
    EQUAL(n, shape[1]);
    MPI_Comm_rank(row, &n);
    EQUAL(n, here[1]);
    MPI_Cartdim_get(row, &n);
    EQUAL(n, 1);
    int total, wanted = 0;
    MPI_Allreduce(&me, &total, 1, MPI_INT, MPI_SUM, row);
    for (int c = 0; c < shape[1]; c++) wanted += here[0] * shape[1] + c;
    EQUAL(total, wanted);
    MPI_Comm_free(&row);
    int none[2] = {0, 0};
    MPI_Cart_sub(cart, none, &row);
    MPI_Comm_size(row, &n);
    EQUAL(n, 1);
    MPI_Cartdim_get(row, &n);
    EQUAL(n, 0);
    MPI_Comm_free(&row);
    /* a copy has the topology */
    MPI_Comm_dup(cart, &dup);
    MPI_Topo_test(dup, &kind);
    EQUAL(kind, MPI_CART);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&cart);
}

static void partial(void)
{
    /* fewer places than ranks: the others get no communicator; no dimensions: one rank */
    int one[1] = {size > 1 ? size - 1 : 1}, zero[1] = {0}, n;
    MPI_Comm cart;
    MPI_Cart_create(MPI_COMM_WORLD, 1, one, zero, 0, &cart);
    if (rank < one[0]) {
        MPI_Comm_size(cart, &n);
        EQUAL(n, one[0]);
        MPI_Comm_free(&cart);
    } else {
        CHECK(cart == MPI_COMM_NULL);
    }
    MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &cart);
    if (rank == 0) {
        MPI_Cartdim_get(cart, &n);
        EQUAL(n, 0);
        MPI_Cart_rank(cart, NULL, &n);
        EQUAL(n, 0);
        MPI_Comm_free(&cart);
    } else {
        CHECK(cart == MPI_COMM_NULL);
    }
    int shape[1] = {size}, place;
    MPI_Cart_map(MPI_COMM_WORLD, 1, shape, zero, &place);
    CHECK(place >= 0 && place < size);
}

/* A star: everybody knows rank 0. */
static void graph(int reorder)
{
    int *index = malloc(size * sizeof(int)), *edges = malloc(2 * size * sizeof(int)), n = 0, kind, nodes, count,
        list[64], me;
    for (int r = 1; r < size; r++) edges[n++] = r;
    index[0] = n;
    for (int r = 1; r < size; r++) {
        edges[n++] = 0;
        index[r] = n;
    }
    MPI_Comm star;
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, reorder, &star);
    MPI_Topo_test(star, &kind);
    EQUAL(kind, MPI_GRAPH);
    MPI_Graphdims_get(star, &nodes, &count);
    EQUAL(nodes, size);
    EQUAL(count, n);
    int *index2 = malloc(size * sizeof(int)), *edges2 = malloc(2 * size * sizeof(int));
    MPI_Graph_get(star, size, n, index2, edges2);
    CHECK(!memcmp(index, index2, size * sizeof(int)) && !memcmp(edges, edges2, n * sizeof(int)));
    MPI_Comm_rank(star, &me);
    MPI_Graph_neighbors_count(star, me, &count);
    EQUAL(count, me ? 1 : size - 1);
    MPI_Graph_neighbors(star, me, count, list);
    for (int k = 0; k < count; k++) EQUAL(list[k], me ? 0 : k + 1);
    int place;
    MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &place);
    CHECK(place >= 0 && place < size);
    MPI_Comm_free(&star);
    free(index);
    free(edges);
    free(index2);
    free(edges2);
}

static void directed(int reorder)
{
    MPI_Comm ring;
    int kind, in, out, weighted, me, s[4], sw[4], d[4], dw[4];
    int source = (rank + size - 1) % size, destination = (rank + 1) % size, weight_in = source + 10,
        weight_out = rank + 10;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &source, &weight_in, 1, &destination, &weight_out, MPI_INFO_NULL,
                                   reorder, &ring);
    MPI_Topo_test(ring, &kind);
    EQUAL(kind, MPI_DIST_GRAPH);
    MPI_Dist_graph_neighbors_count(ring, &in, &out, &weighted);
    CHECK(in == 1 && out == 1 && weighted);
    MPI_Comm_rank(ring, &me);
    MPI_Dist_graph_neighbors(ring, 1, s, sw, 1, d, dw);
    EQUAL(s[0], (me + size - 1) % size);
    EQUAL(d[0], (me + 1) % size);
    EQUAL(sw[0], s[0] + 10);
    EQUAL(dw[0], me + 10);
    MPI_Comm_free(&ring);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &source, MPI_UNWEIGHTED, 1, &destination, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, reorder, &ring);
    MPI_Dist_graph_neighbors_count(ring, &in, &out, &weighted);
    CHECK(in == 1 && out == 1 && !weighted);
    MPI_Comm_free(&ring);
    /* rank 0 tells of all edges: r -> 0 for r > 0 and 0 -> 0 */
    int *sources = malloc(size * sizeof(int)), *degrees = malloc(size * sizeof(int)),
        *targets = malloc(size * sizeof(int)), *weights = malloc(size * sizeof(int));
    for (int r = 0; r < size; r++) sources[r] = r, degrees[r] = 1, targets[r] = 0, weights[r] = 3 * r;
    MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? size : 0, sources, degrees, targets, weights, MPI_INFO_NULL,
                          reorder, &ring);
    MPI_Comm_rank(ring, &me);
    MPI_Dist_graph_neighbors_count(ring, &in, &out, &weighted);
    CHECK(weighted);
    EQUAL(in, me == 0 ? size : 0);
    EQUAL(out, 1);
    int *all = malloc(size * sizeof(int)), *all_weights = malloc(size * sizeof(int));
    MPI_Dist_graph_neighbors(ring, in, all, all_weights, out, d, dw);
    EQUAL(d[0], 0);
    EQUAL(dw[0], 3 * me);
    int seen = 0;
    for (int k = 0; k < in; k++) {
        EQUAL(all_weights[k], 3 * all[k]);
        seen += all[k];
    }
    EQUAL(seen, me == 0 ? size * (size - 1) / 2 : 0);
    MPI_Comm_free(&ring);
    free(sources);
    free(degrees);
    free(targets);
    free(weights);
    free(all);
    free(all_weights);
    /* nobody knows anybody */
    MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, reorder, &ring);
    MPI_Dist_graph_neighbors_count(ring, &in, &out, &weighted);
    CHECK(in == 0 && out == 0);
    MPI_Comm_free(&ring);
}

int main(void)
{
    start();
    dims();
    if (rank == 0) dims_beside_given_ones();
    for (int reorder = 0; reorder < 2; reorder++) {
        cartesian(reorder);
        graph(reorder);
        directed(reorder);
    }
    partial();
    return finish("topologies");
}
