/* Random derived types against a plain reference: a list of (displacement, basic type) in order.
 * Pack, unpack, external32, messages and Get_elements must agree with the list. */
#include <stdint.h>
#include "check.h"

enum { MOST = 4096, ROOM = 1 << 17, MIDDLE = ROOM / 2, TYPES = 300 };

typedef struct {
    MPI_Aint at[MOST];
    int basic[MOST]; /* index into basics */
    int n;
    MPI_Aint lb, ub;
    int marked; /* lb and ub were set by a resize, or by a member's */
} Map;

static MPI_Datatype basics[5];
static const int widths[5] = {1, 2, 4, 8, 8};
static uint64_t seed;

static int below(int n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int)((seed >> 20) % (uint64_t)n);
}

static MPI_Aint align_of(const Map *map)
{
    MPI_Aint most = 1;
    for (int i = 0; i < map->n; i++)
        if (widths[map->basic[i]] > most) most = widths[map->basic[i]];
    return most;
}

/* Adds a copy of `part` displaced by `by`. */
static void add(Map *map, const Map *part, MPI_Aint by, int first)
{
    for (int i = 0; i < part->n; i++) {
        map->at[map->n] = part->at[i] + by;
        map->basic[map->n++] = part->basic[i];
    }
    if (first || part->lb + by < map->lb) map->lb = part->lb + by;
    if (first || part->ub + by > map->ub) map->ub = part->ub + by;
}

/* A random type of at most `depth` constructors; blocks of count > 0 only, so that bounds are plain. */
static MPI_Datatype make(Map *map, int depth)
{
    map->n = 0;
    map->lb = map->ub = 0;
    map->marked = 0;
    if (depth == 0) {
        int b = below(5);
        map->basic[map->n] = b;
        map->at[map->n++] = 0;
        map->ub = widths[b];
        MPI_Datatype t;
        MPI_Type_dup(basics[b], &t);
        return t;
    }
    Map *part = malloc(sizeof *part);
    MPI_Datatype old = make(part, depth - 1), t;
    MPI_Aint extent = part->ub - part->lb;
    int count = 1 + below(3), block = 1 + below(3), lengths[3], displacements[3];
    MPI_Aint bytes[3];
    if (part->n * 9 > MOST / 4) count = block = 1;
    map->marked = part->marked;
    MPI_Aint align = align_of(part);
    for (int i = 0; i < 3; i++) {
        lengths[i] = part->n * 9 > MOST / 4 ? 1 : 1 + below(3);
        displacements[i] = i * 4 + below(2);
        bytes[i] = ((i * 4 + below(2)) * extent + 7) / 8 * 8 - (below(4) == 0 ? 64 : 0);
    }
    int k = 0, kind = below(9);
    switch (kind) {
    case 0:
        MPI_Type_contiguous(count, old, &t);
        for (int i = 0; i < count; i++) add(map, part, i * extent, k++ == 0);
        break;
    case 1: {
        int stride = block + below(4) - 1;
        if (below(4) == 0) stride = -stride;
        MPI_Type_vector(count, block, stride, old, &t);
        for (int i = 0; i < count; i++)
            for (int j = 0; j < block; j++) add(map, part, (i * (MPI_Aint)stride + j) * extent, k++ == 0);
        break;
    }
    case 2: {
        MPI_Aint stride = (block * extent + 7) / 8 * 8 + 8 * below(3);
        MPI_Type_create_hvector(count, block, stride, old, &t);
        for (int i = 0; i < count; i++)
            for (int j = 0; j < block; j++) add(map, part, i * stride + j * extent, k++ == 0);
        break;
    }
    case 3:
        MPI_Type_indexed(count, lengths, displacements, old, &t);
        for (int i = 0; i < count; i++)
            for (int j = 0; j < lengths[i]; j++) add(map, part, (displacements[i] + j) * extent, k++ == 0);
        break;
    case 4:
        MPI_Type_create_hindexed(count, lengths, bytes, old, &t);
        for (int i = 0; i < count; i++)
            for (int j = 0; j < lengths[i]; j++) add(map, part, bytes[i] + j * extent, k++ == 0);
        break;
    case 5:
        MPI_Type_create_indexed_block(count, block, displacements, old, &t);
        for (int i = 0; i < count; i++)
            for (int j = 0; j < block; j++) add(map, part, (displacements[i] + j) * extent, k++ == 0);
        break;
    case 6:
        MPI_Type_create_hindexed_block(count, block, bytes, old, &t);
        for (int i = 0; i < count; i++)
            for (int j = 0; j < block; j++) add(map, part, bytes[i] + j * extent, k++ == 0);
        break;
    case 7: {
        MPI_Aint lb = part->lb - 8 * below(2), longer = (extent + 7) / 8 * 8 + 8 * below(3);
        MPI_Type_create_resized(old, lb, longer, &t);
        add(map, part, 0, 1);
        map->lb = lb;
        map->ub = lb + longer;
        map->marked = 1;
        break;
    }
    default: {
        /* members with the same markers or none, so that no marker hides the other's bounds */
        MPI_Datatype members[3] = {old, old, old};
        int simple = !part->marked && below(2), b = below(5);
        Map *other = malloc(sizeof *other);
        other->n = 1;
        other->at[0] = 0;
        other->basic[0] = b;
        other->lb = 0;
        other->ub = widths[b];
        if (simple) members[1] = basics[b];
        for (int i = 0; i < 3; i++) bytes[i] = (bytes[i] + 7) / 8 * 8;
        MPI_Type_create_struct(count, lengths, bytes, members, &t);
        for (int i = 0; i < count; i++) {
            const Map *member = i == 1 && simple ? other : part;
            MPI_Aint step = member->ub - member->lb;
            for (int j = 0; j < lengths[i]; j++) add(map, member, bytes[i] + j * step, k++ == 0);
        }
        if (!part->marked) {
            align = align_of(map);
            map->ub = map->lb + (map->ub - map->lb + align - 1) / align * align;
        }
        free(other);
    }
    }
    MPI_Type_free(&old);
    free(part);
    return t;
}

