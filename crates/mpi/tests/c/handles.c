/* Handles as integers and back, for predefined objects and made ones; they work after the trip. */
#include "check.h"

#define ROUND(prefix, handle) CHECK(prefix##_fromint(prefix##_toint(handle)) == (handle))

int main(void)
{
    start();
    ROUND(MPI_Comm, MPI_COMM_WORLD);
    ROUND(MPI_Comm, MPI_COMM_SELF);
    ROUND(MPI_Comm, MPI_COMM_NULL);
    ROUND(MPI_Group, MPI_GROUP_EMPTY);
    ROUND(MPI_Group, MPI_GROUP_NULL);
    ROUND(MPI_Type, MPI_INT);
    ROUND(MPI_Type, MPI_LONG_DOUBLE_INT);
    ROUND(MPI_Type, MPI_DATATYPE_NULL);
    ROUND(MPI_Op, MPI_SUM);
    ROUND(MPI_Op, MPI_OP_NULL);
    ROUND(MPI_Errhandler, MPI_ERRORS_RETURN);
    ROUND(MPI_Info, MPI_INFO_NULL);
    ROUND(MPI_Info, MPI_INFO_ENV);
    ROUND(MPI_Request, MPI_REQUEST_NULL);
    ROUND(MPI_Message, MPI_MESSAGE_NULL);
    ROUND(MPI_Message, MPI_MESSAGE_NO_PROC);
    /* predefined handles are their constants (MPI 5.0, 20.3) */
    EQUAL(MPI_Comm_toint(MPI_COMM_WORLD), 0x101);
    EQUAL(MPI_Comm_toint(MPI_COMM_SELF), 0x102);
    EQUAL(MPI_Type_toint(MPI_INT), 0x209);
    EQUAL(MPI_Op_toint(MPI_SUM), 0x21);
    /* made ones */
    enum { N = 300 };
    MPI_Comm comm;
    MPI_Datatype types[N], odd;
    MPI_Info info;
    MPI_Group group;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int numbers[N], bytes, n, value = -1;
    for (int i = 0; i < N; i++) {
        MPI_Type_contiguous(i + 1, MPI_INT, &types[i]);
        numbers[i] = MPI_Type_toint(types[i]);
        for (int k = 0; k < i; k += 17) CHECK(numbers[i] != numbers[k]);
    }
    for (int i = 0; i < N; i++) {
        odd = MPI_Type_fromint(numbers[i]);
        CHECK(odd == types[i]);
        MPI_Type_size(odd, &bytes);
        EQUAL(bytes, 4 * (i + 1));
        MPI_Type_free(&odd);
    }
    MPI_Comm again = MPI_Comm_fromint(MPI_Comm_toint(comm));
    MPI_Comm_size(again, &n);
    EQUAL(n, size);
    MPI_Comm_group(comm, &group);
    MPI_Group_size(MPI_Group_fromint(MPI_Group_toint(group)), &n);
    EQUAL(n, size);
    MPI_Group_free(&group);
    MPI_Info_create(&info);
    MPI_Info_set(MPI_Info_fromint(MPI_Info_toint(info)), "a", "b");
    MPI_Info_get_nkeys(info, &n);
    EQUAL(n, 1);
    MPI_Info_free(&info);
    MPI_Irecv(&value, 1, MPI_INT, (rank + size - 1) % size, 1, comm, &request);
    MPI_Request other = MPI_Request_fromint(MPI_Request_toint(request));
    CHECK(other == request);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 1, comm);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    EQUAL(value, (rank + size - 1) % size);
    MPI_Comm_free(&comm);
    return finish("handles");
}
