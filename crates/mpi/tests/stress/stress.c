/* Random traffic, checked against a sequential model of MPI's matching rules.
 *
 *     stress [--seed N] [--messages N] [--threads N]
 *
 * Time goes in rounds. In a round every rank sends messages that the seed decides (destination, communicator, tag,
 * size, mode, datatype), so that each rank knows what everybody sends. It receives them with receives of its own
 * choice: exact or with wildcards, posted early or late, blocking or not, persistent, by probes and matched probes,
 * some cancelled. What the program sees of a receive is the source; given that, the model says which message it must
 * be:
 *
 *   in the order of posting, a receive takes the first message of its source that fits its tag and that no earlier
 *   receive has taken; and a receive that got nothing was passed by nothing that fits it.
 *
 * Size, tag and every byte are compared with that message's. Threads have communicators of their own. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include "../c/check.h"

enum { COMMS = 3, MOST_MESSAGES = 160, GAP = 2, POOL = 16 << 20 };
enum Kind { EXACT, ANY, NONE, MIXED, READY, KINDS };
enum Mode { STANDARD, SYNCHRONOUS, BUFFERED, PERSISTENT, MODES };

typedef struct {
    int source, destination, comm, tag, length, mode, block; /* ranks of the world; block 0: contiguous */
    uint64_t contents;
    int taken;
} Message;

typedef struct {
    int comm, source, tag; /* as asked for; world ranks, MPI_ANY_SOURCE, MPI_ANY_TAG */
    int block, capacity;
    unsigned char *memory;
    MPI_Request request;
    int persistent, pending, got, withdrawn; /* withdrawn: cancelled while messages were under way */
    int got_source, got_tag, got_length;
} Receive;

typedef struct {
    int number, round, limit; /* limit: the longest message of the round */
    uint64_t private;
    MPI_Comm comms[COMMS], control;
    Message *messages; /* of this round to this rank, by sender, in order */
    Receive *receives;
    MPI_Request *sends;
    unsigned char **sent;
    int coming, posted, sending, received;
    long long total;
} Thread;

static uint64_t seed = 1;
static long long wanted = 200000;
static int threads = 1;

static uint64_t mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int draw(uint64_t *state, int below)
{
    *state = mix(*state);
    return (int)((*state >> 16) % (uint64_t)below);
}