static unsigned char *source, *target, *packed, *wanted;

/* The reference: `count` of the map, from memory to a list of bytes. */
static int flatten(const Map *map, int count, const unsigned char *memory, unsigned char *list, int swapped)
{
    int n = 0;
    for (int c = 0; c < count; c++) {
        for (int i = 0; i < map->n; i++) {
            int w = widths[map->basic[i]];
            const unsigned char *from = memory + MIDDLE + c * (map->ub - map->lb) + map->at[i];
            for (int b = 0; b < w; b++) list[n++] = from[swapped ? w - 1 - b : b];
        }
    }
    return n;
}

static void scatter_list(const Map *map, int count, unsigned char *memory, const unsigned char *list, int elements)
{
    int n = 0;
    for (int c = 0; c < count; c++) {
        for (int i = 0; i < map->n && elements > 0; i++, elements--) {
            int w = widths[map->basic[i]];
            memcpy(memory + MIDDLE + c * (map->ub - map->lb) + map->at[i], list + n, w);
            n += w;
        }
    }
}

/* Whether the map touches a byte twice (then it may not receive), or leaves the room. */
static int overlaps(const Map *map, int count, int *outside)
{
    static unsigned char touched[ROOM];
    int found = 0;
    memset(touched, 0, ROOM);
    *outside = 0;
    for (int c = 0; c < count; c++) {
        for (int i = 0; i < map->n; i++) {
            MPI_Aint at = MIDDLE + c * (map->ub - map->lb) + map->at[i];
            if (at < 0 || at + 8 > ROOM) {
                *outside = 1;
                return 1;
            }
            for (int b = 0; b < widths[map->basic[i]]; b++) found |= touched[at + b]++;
        }
    }
    return found;
}

