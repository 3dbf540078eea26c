/* Every predefined operation on every type that it is defined for, in Reduce, Allreduce, Scan, Reduce_scatter_block and
 * Reduce_local. */
#include <complex.h>
#include <stdint.h>
#include "check.h"

enum { N = 77 }; /* more than a line of every type, and no multiple of one */

#define VALUE(r, i) (((r) * 3 + (i) * 5) % 7 + 1)

/* What every rank got of every collective call that reduces, N values each. */
static void reduce(void *given, void *const got[5], size_t bytes, MPI_Datatype type, MPI_Op op)
{
    char *many = malloc(size * bytes);
    for (int r = 0; r < size; r++) memcpy(many + r * bytes, given, bytes);
    for (int i = 0; i < 5; i++) memset(got[i], 0, bytes);
    MPI_Allreduce(given, got[0], N, type, op, MPI_COMM_WORLD);
    MPI_Reduce(given, got[1], N, type, op, size - 1, MPI_COMM_WORLD);
    MPI_Scan(given, got[2], N, type, op, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(many, got[3], N, type, op, MPI_COMM_WORLD);
    memcpy(got[4], got[3], bytes);
    MPI_Reduce_local(given, got[4], N, type, op);
    free(many);
}

#define TRY(type, c_type, op, step, value)                                                                             \
    do {                                                                                                               \
        c_type given[N], wanted[N], scan_wanted[N], all[N], one[N], scan[N], block[N], local[N];                       \
        for (int i = 0; i < N; i++) {                                                                                  \
            for (int r = 0; r < size; r++) {                                                                           \
                c_type x = (c_type)(value(r, i)), acc = r ? wanted[i] : x;                                             \
                wanted[i] = r ? (c_type)(step) : x;                                                                    \
                if (r == rank) {                                                                                       \
                    given[i] = x;                                                                                      \
                    scan_wanted[i] = wanted[i];                                                                        \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        reduce(given, (void *[]){all, one, scan, block, local}, sizeof given, type, op);                               \
        for (int i = 0; i < N; i++) {                                                                                  \
            c_type x = wanted[i], acc = given[i];                                                                      \
            CHECK(all[i] == wanted[i]);                                                                                \
            CHECK(rank < size - 1 || one[i] == wanted[i]);                                                             \
            CHECK(scan[i] == scan_wanted[i]);                                                                          \
            CHECK(block[i] == wanted[i]);                                                                              \
            CHECK(local[i] == (c_type)(step));                                                                         \
        }                                                                                                              \
    } while (0)

#define SMALL(r, i) ((r) == 0 || ((r) + (i)) % 4 ? 1 : 2) /* products stay exact in every type */
#define TRUTH(r, i) (((r) + (i)) % 3 != 0)

#define ARITHMETIC(type, c_type)                                                                                       \
    do {                                                                                                               \
        TRY(type, c_type, MPI_SUM, acc + x, VALUE);                                                                    \
        TRY(type, c_type, MPI_PROD, acc * x, SMALL);                                                                   \
    } while (0)
#define ORDERED(type, c_type)                                                                                          \
    do {                                                                                                               \
        TRY(type, c_type, MPI_MAX, acc > x ? acc : x, VALUE);                                                          \
        TRY(type, c_type, MPI_MIN, acc < x ? acc : x, VALUE);                                                          \
    } while (0)
#define LOGICAL(type, c_type)                                                                                          \
    do {                                                                                                               \
        TRY(type, c_type, MPI_LAND, acc && x, TRUTH);                                                                  \
        TRY(type, c_type, MPI_LOR, acc || x, TRUTH);                                                                   \
        TRY(type, c_type, MPI_LXOR, !acc != !x, TRUTH);                                                                \
    } while (0)
#define BITWISE(type, c_type)                                                                                          \
    do {                                                                                                               \
        TRY(type, c_type, MPI_BAND, acc & x, VALUE);                                                                   \
        TRY(type, c_type, MPI_BOR, acc | x, VALUE);                                                                    \
        TRY(type, c_type, MPI_BXOR, acc ^ x, VALUE);                                                                   \
    } while (0)
#define INTEGER(type, c_type)                                                                                          \
    do {                                                                                                               \
        ARITHMETIC(type, c_type);                                                                                      \
        ORDERED(type, c_type);                                                                                         \
        LOGICAL(type, c_type);                                                                                         \
        BITWISE(type, c_type);                                                                                         \
    } while (0)
#define FLOATING(type, c_type)                                                                                         \
    do {                                                                                                               \
        ARITHMETIC(type, c_type);                                                                                      \
        ORDERED(type, c_type);                                                                                         \
    } while (0)

/* The sets of operations, and the types that each is tried on. */
#define TYPES(EACH)                                                                                                    \
    EACH(INTEGER, MPI_INT, int)                                                                                        \
    EACH(INTEGER, MPI_LONG, long)                                                                                      \
    EACH(INTEGER, MPI_SHORT, short)                                                                                    \
    EACH(INTEGER, MPI_UNSIGNED_SHORT, unsigned short)                                                                  \
    EACH(INTEGER, MPI_UNSIGNED, unsigned)                                                                              \
    EACH(INTEGER, MPI_UNSIGNED_LONG, unsigned long)                                                                    \
    EACH(INTEGER, MPI_LONG_LONG_INT, long long)                                                                        \
    EACH(INTEGER, MPI_UNSIGNED_LONG_LONG, unsigned long long)                                                          \
    EACH(INTEGER, MPI_SIGNED_CHAR, signed char)                                                                        \
    EACH(INTEGER, MPI_UNSIGNED_CHAR, unsigned char)                                                                    \
    EACH(INTEGER, MPI_INT8_T, int8_t)                                                                                  \
    EACH(INTEGER, MPI_INT16_T, int16_t)                                                                                \
    EACH(INTEGER, MPI_INT32_T, int32_t)                                                                                \
    EACH(INTEGER, MPI_INT64_T, int64_t)                                                                                \
    EACH(INTEGER, MPI_UINT8_T, uint8_t)                                                                                \
    EACH(INTEGER, MPI_UINT16_T, uint16_t)                                                                              \
    EACH(INTEGER, MPI_UINT32_T, uint32_t)                                                                              \
    EACH(INTEGER, MPI_UINT64_T, uint64_t)                                                                              \
    EACH(FLOATING, MPI_FLOAT, float)                                                                                   \
    EACH(FLOATING, MPI_DOUBLE, double)                                                                                 \
    EACH(FLOATING, MPI_LONG_DOUBLE, long double)                                                                       \
    EACH(ARITHMETIC, MPI_C_FLOAT_COMPLEX, float complex)                                                               \
    EACH(ARITHMETIC, MPI_C_COMPLEX, float complex)                                                                     \
    EACH(ARITHMETIC, MPI_C_DOUBLE_COMPLEX, double complex)                                                             \
    EACH(ARITHMETIC, MPI_C_LONG_DOUBLE_COMPLEX, long double complex)                                                   \
    EACH(LOGICAL, MPI_C_BOOL, _Bool)                                                                                   \
    EACH(BITWISE, MPI_BYTE, unsigned char)                                                                             \
    EACH(INTEGER, MPI_AINT, MPI_Aint)                                                                                  \
    EACH(INTEGER, MPI_OFFSET, MPI_Offset)                                                                              \
    EACH(INTEGER, MPI_COUNT, MPI_Count)

/* A function for each type: the compiler takes long over one that holds them all. */
#define DEFINE(set, type, c_type)                                                                                      \
    static void try_##type(void)                                                                                       \
    {                                                                                                                  \
        set(type, c_type);                                                                                             \
    }
TYPES(DEFINE)
#define CALL(set, type, c_type) try_##type();

#define LOCATED(type, c_type)                                                                                          \
    do {                                                                                                               \
        struct {                                                                                                       \
            c_type value;                                                                                              \
            int index;                                                                                                 \
        } a[N], most[N], least[N];                                                                                     \
        memset(a, 0, sizeof a);                                                                                        \
        for (int i = 0; i < N; i++) {                                                                                  \
            a[i].value = (c_type)VALUE(rank, i);                                                                       \
            a[i].index = 100 - rank;                                                                                   \
        }                                                                                                              \
        MPI_Allreduce(a, most, N, type, MPI_MAXLOC, MPI_COMM_WORLD);                                                   \
        MPI_Allreduce(a, least, N, type, MPI_MINLOC, MPI_COMM_WORLD);                                                  \
        for (int i = 0; i < N; i++) {                                                                                  \
            int big = 0, small = 0;                                                                                    \
            for (int r = 1; r < size; r++) { /* the least index of equals: the last rank */                            \
                if (VALUE(r, i) >= VALUE(big, i)) big = r;                                                             \
                if (VALUE(r, i) <= VALUE(small, i)) small = r;                                                         \
            }                                                                                                          \
            CHECK(most[i].value == (c_type)VALUE(big, i) && most[i].index == 100 - big);                               \
            CHECK(least[i].value == (c_type)VALUE(small, i) && least[i].index == 100 - small);                         \
        }                                                                                                              \
    } while (0)

static void located(void)
{
    LOCATED(MPI_2INT, int);
    LOCATED(MPI_FLOAT_INT, float);
    LOCATED(MPI_DOUBLE_INT, double);
    LOCATED(MPI_LONG_INT, long);
    LOCATED(MPI_SHORT_INT, short);
    LOCATED(MPI_LONG_DOUBLE_INT, long double);
}

static void commutes(void)
{
    int flag;
    MPI_Op_commutative(MPI_SUM, &flag);
    CHECK(flag);
    MPI_Op_commutative(MPI_MAXLOC, &flag);
    CHECK(flag);
    MPI_Op_commutative(MPI_REPLACE, &flag);
    CHECK(!flag);
    MPI_Op_commutative(MPI_NO_OP, &flag);
}

int main(void)
{
    start();
    TYPES(CALL)
    located();
    commutes();
    return finish("operations");
}
