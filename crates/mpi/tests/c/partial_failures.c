/* Errors in some of several completions: statuses tell which; the others are whole; the library goes on. */
#include "check.h"

static int next, previous;

/* Three receives, of which the middle one is too short. */
static void begin(int in[3][4], MPI_Request r[3], MPI_Request sends[3])
{
    static const int out[4] = {1, 2, 3, 4};
    for (int i = 0; i < 3; i++) {
        memset(in[i], 0, 16);
        MPI_Irecv(in[i], i == 1 ? 2 : 4, MPI_INT, previous, i, MPI_COMM_WORLD, &r[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) MPI_Isend(out, 4, MPI_INT, next, i, MPI_COMM_WORLD, &sends[i]);
    MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
}

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS && code != MPI_ERR_PENDING) MPI_Error_class(code, &class);
    return code == MPI_ERR_PENDING ? MPI_ERR_PENDING : class;
}

static void whole(int in[3][4])
{
    CHECK(in[0][3] == 4 && in[2][0] == 1 && in[2][3] == 4);
    CHECK(in[1][2] == 0 && in[1][3] == 0); /* nothing beyond the short buffer */
}

int main(void)
{
    start();
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int in[3][4], flag, index, count, indices[3], failed;
    MPI_Request r[3], sends[3];
    MPI_Status statuses[3];

    begin(in, r, sends);
    EQUAL(class_of(MPI_Wait(&r[0], MPI_STATUS_IGNORE)), MPI_SUCCESS);
    EQUAL(class_of(MPI_Wait(&r[1], &statuses[1])), MPI_ERR_TRUNCATE);
    CHECK(r[1] == MPI_REQUEST_NULL);
    EQUAL(statuses[1].MPI_SOURCE, previous);
    EQUAL(statuses[1].MPI_TAG, 1);
    EQUAL(class_of(MPI_Wait(&r[2], MPI_STATUS_IGNORE)), MPI_SUCCESS);
    whole(in);

    /* all that came is known before the program asks, or not */
    for (int known = 0; known < 2; known++) {
        begin(in, r, sends);
        for (int i = 0; known && i < 3; i++)
            for (flag = 0; !flag;) MPI_Request_get_status(r[i], &flag, MPI_STATUS_IGNORE);
        EQUAL(class_of(MPI_Waitall(3, r, statuses)), MPI_ERR_IN_STATUS);
        for (int i = 0; i < 3; i++) {
            if (statuses[i].MPI_ERROR == MPI_ERR_PENDING) MPI_Wait(&r[i], MPI_STATUS_IGNORE);
            else EQUAL(class_of(statuses[i].MPI_ERROR), i == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        }
        whole(in);
    }

    begin(in, r, sends);
    failed = 0;
    for (int left = 3; left > 0;) {
        int code = class_of(MPI_Waitsome(3, r, &count, indices, statuses));
        CHECK(code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS);
        CHECK(count > 0 && count <= left);
        for (int k = 0; k < count; k++) {
            int error = code == MPI_SUCCESS ? MPI_SUCCESS : class_of(statuses[k].MPI_ERROR);
            EQUAL(error, indices[k] == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
            failed += error != MPI_SUCCESS;
        }
        left -= count;
    }
    EQUAL(failed, 1);
    whole(in);

    begin(in, r, sends);
    failed = 0;
    for (int k = 0; k < 3; k++) {
        int code = class_of(MPI_Waitany(3, r, &index, &statuses[0]));
        EQUAL(code, index == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        CHECK(r[index] == MPI_REQUEST_NULL);
        failed += code != MPI_SUCCESS;
    }
    EQUAL(failed, 1);
    whole(in);

    begin(in, r, sends);
    flag = 0;
    while (!flag) {
        int code = class_of(MPI_Test(&r[1], &flag, &statuses[1]));
        EQUAL(code, flag ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    }
    flag = 0;
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Wait(&r[2], MPI_STATUS_IGNORE);
    whole(in);

    /* a matched message that is too long */
    MPI_Message message;
    int five[5] = {1, 2, 3, 4, 5}, room[5] = {0};
    MPI_Isend(five, 5, MPI_INT, next, 7, MPI_COMM_WORLD, &sends[0]);
    MPI_Mprobe(previous, 7, MPI_COMM_WORLD, &message, &statuses[0]);
    EQUAL(class_of(MPI_Mrecv(room, 3, MPI_INT, &message, &statuses[0])), MPI_ERR_TRUNCATE);
    CHECK(room[3] == 0);
    MPI_Wait(&sends[0], MPI_STATUS_IGNORE);

    /* sendrecv whose receive is too short */
    memset(room, 0, sizeof room);
    EQUAL(class_of(MPI_Sendrecv(five, 5, MPI_INT, next, 8, room, 2, MPI_INT, previous, 8, MPI_COMM_WORLD,
                                &statuses[0])), MPI_ERR_TRUNCATE);
    CHECK(room[2] == 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    return finish("partial_failures");
}
