/* The time of MPI_Pack and MPI_Unpack of typical datatypes, or of the loops that one writes by hand for them.

       pack library|hand

   What is packed is compared with the loop's result. */
#include "../mpi/measure.h"
#include <mpi.h>
#include <stddef.h>

enum { N = 32768, SIDE = 180, CUBE = 32, MEMBERS = 4096, BLOCKS_OF = 8192 };

/* A record with gaps: 4, 16, 1 and 4 of 40 bytes are data. */
typedef struct {
    int number;
    double pair[2];
    char letter;
    float weight;
    double scratch;
} Record;
enum { RECORD = sizeof(int) + 2 * sizeof(double) + sizeof(char) + sizeof(float) };

static int places[BLOCKS_OF], lengths[BLOCKS_OF];

static void contiguous(char *to, const char *from) { memcpy(to, from, N * sizeof(double)); }

static void small(char *to, const char *from) {
    for (int i = 0; i < 16; i++) ((double *)to)[i] = ((const double *)from)[2 * i];
}

static void every_other(char *to, const char *from) {
    for (int i = 0; i < N; i++) ((double *)to)[i] = ((const double *)from)[2 * i];
}

static void blocks_40(char *to, const char *from) {
    for (int i = 0; i < BLOCKS_OF; i++) memcpy(to + 40 * i, from + 80 * i, 40);
}

static void records(char *to, const char *from) {
    const Record *record = (const Record *)from;
    for (int i = 0; i < MEMBERS; i++, record++, to += RECORD) {
        memcpy(to, &record->number, 4);
        memcpy(to + 4, record->pair, 16);
        to[20] = record->letter;
        memcpy(to + 21, &record->weight, 4);
    }
}

static void pairs(char *to, const char *from) {
    for (int i = 0; i < MEMBERS; i++) {
        memcpy(to + 12 * i, from + 16 * i, 8);
        memcpy(to + 12 * i + 8, from + 16 * i + 8, 4);
    }
}

static void transposed(char *to, const char *from) {
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) ((double *)to)[i * SIDE + j] = ((const double *)from)[j * SIDE + i];
}

static void face(char *to, const char *from) {
    for (int i = 0; i < CUBE * CUBE; i++) ((double *)to)[i] = ((const double *)from)[i * CUBE + 1];
}

static void block_of_cube(char *to, const char *from) {
    const double *in = (const double *)from;
    double *out = (double *)to;
    for (int z = 1; z < CUBE - 1; z++)
        for (int y = 1; y < CUBE - 1; y++)
            for (int x = 1; x < CUBE - 1; x++) *out++ = in[(z * CUBE + y) * CUBE + x];
}

static void listed(char *to, const char *from) {
    for (int i = 0; i < BLOCKS_OF; i++) ((double *)to)[i] = ((const double *)from)[places[i]];
}

static void listed_blocks(char *to, const char *from) {
    for (int i = 0; i < BLOCKS_OF; i++) {
        memcpy(to, from + places[i] * sizeof(double), lengths[i] * sizeof(double));
        to += lengths[i] * sizeof(double);
    }
}

