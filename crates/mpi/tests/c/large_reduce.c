/* Reduce of vectors whose operand two ranks send to the root piece by piece, or the root reads: sizes around the limits
   of pieces, elements of every size, in place and not, data that isn't aligned to its elements, a root that comes late,
   and so many in a row that both ways have their turn. */
#include "check.h"

#include <complex.h>
#include <stdint.h>
#include <unistd.h>

static const int sizes[] = {257, 2047, 2049, 4095, 8192, 16385, 65537, 100003};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Reduces n elements by MPI_SUM that begin `skew` bytes behind a line, and checks the root's. */
#define SUMS(name, c_type, type)                                                                                       \
    static void name(MPI_Comm comm, int n, int root, int in_place, int skew)                                           \
    {                                                                                                                  \
        int who, ranks;                                                                                                \
        MPI_Comm_rank(comm, &who);                                                                                     \
        MPI_Comm_size(comm, &ranks);                                                                                   \
        size_t bytes = n * sizeof(c_type);                                                                             \
        char *in = malloc(bytes + 64), *out = malloc(bytes + 64);                                                      \
        char *given = in + skew, *got = out + skew;                                                                    \
        memset(got, 0x5a, bytes + 1);                                                                                  \
        for (int i = 0; i < n; i++) {                                                                                  \
            c_type x = (c_type)(who * 3 + i % 20);                                                                     \
            memcpy(given + i * sizeof x, &x, sizeof x);                                                                \
        }                                                                                                              \
        if (in_place && who == root) memcpy(got, given, bytes);                                                        \
        MPI_Reduce(in_place && who == root ? MPI_IN_PLACE : given, got, n, type, MPI_SUM, root, comm);                 \
        CHECK(got[bytes] == 0x5a);                                                                                     \
        for (int i = 0; i < n; i++) {                                                                                  \
            c_type x, wanted = (c_type)(ranks * (ranks - 1) / 2 * 3 + ranks * (i % 20));                               \
            memcpy(&x, got + i * sizeof x, sizeof x);                                                                  \
            if (who == root) CHECK(x == wanted);                                                                       \
            else CHECK(got[i] == 0x5a);                                                                                \
            memcpy(&x, given + i * sizeof x, sizeof x);                                                                \
            CHECK(x == (c_type)(who * 3 + i % 20));                                                                    \
        }                                                                                                              \
        free(in), free(out);                                                                                           \
    }
SUMS(bytes_each, int8_t, MPI_INT8_T)
SUMS(shorts, int16_t, MPI_INT16_T)
SUMS(floats, float, MPI_FLOAT)
SUMS(doubles, double, MPI_DOUBLE)
SUMS(complexes, double complex, MPI_C_DOUBLE_COMPLEX)
SUMS(longs, long double, MPI_LONG_DOUBLE)
SUMS(complex_longs, long double complex, MPI_C_LONG_DOUBLE_COMPLEX)

static void least(MPI_Comm comm, int n, int root)
{
    struct pair { double value; int index; } *in = calloc(n, sizeof *in), *out = calloc(n, sizeof *out);
    int who;
    MPI_Comm_rank(comm, &who);
    for (int i = 0; i < n; i++) in[i].value = (who + i) % 2, in[i].index = who;
    MPI_Reduce(in, out, n, MPI_DOUBLE_INT, MPI_MINLOC, root, comm);
    for (int i = 0; who == root && i < n; i++) CHECK(out[i].value == 0 && out[i].index == i % 2);
    free(in), free(out);
}

/* The other ranks are ahead by many reduces. */
static void late_root(MPI_Comm comm, int n)
{
    enum { TIMES = 20 };
    int who, ranks;
    MPI_Comm_rank(comm, &who);
    MPI_Comm_size(comm, &ranks);
    int *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
    if (who == 0) usleep(2000);
    for (int t = 0; t < TIMES; t++) {
        for (int i = 0; i < n; i++) in[i] = i + t + who;
        MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, 0, comm);
        for (int i = 0; who == 0 && i < n; i++) EQUAL(out[i], ranks * (i + t) + ranks * (ranks - 1) / 2);
    }
    free(in), free(out);
}

/* The root's result and all operands change from one reduce to the next. */
static void many(MPI_Comm comm, int n, int times, int in_place)
{
    int who, ranks;
    MPI_Comm_rank(comm, &who);
    MPI_Comm_size(comm, &ranks);
    double *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
    for (int t = 0; t < times; t++) {
        int root = t / 7 % 2 % ranks, is_in_place = in_place && who == root;
        double *own = is_in_place ? out : in;
        for (int i = 0; i < n; i++) own[i] = i + t * (who + 1.0);
        MPI_Reduce(is_in_place ? MPI_IN_PLACE : in, out, n, MPI_DOUBLE, MPI_SUM, root, comm);
        for (int i = 0; i < n; i++) {
            if (who == root) EQUAL(out[i], (double)ranks * i + t * (ranks * (ranks + 1) / 2.0));
            if (own == in) EQUAL(in[i], i + t * (who + 1.0));
        }
    }
    free(in), free(out);
}

int main(void)
{
    start();
    for (int in_place = 0; in_place < 2; in_place++) {
        many(MPI_COMM_WORLD, 8192, 400, in_place);
        many(MPI_COMM_WORLD, 40001, 200, in_place);
        many(MPI_COMM_WORLD, 600011, 4, in_place);
    }
    for (int s = 0; s < SIZES; s++) {
        int n = sizes[s], root = s % size;
        for (int in_place = 0; in_place < 2; in_place++) {
            bytes_each(MPI_COMM_WORLD, 8 * n, root, in_place, s);
            shorts(MPI_COMM_WORLD, 4 * n, root, in_place, s % 2);
            floats(MPI_COMM_WORLD, 2 * n, root, in_place, 4 + s % 3);
            doubles(MPI_COMM_WORLD, n, root, in_place, s % 4 * 7);
            complexes(MPI_COMM_WORLD, n / 2, root, in_place, 8 * (s % 3));
            longs(MPI_COMM_WORLD, n / 2, root, in_place, s % 2);
            complex_longs(MPI_COMM_WORLD, n / 4, root, in_place, 16);
        }
        if (size > 1) least(MPI_COMM_WORLD, n, root);
        late_root(MPI_COMM_WORLD, n);
    }
    return finish("large_reduce");
}
