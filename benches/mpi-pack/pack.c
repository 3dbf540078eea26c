/* The time of MPI_Pack, MPI_Unpack and messages of typical datatypes, or of the loops that one writes by hand to pack
   them.

       pack library|hand
       pack send SIZE     with two ranks: one way, each sends what it just received; SIZE is 0 to 2

   What is packed, and what arrives, is compared with the loop's result. */
#include "../mpi/look.h"
#include <mpi.h>
#include <stddef.h>

/* A record with gaps: 4, 16, 1 and 4 of 40 bytes are data. */
typedef struct {
    int number;
    double pair[2];
    char letter;
    float weight;
    double scratch;
} Record;
enum { RECORD = sizeof(int) + 2 * sizeof(double) + sizeof(char) + sizeof(float) };

/* A record without gaps. */
typedef struct {
    double at[3];
    int kind, next;
    char name[16];
} Whole;

/* Places and lengths of listed blocks, in doubles; `LARGE` times as much for large blocks. How long a case is warmed
   up, how long it takes at most, and each of its blocks. */
enum { LISTED = 262144, LARGE = 96, SIZES = 4, WARM_US = 5000, LONGEST_US = 60000, BLOCK_US = 1000 };
static int places[LISTED], lengths[LISTED], large_places[LISTED], large_lengths[LISTED];

static void contiguous(char *to, const char *from, int n) { memcpy(to, from, n * sizeof(double)); }

static void wholes(char *to, const char *from, int n) { memcpy(to, from, n * sizeof(Whole)); }

static void every_other(char *to, const char *from, int n) {
    for (int i = 0; i < n; i++) ((double *)to)[i] = ((const double *)from)[2 * i];
}

static void blocks_40(char *to, const char *from, int n) {
    for (int i = 0; i < n; i++) memcpy(to + 40 * i, from + 80 * i, 40);
}

static void blocks_1k(char *to, const char *from, int n) {
    for (int i = 0; i < n; i++) memcpy(to + 1024 * i, from + 1536 * i, 1024);
}

static void record_to(char *to, const Record *record) {
    memcpy(to, &record->number, 4);
    memcpy(to + 4, record->pair, 16);
    to[20] = record->letter;
    memcpy(to + 21, &record->weight, 4);
}

static void records(char *to, const char *from, int n) {
    for (int i = 0; i < n; i++) record_to(to + RECORD * i, (const Record *)from + i);
}

static void every_third_record(char *to, const char *from, int n) {
    for (int i = 0; i < n; i++) record_to(to + RECORD * i, (const Record *)from + 3 * i);
}

static void pairs(char *to, const char *from, int n) {
    for (int i = 0; i < n; i++) {
        memcpy(to + 12 * i, from + 16 * i, 8);
        memcpy(to + 12 * i + 8, from + 16 * i + 8, 4);
    }
}

/* Three arrays of n, n and n / 2 doubles, a gap of 64 bytes behind each. */
static void arrays(char *to, const char *from, int n) {
    size_t bytes = n * sizeof(double);
    memcpy(to, from, bytes);
    memcpy(to + bytes, from + bytes + 64, bytes);
    memcpy(to + 2 * bytes, from + 2 * (bytes + 64), bytes / 2);
}

static void transposed(char *to, const char *from, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) ((double *)to)[i * n + j] = ((const double *)from)[j * n + i];
}

static void box(char *to, const double *in, int n, int deep, int high, int wide) {
    double *out = (double *)to;
    for (int z = 1; z <= deep; z++)
        for (int y = 1; y <= high; y++)
            for (int x = 1; x <= wide; x++) *out++ = in[(z * n + y) * n + x];
}

static void face(char *to, const char *from, int n) { box(to, (const double *)from, n, n - 2, n - 2, 1); }

static void rows(char *to, const char *from, int n) { box(to, (const double *)from, n, n - 2, 1, n - 2); }

static void inside(char *to, const char *from, int n) { box(to, (const double *)from, n, n - 2, n - 2, n - 2); }

/* Every other double of every other line of 16. */
static void nested(char *to, const char *from, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 8; j++) ((double *)to)[8 * i + j] = ((const double *)from)[32 * i + 2 * j];
}

static void listed(char *to, const char *from, int n) {
    for (int i = 0; i < n; i++) ((double *)to)[i] = ((const double *)from)[places[i]];
}

static void gathered(char *to, const char *from, int n, const int *at, const int *length) {
    for (int i = 0; i < n; i++) {
        memcpy(to, from + at[i] * sizeof(double), length[i] * sizeof(double));
        to += length[i] * sizeof(double);
    }
}

static void listed_blocks(char *to, const char *from, int n) { gathered(to, from, n, places, lengths); }