static MPI_Datatype subarray(int size, int width, int depth) {
    int sizes[3] = {CUBE, CUBE, CUBE}, subsizes[3] = {size, size, width}, starts[3] = {depth, depth, 1};
    MPI_Datatype type;
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype resized(MPI_Datatype old, MPI_Aint extent) {
    MPI_Datatype type;
    MPI_Type_create_resized(old, 0, extent, &type);
    return type;
}

static MPI_Datatype vector(int count, int length, int stride) {
    MPI_Datatype type;
    MPI_Type_vector(count, length, stride, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype record(void) {
    int blocks[4] = {1, 2, 1, 1};
    MPI_Aint at[4] = {offsetof(Record, number), offsetof(Record, pair), offsetof(Record, letter),
                      offsetof(Record, weight)};
    MPI_Datatype members[4] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_FLOAT}, type;
    MPI_Type_create_struct(4, blocks, at, members, &type);
    return resized(type, sizeof(Record));
}

static MPI_Datatype list(int equal) {
    MPI_Datatype type;
    if (equal) MPI_Type_create_indexed_block(BLOCKS_OF, 1, places, MPI_DOUBLE, &type);
    else MPI_Type_indexed(BLOCKS_OF, lengths, places, MPI_DOUBLE, &type);
    return type;
}

static char *user, *packed, *expected;
static const size_t ROOM = 4 << 20;
static int by_hand;

static double median_us(void (*loop)(char *, const char *), MPI_Datatype type, int count, int bytes, int unpack) {
    double block[BLOCKS];
    int times = 2;
    for (int b = -2; b < BLOCKS; b++) {
        double start = now_us();
        for (int i = 0; i < times; i++) {
            int position = 0;
            if (by_hand) loop(packed, user);
            else if (unpack) MPI_Unpack(packed, bytes, &position, user, count, type, MPI_COMM_SELF);
            else MPI_Pack(user, count, type, packed, bytes, &position, MPI_COMM_SELF);
            __asm__ volatile("" ::: "memory");
        }
        double once = (now_us() - start) / times;
        if (b == -2) times = repeats(once, 1000);
        if (b >= 0) block[b] = once;
    }
    return quantile(block, BLOCKS, 0.5);
}

static void measure(const char *name, MPI_Datatype type, int count, void (*loop)(char *, const char *)) {
    int bytes, position = 0;
    MPI_Type_commit(&type);
    MPI_Type_size(type, &bytes);
    bytes *= count;
    for (size_t i = 0; i < ROOM; i++) user[i] = (char)(i * 7 + i / 256);
    loop(expected, user);
    MPI_Pack(user, count, type, packed, bytes, &position, MPI_COMM_SELF);
    if (position != bytes || memcmp(packed, expected, bytes)) {
        fprintf(stderr, "%s: what is packed is not what the loop gathers\n", name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int unpack = 0; unpack < 2; unpack++)
        if (!unpack || !by_hand)
            printf("{\"name\": \"%s\", \"what\": \"%s\", \"bytes\": %d, \"us\": %.4f}\n",
                   name, unpack ? "unpack" : "pack", bytes, median_us(loop, type, count, bytes, unpack));
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "use: pack library|hand\n");
        return 2;
    }
    by_hand = !strcmp(argv[1], "hand");
    MPI_Init(&argc, &argv);
    pin(0);
    user = aligned_alloc(4096, ROOM);
    packed = aligned_alloc(4096, ROOM);
    expected = aligned_alloc(4096, ROOM);
    for (int i = 0, at = 0; i < BLOCKS_OF; i++) {
        places[i] = at;
        lengths[i] = 1 + i % 4;
        at += lengths[i] + 1 + i * 7 % 5;
    }
    measure("contiguous", MPI_DOUBLE, N, contiguous);
    measure("every other double, 128 B", vector(16, 1, 2), 1, small);
    measure("every other double", vector(N, 1, 2), 1, every_other);
    measure("blocks of 40 B", vector(BLOCKS_OF, 5, 10), 1, blocks_40);
    measure("records with gaps", record(), MEMBERS, records);
    measure("MPI_DOUBLE_INT", MPI_DOUBLE_INT, MEMBERS, pairs);
    measure("transposition", resized(vector(SIDE, 1, SIDE), sizeof(double)), SIDE, transposed);
    measure("face of a cube", subarray(CUBE, 1, 0), 1, face);
    measure("inside of a cube", subarray(CUBE - 2, CUBE - 2, 1), 1, block_of_cube);
    measure("listed doubles", list(1), 1, listed);
    measure("listed blocks", list(0), 1, listed_blocks);
    MPI_Finalize();
    return 0;
}