static void wrong(const Thread *t, const char *what, int a, int b)
{
    fprintf(stderr, "stress: seed %llu, %d threads, thread %d, round %d, rank %d of %d: %s: %d, not %d\n",
            (unsigned long long)seed, threads, t->number, t->round, rank, size, what, a, b);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* The last communicator counts ranks backwards. */
static int in_comm(int comm, int world) { return world < 0 || comm < COMMS - 1 ? world : size - 1 - world; }

static unsigned char byte_of(uint64_t contents, int i) { return (unsigned char)(contents + i * 37u + (i >> 8)); }

/* Where byte i lies in memory of blocks with gaps. */
static size_t place(int block, int i) { return block ? (size_t)(i / block) * (block + GAP) + i % block : (size_t)i; }
static size_t room(int block, int length) {
    return block ? (size_t)((length + block - 1) / block) * (block + GAP) : (size_t)length;
}

/* Blocks of bytes with gaps, `length` in all or a little more. */
static MPI_Datatype blocks(int block, int length)
{
    MPI_Datatype type;
    MPI_Type_vector((length + block - 1) / block, block, block + GAP, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

typedef struct { enum Kind kind; int tags, shape, most; } Round;

static Round round_of(const Thread *t, int number)
{
    uint64_t s = mix(seed * 1000003u + t->number * 7919u + number);
    static const int tags[] = {1, 2, 5, 40};
    Round r;
    r.kind = draw(&s, KINDS);
    r.tags = tags[draw(&s, 4)];
    int d = draw(&s, 100);
    r.shape = d < 70 ? 0 : d < 95 ? 1 : 2; /* small, medium, large messages */
    r.most = r.shape == 0 ? MOST_MESSAGES : r.shape == 1 ? 40 : 6;
    return r;
}

static int length_of(uint64_t *s, int shape)
{
    static const int edges[] = {0, 1, 16, 32, 40, 48, 56, 64, 128, 256, 1024, 4096, 8192, 16384, 65536, 262144};
    if (shape == 0) return draw(s, 4) ? draw(s, 100) : edges[draw(s, 10)];
    if (shape == 1) return draw(s, 4) ? draw(s, 20000) : edges[8 + draw(s, 6)] + draw(s, 3) - 1;
    return draw(s, 4) ? draw(s, 1 << 20) : edges[10 + draw(s, 6)] + draw(s, 3) - 1;
}

/* What a rank sends in a round, and how many messages that are. */
static int script(const Thread *t, Round r, int sender, Message *out)
{
    uint64_t s = mix(mix(seed + 31u * t->number) + (uint64_t)t->round * 1009u + sender);
    static const int sizes[] = {1, 3, 8, 64};
    int n = draw(&s, r.most + 1);
    for (int i = 0; i < n; i++) {
        Message *m = &out[i];
        m->source = sender;
        m->destination = draw(&s, size);
        m->comm = draw(&s, COMMS);
        m->tag = draw(&s, r.tags);
        m->length = length_of(&s, r.shape);
        m->mode = draw(&s, MODES);
        if (m->mode == BUFFERED && m->length > 2000) m->mode = STANDARD;
        m->block = draw(&s, 5) == 0 ? sizes[draw(&s, 4)] : 0;
        if (m->block && (m->length == 0 || m->length % m->block)) m->block = 0;
        m->contents = mix(s);
        m->taken = 0;
    }
    return n;
}

static void start_send(Thread *t, const Message *m, int ready)
{
    unsigned char *data = malloc(room(m->block, m->length) + 1);
    int count = m->length, to = in_comm(m->comm, m->destination);
    MPI_Datatype type = MPI_BYTE;
    MPI_Comm comm = t->comms[m->comm];
    MPI_Request *request = &t->sends[t->sending];
    for (int i = 0; i < m->length; i++) data[place(m->block, i)] = byte_of(m->contents, i);
    if (m->block) {
        type = blocks(m->block, m->length);
        count = 1;
    }
    *request = MPI_REQUEST_NULL;
    t->sent[t->sending++] = data;
    if (ready) {
        if (m->mode == SYNCHRONOUS) MPI_Rsend(data, count, type, to, m->tag, comm);
        else MPI_Irsend(data, count, type, to, m->tag, comm, request);
    } else if (m->mode == SYNCHRONOUS) {
        MPI_Issend(data, count, type, to, m->tag, comm, request);
    } else if (m->mode == BUFFERED) {
        if (m->contents & 1) MPI_Bsend(data, count, type, to, m->tag, comm);
        else MPI_Ibsend(data, count, type, to, m->tag, comm, request);
    } else if (m->mode == PERSISTENT) {
        MPI_Send_init(data, count, type, to, m->tag, comm, request);
        MPI_Start(request);
    } else {
        MPI_Isend(data, count, type, to, m->tag, comm, request);
    }
    if (m->block) MPI_Type_free(&type);
}

/* The next receive, in the order of posting. */
static Receive *plan(Thread *t, int comm, int source, int tag)
{
    static const int sizes[] = {0, 0, 0, 1, 3, 8, 64};
    Receive *r = &t->receives[t->posted++];
    memset(r, 0, sizeof *r);
    r->comm = comm;
    r->source = source;
    r->tag = tag;
    r->request = MPI_REQUEST_NULL;
    r->capacity = t->limit;
    r->block = t->limit > 20000 && draw(&t->private, 3) ? 0 : sizes[draw(&t->private, 7)];
    size_t bytes = room(r->block, r->capacity);
    r->memory = malloc(bytes + 1);
    if (r->block) /* the gaps must stay as they are */
        for (size_t i = 0; i < bytes; i += r->block + GAP) memset(r->memory + i + r->block, 0xee, GAP);
    return r;
}

static void as_seen(Receive *r, const MPI_Status *status)
{
    r->pending = 0;
    r->got = 1;
    r->got_source = in_comm(r->comm, status->MPI_SOURCE);
    r->got_tag = status->MPI_TAG;
    MPI_Get_elements(status, MPI_BYTE, &r->got_length);
}

static void post(Thread *t, int comm, int source, int tag)
{
    Receive *r = plan(t, comm, source, tag);
    MPI_Datatype type = r->block ? blocks(r->block, r->capacity) : MPI_BYTE;
    int count = r->block ? 1 : r->capacity;
    r->pending = 1;
    if (draw(&t->private, 5) == 0) {
        r->persistent = 1;
        MPI_Recv_init(r->memory, count, type, in_comm(comm, source), tag, t->comms[comm], &r->request);
        MPI_Start(&r->request);
    } else {
        MPI_Irecv(r->memory, count, type, in_comm(comm, source), tag, t->comms[comm], &r->request);
    }
    if (r->block) MPI_Type_free(&type);
}

/* A posted receive is complete: with a message, or cancelled. */
static void complete(Thread *t, Receive *r, const MPI_Status *status, int last)
{
    int cancelled;
    MPI_Test_cancelled(status, &cancelled);
    if (cancelled) {
        r->pending = 0;
        r->withdrawn = !last;
    } else {
        if (last) wrong(t, "a message more than was sent, from", status->MPI_SOURCE, -1);
        as_seen(r, status);
        t->received++;
    }
    if (r->persistent) MPI_Request_free(&r->request);
}

/* Receives now what is there already, or comes: with blocking calls when `blocking`. */
static int take_one(Thread *t, int comm, int blocking)
{
    MPI_Status status;
    MPI_Message message;
    int flag = 1, how = draw(&t->private, 4);
    MPI_Comm c = t->comms[comm];
    if (how == 0 && blocking) {
        Receive *r = plan(t, comm, MPI_ANY_SOURCE, MPI_ANY_TAG);
        MPI_Datatype type = r->block ? blocks(r->block, r->capacity) : MPI_BYTE;
        MPI_Recv(r->memory, r->block ? 1 : r->capacity, type, MPI_ANY_SOURCE, MPI_ANY_TAG, c, &status);
        if (r->block) MPI_Type_free(&type);
        as_seen(r, &status);
    } else if (how <= 1) {
        if (blocking) MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, c, &status);
        else MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c, &flag, &status);
        if (!flag) return 0;
        MPI_Status probed = status;
        Receive *r = plan(t, comm, in_comm(comm, status.MPI_SOURCE), status.MPI_TAG);
        r->block = 0;
        MPI_Recv(r->memory, r->capacity, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, c, &status);
        int before, after;
        MPI_Get_count(&probed, MPI_BYTE, &before);
        MPI_Get_count(&status, MPI_BYTE, &after);
        if (before != after) wrong(t, "length probed and received", after, before);
        as_seen(r, &status);
    } else {
        if (blocking) MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c, &message, &status);
        else MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, c, &flag, &message, &status);
        if (!flag) return 0;
        Receive *r = plan(t, comm, MPI_ANY_SOURCE, MPI_ANY_TAG);
        MPI_Datatype type = r->block ? blocks(r->block, r->capacity) : MPI_BYTE;
        int count = r->block ? 1 : r->capacity;
        if (how == 2) {
            MPI_Mrecv(r->memory, count, type, &message, &status);
        } else {
            MPI_Imrecv(r->memory, count, type, &message, &r->request);
            MPI_Wait(&r->request, &status);
        }
        if (r->block) MPI_Type_free(&type);
        as_seen(r, &status);
    }
    t->received++;
    return 1;
}

