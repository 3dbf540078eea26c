/* Wrong arguments by the dozen: each is refused with an error, and the library goes on. */
#include <limits.h>
#include "check.h"

#define REFUSED(call) CHECK((call) != MPI_SUCCESS)

static void communicators(void)
{
    MPI_Comm comm, world = MPI_COMM_WORLD, inter;
    MPI_Group group;
    int value = 0;
    FAILS(MPI_Comm_free(&world), MPI_ERR_COMM);
    CHECK(world == MPI_COMM_WORLD);
    REFUSED(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &comm));
    REFUSED(MPI_Comm_dup(MPI_COMM_WORLD, NULL));
    FAILS(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &comm), MPI_ERR_GROUP);
    FAILS(MPI_Comm_remote_size(MPI_COMM_WORLD, &value), MPI_ERR_COMM);
    FAILS(MPI_Comm_remote_group(MPI_COMM_WORLD, &group), MPI_ERR_COMM);
    FAILS(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &inter), MPI_ERR_COMM);
    REFUSED(MPI_Comm_split_type(MPI_COMM_WORLD, 12345, 0, MPI_INFO_NULL, &comm));
    FAILS(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
}

static void groups(void)
{
    MPI_Group world, made;
    int ranks[3] = {0, size, 0}, out[3], range[1][3] = {{0, size, 1}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    FAILS(MPI_Group_incl(world, 2, ranks, &made), MPI_ERR_RANK);
    FAILS(MPI_Group_excl(world, 2, ranks, &made), MPI_ERR_RANK);
    REFUSED(MPI_Group_incl(world, -1, ranks, &made));
    FAILS(MPI_Group_translate_ranks(world, 2, ranks, world, out), MPI_ERR_RANK);
    FAILS(MPI_Group_range_incl(world, 1, range, &made), MPI_ERR_RANK);
    range[0][1] = 0, range[0][2] = 0;
    REFUSED(MPI_Group_range_incl(world, 1, range, &made)); /* a stride of 0 */
    FAILS(MPI_Group_union(world, MPI_GROUP_NULL, &made), MPI_ERR_GROUP);
    MPI_Group_free(&world);
    FAILS(MPI_Group_free(&world), MPI_ERR_GROUP);
}

static void datatypes(void)
{
    MPI_Datatype t = MPI_DATATYPE_NULL, null = MPI_DATATYPE_NULL;
    int ones[2] = {1, 1}, negative[2] = {1, -1}, zeros[2] = {0, 0}, n, sizes[2] = {4, 4}, parts[2] = {2, 3},
        starts[2] = {3, 0};
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype types[2] = {MPI_INT, MPI_DATATYPE_NULL};
    REFUSED(MPI_Type_contiguous(-1, MPI_INT, &t));
    FAILS(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
    REFUSED(MPI_Type_vector(2, -1, 3, MPI_INT, &t));
    REFUSED(MPI_Type_indexed(2, negative, zeros, MPI_INT, &t));
    REFUSED(MPI_Type_create_indexed_block(2, -1, zeros, MPI_INT, &t));
    FAILS(MPI_Type_create_struct(2, ones, places, types, &t), MPI_ERR_TYPE);
    REFUSED(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &t)); /* 3 + 2 > 4 */
    starts[0] = 0;
    REFUSED(MPI_Type_create_subarray(2, sizes, parts, starts, 99, MPI_INT, &t));
    FAILS(MPI_Type_commit(&null), MPI_ERR_TYPE);
    FAILS(MPI_Type_free(&null), MPI_ERR_TYPE);
    REFUSED(MPI_Type_get_contents(MPI_INT, 0, 0, 0, &n, places, types)); /* a named type has none */
    MPI_Type_vector(2, 1, 3, MPI_INT, &t);
    REFUSED(MPI_Type_get_contents(t, 1, 0, 1, &n, places, types)); /* too little room */
    MPI_Type_free(&t);
    REFUSED(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &t));
    REFUSED(MPI_Pack_external_size("internal", 1, MPI_INT, places));
}

static void packing(void)
{
    int value = 1, position = 0;
    char room[4];
    REFUSED(MPI_Pack(&value, 2, MPI_INT, room, 4, &position, MPI_COMM_WORLD));
    MPI_Pack(&value, 1, MPI_INT, room, 4, &position, MPI_COMM_WORLD);
    EQUAL(position, 4);
    REFUSED(MPI_Pack(&value, 1, MPI_INT, room, 4, &position, MPI_COMM_WORLD));
    position = 2;
    REFUSED(MPI_Unpack(room, 4, &position, &value, 1, MPI_INT, MPI_COMM_WORLD));
}