static void large_blocks(char *to, const char *from, int n) { gathered(to, from, n, large_places, large_lengths); }

static MPI_Datatype resized(MPI_Datatype old, MPI_Aint extent) {
    MPI_Datatype type;
    MPI_Type_create_resized(old, 0, extent, &type);
    return type;
}

static MPI_Datatype vector(int count, int length, int stride, MPI_Datatype of) {
    MPI_Datatype type;
    MPI_Type_vector(count, length, stride, of, &type);
    return type;
}

static MPI_Datatype structure(int n, const int *blocks, const MPI_Aint *at, const MPI_Datatype *members) {
    MPI_Datatype type;
    MPI_Type_create_struct(n, blocks, at, members, &type);
    return type;
}

static MPI_Datatype part_of_cube(int n, int deep, int high, int wide) {
    int sizes[3] = {n, n, n}, subsizes[3] = {deep, high, wide}, starts[3] = {1, 1, 1};
    MPI_Datatype type;
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype list(int n, const int *at, const int *length) {
    MPI_Datatype type;
    if (length) MPI_Type_indexed(n, length, at, MPI_DOUBLE, &type);
    else MPI_Type_create_indexed_block(n, 1, at, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype record_type(void) {
    MPI_Aint at[4] = {offsetof(Record, number), offsetof(Record, pair), offsetof(Record, letter),
                      offsetof(Record, weight)};
    MPI_Datatype members[4] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_FLOAT};
    return resized(structure(4, (int[4]){1, 2, 1, 1}, at, members), sizeof(Record));
}

static MPI_Datatype whole_type(void) {
    MPI_Aint at[4] = {offsetof(Whole, at), offsetof(Whole, kind), offsetof(Whole, next), offsetof(Whole, name)};
    MPI_Datatype members[4] = {MPI_DOUBLE, MPI_INT, MPI_INT, MPI_CHAR};
    return structure(4, (int[4]){3, 1, 1, 16}, at, members);
}

static MPI_Datatype arrays_type(int n) {
    MPI_Aint bytes = n * (MPI_Aint)sizeof(double), at[3] = {0, bytes + 64, 2 * (bytes + 64)};
    return structure(3, (int[3]){n, n, n / 2}, at, (MPI_Datatype[3]){MPI_DOUBLE, MPI_DOUBLE, MPI_DOUBLE});
}

static char *user, *packed, *expected;
static const size_t ROOM = 24 << 20;
static enum { LIBRARY, HAND, SEND } how;
static int rank;

typedef void Loop(char *, const char *, int);
typedef enum { PACK, UNPACK, MESSAGE } What;
static const char *const WHAT[] = {"pack", "unpack", "send"};

static void once(What what, Loop *loop, int n, MPI_Datatype type, int count, int bytes) {
    int position = 0;
    if (how == HAND) loop(packed, user, n);
    else if (what == PACK) MPI_Pack(user, count, type, packed, bytes, &position, MPI_COMM_SELF);
    else if (what == UNPACK) MPI_Unpack(packed, bytes, &position, user, count, type, MPI_COMM_SELF);
    else
        for (int sends = !rank, i = 0; i < 2; i++, sends = !sends) {
            if (sends) MPI_Send(user, count, type, 1 - rank, 1, MPI_COMM_WORLD);
            else MPI_Recv(user, count, type, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    __asm__ volatile("" ::: "memory");
}

/* Blocks, once `once` has been repeated for some milliseconds: first uses of memory are over then. A message goes both
   ways. Rank 0 says how many blocks there are. */
static void repeat(Blocks *blocks, What what, Loop *loop, int n, MPI_Datatype type, int count, int bytes) {
    double began = now_us();
    int turns = what == MESSAGE ? 2 : 1, plan[3] = {2, 1, 1};
    blocks_begin(blocks);
    while (blocks->n < BLOCKS && (plan[1] || blocks->n < 3)) {
        double start = now_us();
        for (int i = 0; i < plan[0]; i++) once(what, loop, n, type, count, bytes);
        double took = (now_us() - start) / plan[0];
        if (plan[2]) plan[0] = repeats(took, BLOCK_US);
        else blocks_add(blocks, took / turns);
        plan[1] = now_us() - began < LONGEST_US;
        plan[2] = plan[2] && now_us() - began < WARM_US;
        if (what == MESSAGE) MPI_Bcast(plan, 3, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

static void check(const char *name, MPI_Datatype type, int count, int bytes) {
    int position = 0;
    MPI_Pack(user, count, type, packed, bytes, &position, MPI_COMM_SELF);
    if (position != bytes || memcmp(packed, expected, bytes)) {
        fprintf(stderr, "%s: what is packed is not what the loop gathers\n", name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void measure(const char *name, int n, MPI_Datatype type, int count, Loop *loop) {
    int bytes;
    MPI_Type_commit(&type);
    MPI_Type_size(type, &bytes);
    bytes *= count;
    for (size_t i = 0; i < ROOM; i++) user[i] = (char)(i * 7 + i / 256);
    loop(expected, user, n);
    if (rank > 0) memset(user, 0, ROOM);
    else check(name, type, count, bytes);
    for (What what = how == SEND ? MESSAGE : PACK; what <= (how == LIBRARY ? UNPACK : how == HAND ? PACK : MESSAGE);
         what++) {
        Blocks blocks;
        repeat(&blocks, what, loop, n, type, count, bytes);
        if (rank > 0) continue;
        printf("{\"name\": \"%s\", \"what\": \"%s\", \"bytes\": %d, ", name, WHAT[what], bytes);
        blocks_print(&blocks);
    }
    check(name, type, count, bytes);
    fflush(stdout);
    if (type != MPI_DOUBLE && type != MPI_DOUBLE_INT) MPI_Type_free(&type);
}

/* Each at about these sizes of data. */
static void measure_all(int size) {
    static const int kilobytes[SIZES] = {1, 64, 1024, 4096}, sides[SIZES] = {11, 90, 362, 724},
                     faces[2] = {13, 92}, cubes[SIZES] = {7, 22, 53, 82};
    int bytes = kilobytes[size] * 1024, side = sides[size], cube = cubes[size], face_of = faces[size > 0],
        doubles = bytes / 8, blocks = doubles * 2 / 5, large = doubles / 240;
    measure("contiguous", doubles, MPI_DOUBLE, doubles, contiguous);
    measure("records without gaps", bytes / 48, whole_type(), bytes / 48, wholes);
    measure("every other double", doubles, vector(doubles, 1, 2, MPI_DOUBLE), 1, every_other);
    measure("blocks of 40 B", bytes / 40, vector(bytes / 40, 5, 10, MPI_DOUBLE), 1, blocks_40);
    measure("blocks of 1 kB", bytes / 1024, vector(bytes / 1024, 128, 192, MPI_DOUBLE), 1, blocks_1k);
    measure("vector of vectors", doubles / 8, vector(doubles / 8, 1, 2, resized(vector(8, 1, 2, MPI_DOUBLE), 128)), 1,
            nested);
    measure("records with gaps", bytes / RECORD, record_type(), bytes / RECORD, records);
    measure("every third record", bytes / RECORD, vector(bytes / RECORD, 1, 3, record_type()), 1, every_third_record);
    measure("MPI_DOUBLE_INT", bytes / 12, MPI_DOUBLE_INT, bytes / 12, pairs);
    measure("three arrays", bytes / 40 * 2, arrays_type(bytes / 40 * 2), 1, arrays);
    measure("transposition", side, resized(vector(side, 1, side, MPI_DOUBLE), 8), side, transposed);
    if (size < 2) measure("face of a cube", face_of, part_of_cube(face_of, face_of - 2, face_of - 2, 1), 1, face);
    if (size < 2) measure("rows of a cube", face_of, part_of_cube(face_of, face_of - 2, 1, face_of - 2), 1, rows);
    measure("inside of a cube", cube, part_of_cube(cube, cube - 2, cube - 2, cube - 2), 1, inside);
    if (size < 3) measure("listed doubles", doubles, list(doubles, places, NULL), 1, listed);
    measure("listed blocks", blocks, list(blocks, places, lengths), 1, listed_blocks);
    if (size > 0)
        measure("listed blocks of 1 to 3 kB", large, list(large, large_places, large_lengths), 1, large_blocks);
}

int main(int argc, char **argv) {
    int ranks;
    if (argc < 2 || argc != (strcmp(argv[1], "send") ? 2 : 3)) {
        fprintf(stderr, "use: pack library|hand|send SIZE\n");
        return 2;
    }
    how = !strcmp(argv[1], "hand") ? HAND : !strcmp(argv[1], "send") ? SEND : LIBRARY;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != (how == SEND ? 2 : 1)) MPI_Abort(MPI_COMM_WORLD, 2);
    pin(rank);
    look_open(rank, ranks);
    user = aligned_alloc(4096, ROOM);
    packed = aligned_alloc(4096, ROOM);
    expected = aligned_alloc(4096, ROOM);
    for (int i = 0, at = 0; i < LISTED; i++) {
        places[i] = at;
        lengths[i] = 1 + i % 4;
        large_places[i] = at * LARGE;
        large_lengths[i] = lengths[i] * LARGE;
        at += lengths[i] + 1 + i * 7 % 5;
    }
    for (int size = 0; size < SIZES; size++)
        if (how != SEND || size == atoi(argv[2])) measure_all(size);
    MPI_Finalize();
    return 0;
}