static MPI_Request *requests_of(Thread *t, int *which, int *n)
{
    MPI_Request *list = malloc((t->posted + 1) * sizeof *list);
    *n = 0;
    for (int i = 0; i < t->posted; i++)
        if (t->receives[i].pending) which[*n] = i, list[(*n)++] = t->receives[i].request;
    return list;
}

/* All pending receives will complete: wait for them in one of the ways. */
static void wait_for_all(Thread *t)
{
    int *which = malloc((t->posted + 1) * sizeof(int)), *indices = malloc((t->posted + 1) * sizeof(int)), n, index,
        count, flag = 0;
    MPI_Request *list = requests_of(t, which, &n);
    MPI_Status *statuses = malloc((n + 1) * sizeof *statuses);
    int how = draw(&t->private, 6), left = n;
    if (how == 0) {
        MPI_Waitall(n, list, statuses);
    } else if (how == 1) {
        while (!flag) {
            MPI_Testall(n, list, &flag, statuses);
            if (!flag) sched_yield();
        }
    } else if (how == 2) {
        for (int k = n - 1; k >= 0; k--) MPI_Wait(&list[k], &statuses[k]);
    }
    for (int k = 0; how <= 2 && k < n; k++) {
        t->receives[which[k]].request = list[k];
        complete(t, &t->receives[which[k]], &statuses[k], 0);
        list[k] = MPI_REQUEST_NULL;
        left--;
    }
    while (left > 0) {
        count = 1;
        if (how == 3) MPI_Waitany(n, list, &index, statuses);
        else if (how == 4) MPI_Waitsome(n, list, &count, indices, statuses);
        else MPI_Testsome(n, list, &count, indices, statuses);
        if (how == 3) indices[0] = index;
        if (count == 0) sched_yield();
        for (int k = 0; k < count; k++) {
            Receive *r = &t->receives[which[indices[k]]];
            r->request = list[indices[k]];
            complete(t, r, &statuses[k], 0);
            list[indices[k]] = MPI_REQUEST_NULL;
            left--;
        }
    }
    free(which);
    free(indices);
    free(list);
    free(statuses);
}

