/* A receive that finds its message there completes in whichever way the program asks for it. */
#include "check.h"

enum { MOST = 70000 };
static unsigned char data[MOST], into[MOST];
static int under_way; /* bytes, the last ones of `into` */

/* The message is there; the receive is under way or complete. */
typedef void Ending(MPI_Request *request);

static void waited_for(MPI_Request *request) { MPI_Wait(request, MPI_STATUS_IGNORE); }

static void tested(MPI_Request *request)
{
    for (int flag = 0; !flag;) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
}

static void asked_about(MPI_Request *request)
{
    for (int flag = 0; !flag;) MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE);
    waited_for(request);
}

static void too_late_to_cancel(MPI_Request *request)
{
    MPI_Status status;
    int flag;
    MPI_Cancel(request);
    MPI_Wait(request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(!flag);
}

/* Its data comes in any order, all of it by calls that have nothing to do with it. */
static void freed(MPI_Request *request)
{
    const volatile unsigned char *missing = into + MOST - under_way;
    MPI_Request_free(request);
    while (missing != into + MOST) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        while (missing != into + MOST && *missing != 0) missing++;
    }
}

static void received(int bytes, int matched, Ending *end)
{
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    unsigned char *room = into + MOST - bytes;
    MPI_Request sent, request;
    memset(into, 0, MOST);
    under_way = bytes;
    MPI_Isend(data, bytes, MPI_BYTE, next, 1, MPI_COMM_WORLD, &sent);
    if (matched) {
        MPI_Message message;
        MPI_Mprobe(previous, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Imrecv(room, bytes, MPI_BYTE, &message, &request);
    } else {
        MPI_Probe(previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(room, bytes, MPI_BYTE, previous, 1, MPI_COMM_WORLD, &request);
    }
    end(&request);
    for (int i = 0; i < bytes; i++) EQUAL(room[i], data[i]);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

int main(void)
{
    start();
    const int bytes[] = {1, 300, 5000, 12000, 20000, MOST};
    Ending *endings[] = {waited_for, tested, asked_about, too_late_to_cancel, freed};
    for (int i = 0; i < MOST; i++) data[i] = (unsigned char)(i % 255 + 1);
    for (int round = 0; round < 4; round++)
        for (unsigned i = 0; i < sizeof bytes / sizeof *bytes; i++)
            for (unsigned j = 0; j < sizeof endings / sizeof *endings; j++)
                for (int matched = 0; matched < 2; matched++) received(bytes[i], matched, endings[j]);
    return finish("late_receives");
}