static void check_type(MPI_Datatype type, const Map *map, int count)
{
    int bytes, size_of_one, position, outside, overlapping = overlaps(map, count, &outside);
    MPI_Aint lb, extent;
    if (outside) return;
    MPI_Type_get_extent(type, &lb, &extent);
    EQUAL(lb, map->lb);
    EQUAL(extent, map->ub - map->lb);
    int n = flatten(map, count, source, wanted, 0);
    MPI_Type_size(type, &size_of_one);
    EQUAL(size_of_one * count, n);
    MPI_Pack_size(count, type, MPI_COMM_WORLD, &bytes);
    CHECK(bytes >= n);
    position = 0;
    MPI_Pack(source + MIDDLE, count, type, packed, ROOM, &position, MPI_COMM_WORLD);
    EQUAL(position, n);
    CHECK(!memcmp(packed, wanted, n));
    /* a message: typed on both sides, bytes on one */
    int elements;
    MPI_Status status;
    MPI_Request request;
    if (!overlapping) {
        memset(target, 0xaa, ROOM);
        position = 0;
        MPI_Unpack(wanted, n, &position, target + MIDDLE, count, type, MPI_COMM_WORLD);
        EQUAL(position, n);
        unsigned char *expected = malloc(ROOM);
        memset(expected, 0xaa, ROOM);
        scatter_list(map, count, expected, wanted, map->n * count);
        CHECK(!memcmp(target, expected, ROOM));
        memset(target, 0xaa, ROOM);
        int next = (rank + 1) % size, previous = (rank + size - 1) % size;
        MPI_Irecv(target + MIDDLE, count, type, previous, 1, MPI_COMM_WORLD, &request);
        MPI_Send(source + MIDDLE, count, type, next, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        MPI_Get_elements(&status, type, &elements);
        EQUAL(elements, map->n * count);
        MPI_Get_count(&status, type, &elements);
        EQUAL(elements, count);
        CHECK(!memcmp(target, expected, ROOM));
        /* a part of the message that ends within the type */
        int part = 1 + below(map->n * count), m = 0;
        for (int i = 0; i < part; i++) m += widths[map->basic[i % map->n]];
        memset(target, 0xaa, ROOM);
        memset(expected, 0xaa, ROOM);
        scatter_list(map, count, expected, wanted, part);
        MPI_Irecv(target + MIDDLE, count, type, previous, 2, MPI_COMM_WORLD, &request);
        MPI_Send(packed, m, MPI_PACKED, next, 2, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        MPI_Get_elements(&status, type, &elements);
        EQUAL(elements, part);
        MPI_Get_count(&status, type, &elements);
        EQUAL(elements, part % map->n ? MPI_UNDEFINED : part / map->n);
        CHECK(!memcmp(target, expected, ROOM));
        free(expected);
    }
    /* external32 is big-endian */
    MPI_Aint where = 0, room;
    n = flatten(map, count, source, wanted, 1);
    MPI_Pack_external_size("external32", count, type, &room);
    EQUAL(room, n);
    MPI_Pack_external("external32", source + MIDDLE, count, type, packed, room, &where);
    EQUAL(where, n);
    CHECK(!memcmp(packed, wanted, n));
    if (!overlapping) {
        memset(target, 0, ROOM);
        where = 0;
        MPI_Unpack_external("external32", packed, room, &where, target + MIDDLE, count, type);
        EQUAL(where, n);
        flatten(map, count, target, packed, 1);
        CHECK(!memcmp(packed, wanted, n));
    }
}

int main(void)
{
    start();
    basics[0] = MPI_CHAR;
    basics[1] = MPI_SHORT;
    basics[2] = MPI_INT;
    basics[3] = MPI_DOUBLE;
    basics[4] = MPI_INT64_T;
    source = malloc(ROOM);
    target = malloc(ROOM);
    packed = malloc(ROOM);
    wanted = malloc(ROOM);
    for (int i = 0; i < ROOM; i++) source[i] = (unsigned char)(i * 31 + i / 256);
    Map *map = malloc(sizeof *map);
    for (int i = 0; i < TYPES; i++) {
        seed = 88172645463325252ull + 7919ull * (uint64_t)i; /* the same types on every rank */
        for (int k = 0; k < 10; k++) below(2);
        MPI_Datatype type = make(map, 1 + i % 4);
        MPI_Type_commit(&type);
        check_type(type, map, 1 + i % 3);
        MPI_Type_free(&type);
    }
    free(map);
    return finish("type_random");
}