/* Some receives may never match: poll them, take what comes besides, cancel some. */
static void poll_until_all_is_here(Thread *t)
{
    while (t->received < t->coming) {
        int moved = 0, pick = t->posted ? draw(&t->private, t->posted) : 0;
        for (int i = 0; i < t->posted; i++) {
            Receive *r = &t->receives[i];
            int flag = 0;
            MPI_Status status;
            if (!r->pending) continue;
            if (i == pick && draw(&t->private, 40) == 0) {
                MPI_Cancel(&r->request);
                MPI_Wait(&r->request, &status);
                flag = 1;
            } else if ((i + pick) % 3 == 0) {
                MPI_Test(&r->request, &flag, &status);
            }
            if (flag) complete(t, r, &status, 0);
            moved |= flag;
        }
        if (t->received < t->coming) moved |= take_one(t, draw(&t->private, COMMS), 0);
        if (!moved) sched_yield();
    }
    for (int i = 0; i < t->posted; i++) { /* nothing is left for these */
        Receive *r = &t->receives[i];
        if (!r->pending) continue;
        MPI_Status status;
        MPI_Cancel(&r->request);
        MPI_Wait(&r->request, &status);
        complete(t, r, &status, 1);
    }
}

static int fits(const Receive *r, const Message *m)
{
    return r->comm == m->comm && (r->source == MPI_ANY_SOURCE || r->source == m->source) &&
           (r->tag == MPI_ANY_TAG || r->tag == m->tag);
}

/* The sequential model. */
static void check_round(Thread *t)
{
    for (int i = 0; i < t->posted; i++) {
        Receive *r = &t->receives[i];
        if (!r->got) continue;
        Message *m = NULL;
        for (int k = 0; k < t->coming && m == NULL; k++) {
            Message *other = &t->messages[k];
            if (!other->taken && other->source == r->got_source && fits(r, other)) m = other;
        }
        if (m == NULL) wrong(t, "a message that nobody sent, from", r->got_source, -1);
        m->taken = i + 1;
        if (r->got_tag != m->tag) wrong(t, "tag", r->got_tag, m->tag);
        if (r->got_length != m->length) wrong(t, "length", r->got_length, m->length);
        for (int b = 0; b < m->length; b++)
            if (r->memory[place(r->block, b)] != byte_of(m->contents, b))
                wrong(t, "first wrong byte is at", b, m->length);
        size_t bytes = room(r->block, r->capacity);
        if (r->block)
            for (size_t g = r->block; g < bytes; g += r->block + GAP)
                if (r->memory[g] != 0xee || r->memory[g + 1] != 0xee) wrong(t, "a gap was written at", (int)g, -1);
    }
    for (int k = 0; k < t->coming; k++) {
        if (!t->messages[k].taken) wrong(t, "a message was lost, from", t->messages[k].source, -1);
        for (int i = 0; i < t->messages[k].taken - 1; i++) { /* earlier receives that got nothing do not fit it */
            const Receive *r = &t->receives[i];
            int passed = !r->got && !r->withdrawn && fits(r, &t->messages[k]);
            if (passed) wrong(t, "a pending receive was passed by", t->messages[k].taken - 1, i);
        }
    }
}