static void collectives(void)
{
    int a = 1, b = 2, counts[64], places[64] = {0};
    for (int i = 0; i < 64; i++) counts[i] = -1;
    FAILS(MPI_Bcast(&a, -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    FAILS(MPI_Bcast(&a, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    FAILS(MPI_Reduce(&a, &b, 1, MPI_INT, MPI_SUM, size, MPI_COMM_WORLD), MPI_ERR_ROOT);
    /* A small type, of which any number of elements could be so many bytes. */
    FAILS(MPI_Reduce(&a, &b, -1, MPI_INT8_T, MPI_SUM, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    FAILS(MPI_Allreduce(&a, &b, -1, MPI_INT8_T, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT);
    FAILS(MPI_Allreduce(&a, &b, 1, MPI_FLOAT, MPI_BOR, MPI_COMM_WORLD), MPI_ERR_OP);
    FAILS(MPI_Allreduce(&a, &b, 1, MPI_DOUBLE_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP);
    FAILS(MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_MAXLOC, MPI_COMM_WORLD), MPI_ERR_OP);
    FAILS(MPI_Allreduce(&a, &b, 1, MPI_C_DOUBLE_COMPLEX, MPI_MAX, MPI_COMM_WORLD), MPI_ERR_OP);
    /* aliased: MPI_IN_PLACE is meant */
    FAILS(MPI_Allreduce(&a, &a, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    FAILS(MPI_Allgatherv(&a, 1, MPI_INT, &b, counts, places, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT);
    FAILS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    MPI_Request request;
    FAILS(MPI_Ibcast(&a, 1, MPI_INT, -3, MPI_COMM_WORLD, &request), MPI_ERR_ROOT);
    FAILS(MPI_Gather(&a, 1, MPI_INT, &b, 1, MPI_INT, size + 3, MPI_COMM_WORLD), MPI_ERR_ROOT);
}

static void requests(void)
{
    MPI_Request r, null = MPI_REQUEST_NULL, list[2];
    int value = 0, flag;
    FAILS(MPI_Request_free(&null), MPI_ERR_REQUEST);
    FAILS(MPI_Cancel(&null), MPI_ERR_REQUEST);
    MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r);
    FAILS(MPI_Start(&r), MPI_ERR_REQUEST); /* not a persistent one */
    FAILS(MPI_Grequest_complete(r), MPI_ERR_REQUEST);
    MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Request copy = r;
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    FAILS(MPI_Wait(&copy, MPI_STATUS_IGNORE), MPI_ERR_REQUEST); /* completed already */
    FAILS(MPI_Test(&copy, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    list[0] = MPI_REQUEST_NULL, list[1] = copy;
    REFUSED(MPI_Waitall(2, list, MPI_STATUSES_IGNORE));
    REFUSED(MPI_Waitall(-1, list, MPI_STATUSES_IGNORE));
    MPI_Recv_init(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r);
    MPI_Start(&r);
    FAILS(MPI_Start(&r), MPI_ERR_REQUEST); /* active already */
    MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
    MPI_Message message = MPI_MESSAGE_NULL;
    REFUSED(MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
}

static void attributes(void)
{
    int key = MPI_KEYVAL_INVALID, flag, value, tag_ub = MPI_TAG_UB, *got;
    REFUSED(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value));
    REFUSED(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &got, &flag));
    REFUSED(MPI_Comm_free_keyval(&key));
    REFUSED(MPI_Comm_free_keyval(&tag_ub));
    REFUSED(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value));
    REFUSED(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB));
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    REFUSED(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value)); /* a datatype's key */
    MPI_Type_free_keyval(&key);
}

static void topologies(void)
{
    MPI_Comm cart, graph;
    int dims[2] = {size + 1, 1}, periods[2] = {0, 0}, r, at[2] = {-1, 0}, fixed[2] = {size + 1, 0}, below[1] = {-1};
    int index[1] = {1}, edges[1] = {5};
    REFUSED(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart)); /* more places than ranks */
    dims[0] = -2;
    REFUSED(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart));
    REFUSED(MPI_Dims_create(size, 2, fixed)); /* size + 1 does not divide size */
    REFUSED(MPI_Dims_create(size, 1, below));
    REFUSED(MPI_Graph_create(MPI_COMM_WORLD, 1, index, edges, 0, &graph)); /* an edge to node 5 of 1 */
    dims[0] = size, dims[1] = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    MPI_Comm_set_errhandler(cart, MPI_ERRORS_RETURN);
    REFUSED(MPI_Cart_rank(cart, at, &r)); /* beyond an edge that does not wrap */
    REFUSED(MPI_Cart_shift(cart, 2, 1, &r, &r));
    REFUSED(MPI_Cart_coords(cart, size, 2, at));
    FAILS(MPI_Graphdims_get(cart, &r, &r), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Dist_graph_neighbors_count(cart, &r, &r, &r), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &r, &r), MPI_ERR_TOPOLOGY);
    int word = 1, room[4];
    FAILS(MPI_Neighbor_allgather(&word, 1, MPI_INT, room, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY);
    MPI_Comm_free(&cart);
}

static void operations(void)
{
    MPI_Op op = MPI_OP_NULL, sum = MPI_SUM;
    int flag, a = 1, b = 2;
    FAILS(MPI_Op_free(&op), MPI_ERR_OP);
    FAILS(MPI_Op_free(&sum), MPI_ERR_OP);
    FAILS(MPI_Op_commutative(MPI_OP_NULL, &flag), MPI_ERR_OP);
    FAILS(MPI_Reduce_local(&a, &b, 1, MPI_INT, MPI_OP_NULL), MPI_ERR_OP);
    EQUAL(b, 2);
}

int main(void)
{
    start();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    communicators();
    groups();
    datatypes();
    packing();
    collectives();
    requests();
    attributes();
    topologies();
    operations();
    int sum;
    EQUAL(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    EQUAL(sum, size * (size - 1) / 2);
    return finish("wrong_arguments");
}
