/* Particles fly through a slab, scatter, multiply, are absorbed or leave it. All are born on rank 0; after every
 * flight each rank hands a third of what it has more than a neighbour to that neighbour (diffusion), so that soon
 * all have alike to do. Every particle carries its own random numbers: the counts do not depend on the ranks.
 *
 *     transport [particles [operations of a flight]]
 *
 * The operations are what a simulated Cell charges (cell_compute); elsewhere they do nothing. 0: nothing is charged. */
#include <cell.h>
#include <math.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const double THICKNESS = 6, ABSORBED = 0.25, MULTIPLIED = 0.15; /* mean free paths; chances at a collision */

typedef struct {
    double x, direction; /* place, cosine of the angle */
    uint64_t random;
} Particle;

static uint64_t mixed(uint64_t z) /* splitmix64 */
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double uniform(uint64_t *state) /* in (0, 1) */
{
    *state += 0x9e3779b97f4a7c15u;
    return ((double)(mixed(*state) >> 12) + 0.5) * 0x1p-52;
}

static Particle *particles;
static long count, room;
static double operations = 60; /* of a flight: a logarithm 30, three random numbers 24, the rest 6 */
static long tally[4]; /* reflected, transmitted, absorbed, multiplied */

static void reserve(long more)
{
    if (count + more <= room) return;
    room = 2 * (count + more);
    particles = realloc(particles, room * sizeof *particles);
}

/* One flight and one collision of each; children come behind the survivors. */
static void fly(void)
{
    reserve(count);
    if (operations > 0) cell_compute(count * operations, 2.0 * count * sizeof *particles); /* read and written */
    Particle *children = malloc((count + 1) * sizeof *children);
    long kept = 0, born = 0;
    for (long i = 0; i < count; i++) {
        Particle p = particles[i];
        p.x -= log(uniform(&p.random)) * p.direction;
        double what = uniform(&p.random);
        p.direction = 2 * uniform(&p.random) - 1;
        if (p.x < 0) tally[0]++;
        else if (p.x > THICKNESS) tally[1]++;
        else if (what < ABSORBED) tally[2]++;
        else {
            if (what < ABSORBED + MULTIPLIED) {
                Particle child = {p.x, -p.direction, mixed(~p.random)};
                children[born++] = child;
                tally[3]++;
            }
            particles[kept++] = p;
        }
    }
    for (long i = 0; i < born; i++) particles[kept++] = children[i];
    count = kept;
    free(children);
}

/* Hands over what this rank has too much, and takes what its neighbours have. */
static void balance(MPI_Comm line, MPI_Datatype particle)
{
    int side[2], give[2];
    long load[2] = {count, count}; /* an end of the line has nobody beside it: nothing flows */
    MPI_Cart_shift(line, 0, 1, &side[0], &side[1]);
    MPI_Sendrecv(&count, 1, MPI_LONG, side[1], 0, &load[0], 1, MPI_LONG, side[0], 0, line, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&count, 1, MPI_LONG, side[0], 1, &load[1], 1, MPI_LONG, side[1], 1, line, MPI_STATUS_IGNORE);
    MPI_Request requests[2];
    Particle *sent[2];
    for (int s = 0; s < 2; s++) {
        long more = count - load[s];
        give[s] = more > 0 ? (int)(more / 3) : 0;
    }
    for (int s = 0; s < 2; s++) {
        count -= give[s];
        sent[s] = malloc((give[s] + 1) * sizeof(Particle));
        for (int i = 0; i < give[s]; i++) sent[s][i] = particles[count + i];
        MPI_Isend(sent[s], give[s], particle, side[s], 2, line, &requests[s]);
    }
    for (int s = 0; s < 2; s++) {
        MPI_Status status;
        int arrived;
        MPI_Probe(side[s], 2, line, &status);
        MPI_Get_count(&status, particle, &arrived);
        reserve(arrived);
        MPI_Recv(particles + count, arrived, particle, side[s], 2, line, MPI_STATUS_IGNORE);
        count += arrived;
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    free(sent[0]);
    free(sent[1]);
}

int main(int argc, char **argv)
{
    int rank, size, open = 0;
    long born = argc > 1 ? atol(argv[1]) : 20000;
    if (argc > 2) operations = atof(argv[2]);
    MPI_Comm line;
    MPI_Datatype particle;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &open, 1, &line);
    MPI_Comm_rank(line, &rank);
    int lengths[2] = {2, 1};
    MPI_Aint places[2] = {offsetof(Particle, x), offsetof(Particle, random)};
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_UINT64_T};
    MPI_Type_create_struct(2, lengths, places, types, &particle);
    MPI_Type_commit(&particle);
    if (rank == 0) {
        reserve(born);
        for (; count < born; count++) particles[count] = (Particle){0, 1, mixed(count + 1)};
    }
    long *loads = malloc(size * sizeof(long)), alive = born, sums[4];
    double start = MPI_Wtime();
    for (int step = 1; alive > 0; step++) {
        fly();
        balance(line, particle);
        MPI_Allreduce(&count, &alive, 1, MPI_LONG, MPI_SUM, line);
        if ((step & (step - 1)) == 0) { /* 1, 2, 4, 8 ... */
            MPI_Gather(&count, 1, MPI_LONG, loads, 1, MPI_LONG, 0, line);
            if (rank == 0) {
                printf("step %2d: %5ld particles:", step, alive);
                for (int r = 0; r < size; r++) printf(" %ld", loads[r]);
                printf("\n");
            }
        }
    }
    double seconds = MPI_Wtime() - start;
    MPI_Reduce(tally, sums, 4, MPI_LONG, MPI_SUM, 0, line);
    if (rank == 0) {
        printf("born %ld, multiplied %ld; reflected %ld, transmitted %ld, absorbed %ld: ", born, sums[3],
               sums[0], sums[1], sums[2]);
        printf("%s\n", born + sums[3] == sums[0] + sums[1] + sums[2] ? "all accounted for" : "SOME ARE LOST");
        printf("%.3f s\n", seconds);
    }
    free(loads);
    free(particles);
    MPI_Type_free(&particle);
    MPI_Comm_free(&line);
    MPI_Finalize();
    return 0;
}