static void one_round(Thread *t)
{
    Round round = round_of(t, t->round);
    Message *mine = malloc((MOST_MESSAGES + 1) * sizeof *mine);
    int own = script(t, round, rank, mine), per_comm[COMMS] = {0};
    t->messages = malloc((size_t)MOST_MESSAGES * size * sizeof *t->messages);
    t->coming = t->posted = t->sending = t->received = t->limit = 0;
    for (int r = 0; r < size; r++) {
        Message *theirs = malloc((MOST_MESSAGES + 1) * sizeof *theirs);
        int n = script(t, round, r, theirs);
        t->total += n;
        for (int i = 0; i < n; i++) {
            if (theirs[i].destination != rank) continue;
            t->messages[t->coming++] = theirs[i];
            per_comm[theirs[i].comm]++;
            if (theirs[i].length > t->limit) t->limit = theirs[i].length;
        }
        free(theirs);
    }
    t->receives = malloc((2 * t->coming + 8) * sizeof *t->receives);
    t->sends = malloc((own + 1) * sizeof *t->sends);
    t->sent = malloc((own + 1) * sizeof *t->sent);
    /* posting and sending, in turns of chance */
    int planned = round.kind == NONE ? 0 : round.kind == MIXED ? t->coming * draw(&t->private, 4) / 3 : t->coming;
    int *order = malloc((t->coming + 1) * sizeof(int));
    for (int i = 0; i < t->coming; i++) order[i] = i;
    for (int i = t->coming - 1; i > 0 && round.kind != READY; i--) { /* exact receives in any order */
        int j = draw(&t->private, i + 1), k = order[i];
        order[i] = order[j];
        order[j] = k;
    }
    int sends = 0, receives = 0;
    while (sends < own || receives < planned) {
        int receive = receives < planned &&
                      (sends == own || round.kind == READY || draw(&t->private, own + planned) < planned);
        if (receive) {
            const Message *m = &t->messages[order[receives++]];
            int any_source = round.kind == ANY || (round.kind == MIXED && draw(&t->private, 3) == 0);
            int any_tag = round.kind == ANY || (round.kind == MIXED && draw(&t->private, 3) == 0);
            post(t, m->comm, any_source ? MPI_ANY_SOURCE : m->source, any_tag ? MPI_ANY_TAG : m->tag);
        } else {
            if (sends == 0 && round.kind == READY) MPI_Barrier(t->control);
            start_send(t, &mine[sends], round.kind == READY);
            sends++;
        }
    }
    if (own == 0 && round.kind == READY) MPI_Barrier(t->control);
    if (round.kind == MIXED) {
        poll_until_all_is_here(t);
    } else if (round.kind == NONE) {
        for (int left = t->coming; left > 0; left--) {
            int comm = draw(&t->private, COMMS);
            while (per_comm[comm] == 0) comm = (comm + 1) % COMMS;
            take_one(t, comm, 1);
            per_comm[comm]--;
        }
    } else {
        wait_for_all(t);
    }
    if (draw(&t->private, 2)) {
        MPI_Waitall(own, t->sends, MPI_STATUSES_IGNORE);
    } else {
        for (int i = own - 1; i >= 0; i--) MPI_Wait(&t->sends[i], MPI_STATUS_IGNORE);
    }
    check_round(t);
    for (int i = 0; i < own; i++) {
        if (t->sends[i] != MPI_REQUEST_NULL) MPI_Request_free(&t->sends[i]); /* persistent ones */
        free(t->sent[i]);
    }
    for (int i = 0; i < t->posted; i++) free(t->receives[i].memory);
    free(order);
    free(mine);
    free(t->messages);
    free(t->receives);
    free(t->sends);
    free(t->sent);
    int received = 0; /* nobody goes on before all have what was sent to them */
    MPI_Allreduce(&t->received, &received, 1, MPI_INT, MPI_SUM, t->control);
    t->round++;
}

static void *run(void *argument)
{
    Thread *t = argument;
    while (t->total < wanted / threads) one_round(t);
    return NULL;
}

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--seed")) seed = strtoull(argv[i + 1], NULL, 10);
        if (!strcmp(argv[i], "--messages")) wanted = atoll(argv[i + 1]);
        if (!strcmp(argv[i], "--threads")) threads = atoi(argv[i + 1]);
    }
    int provided;
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(threads == 1 || provided == MPI_THREAD_MULTIPLE);
    void *pool = malloc(POOL);
    MPI_Buffer_attach(pool, POOL);
    Thread *all = calloc(threads, sizeof *all);
    pthread_t *ids = malloc(threads * sizeof *ids);
    for (int k = 0; k < threads; k++) {
        all[k].number = k;
        all[k].private = mix(seed * 77u + (uint64_t)rank * 131u + k);
        for (int c = 0; c < COMMS; c++)
            MPI_Comm_split(MPI_COMM_WORLD, 0, c < COMMS - 1 ? rank : -rank, &all[k].comms[c]);
        MPI_Comm_dup(MPI_COMM_WORLD, &all[k].control);
    }
    for (int k = 1; k < threads; k++) CHECK(pthread_create(&ids[k], NULL, run, &all[k]) == 0);
    run(&all[0]);
    for (int k = 1; k < threads; k++) pthread_join(ids[k], NULL);
    long long total = 0;
    for (int k = 0; k < threads; k++) {
        total += all[k].total;
        for (int c = 0; c < COMMS; c++) MPI_Comm_free(&all[k].comms[c]);
        MPI_Comm_free(&all[k].control);
    }
    int bytes;
    MPI_Buffer_detach(&pool, &bytes);
    free(pool);
    free(all);
    free(ids);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("ok stress: %lld messages on %d ranks with %d threads, seed %llu\n",
               total, size, threads, (unsigned long long)seed);
    MPI_Finalize();
    return 0;
}
