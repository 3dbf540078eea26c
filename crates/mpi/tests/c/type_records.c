/* Many records of two basic types arrive whole, broadcast and sent, with and without a gap between their members. */
#include "check.h"
#include <stddef.h>

enum { RECORDS = 262144 };

typedef struct {
    int number; /* a gap of four bytes follows */
    double values[9];
} Gap;

typedef struct {
    double values[8];
    int numbers[4];
} Whole;

static union {
    Gap gap[RECORDS];
    Whole whole[RECORDS];
} data;

static MPI_Datatype type_of(int gap)
{
    MPI_Datatype members[2] = {gap ? MPI_INT : MPI_DOUBLE, gap ? MPI_DOUBLE : MPI_INT}, type;
    MPI_Aint places[2] = {0, gap ? offsetof(Gap, values) : offsetof(Whole, numbers)};
    MPI_Type_create_struct(2, gap ? (int[2]){1, 9} : (int[2]){8, 4}, places, members, &type);
    MPI_Type_commit(&type);
    return type;
}

static void fill(int gap)
{
    for (int i = 0; i < RECORDS; i++)
        if (gap) {
            data.gap[i].number = i;
            for (int k = 0; k < 9; k++) data.gap[i].values[k] = i + k;
        } else {
            for (int k = 0; k < 8; k++) data.whole[i].values[k] = i - k;
            for (int k = 0; k < 4; k++) data.whole[i].numbers[k] = i * k;
        }
}

static void check(int gap)
{
    for (int i = 0; i < RECORDS; i++)
        if (gap) {
            EQUAL(data.gap[i].number, i);
            for (int k = 0; k < 9; k++) CHECK(data.gap[i].values[k] == i + k);
        } else {
            for (int k = 0; k < 8; k++) CHECK(data.whole[i].values[k] == i - k);
            for (int k = 0; k < 4; k++) EQUAL(data.whole[i].numbers[k], i * k);
        }
}

int main(void)
{
    start();
    EQUAL((int)sizeof(Gap), 80);
    EQUAL((int)sizeof(Whole), 80);
    for (int gap = 0; gap < 2; gap++) {
        MPI_Datatype type = type_of(gap);
        memset(&data, 0, sizeof data);
        if (rank == size - 1) fill(gap);
        MPI_Bcast(&data, RECORDS, type, size - 1, MPI_COMM_WORLD);
        check(gap);
        /* around the ranks */
        if (rank > 0) {
            memset(&data, 0, sizeof data);
            MPI_Recv(&data, RECORDS, type, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check(gap);
        }
        if (rank + 1 < size) MPI_Send(&data, RECORDS, type, rank + 1, 1, MPI_COMM_WORLD);
        MPI_Type_free(&type);
    }
    return finish("type_records");
}
