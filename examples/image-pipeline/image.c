/* Kernels of an image pipeline: frames of u8 grey values, COLUMNS x ROWS. All arithmetic is in whole numbers, so that
 * every machine gets the same bits. Beyond the border the nearest pixel counts. */
#include "cellweave.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 96, ROWS = 64, PIXELS = COLUMNS * ROWS };

static int within(int place, int size)
{
    return place < 0 ? 0 : place < size ? place : size - 1;
}

/* The five of the binomial filter, 1 4 6 4 1. */
static int five(int a, int b, int c, int d, int e)
{
    return a + e + 4 * (b + d) + 6 * c;
}

/* Grey values to 16 times the blur along the rows. */
static void blur_rows(const uint8_t *in, int16_t *out)
{
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++) {
            const uint8_t *row = in + y * COLUMNS;
#define AT(k) row[within(x + (k), COLUMNS)]
            out[y * COLUMNS + x] = (int16_t)five(AT(-2), AT(-1), AT(0), AT(1), AT(2));
#undef AT
        }
}

/* Along the columns; rounded to grey values. */
static void blur_columns(const int16_t *in, uint8_t *out)
{
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++) {
#define AT(k) in[within(y + (k), ROWS) * COLUMNS + x]
            out[y * COLUMNS + x] = (uint8_t)((five(AT(-2), AT(-1), AT(0), AT(1), AT(2)) + 128) / 256);
#undef AT
        }
}

static int at(const uint8_t *in, int y, int x)
{
    return in[within(y, ROWS) * COLUMNS + within(x, COLUMNS)];
}

/* Sobel's derivative along x, and along y. */
static void gradient_x(const uint8_t *in, int16_t *out)
{
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++) {
            int left = at(in, y - 1, x - 1) + 2 * at(in, y, x - 1) + at(in, y + 1, x - 1);
            int right = at(in, y - 1, x + 1) + 2 * at(in, y, x + 1) + at(in, y + 1, x + 1);
            out[y * COLUMNS + x] = (int16_t)(right - left);
        }
}

static void gradient_y(const uint8_t *in, int16_t *out)
{
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++) {
            int above = at(in, y - 1, x - 1) + 2 * at(in, y - 1, x) + at(in, y - 1, x + 1);
            int below = at(in, y + 1, x - 1) + 2 * at(in, y + 1, x) + at(in, y + 1, x + 1);
            out[y * COLUMNS + x] = (int16_t)(below - above);
        }
}

/* The sum of both without their signs. */
static void magnitude(const int16_t *gx, const int16_t *gy, int16_t *out)
{
    for (int i = 0; i < PIXELS; i++) out[i] = (int16_t)(abs(gx[i]) + abs(gy[i]));
}

/* 1 where the gradient is more than three times the frame's mean, and more than noise. */
static void threshold(const int16_t *in, uint8_t *out)
{
    int sum = 0;
    for (int i = 0; i < PIXELS; i++) sum += in[i];
    int level = 3 * sum / PIXELS;
    if (level < 32) level = 32;
    for (int i = 0; i < PIXELS; i++) out[i] = in[i] > level;
}

static int root(int16_t *parent, int label)
{
    while (parent[label] != label) label = parent[label] = parent[parent[label]];
    return label;
}

/* Numbers the parts that hang together, also by corners: 1, 2, .. in the order of their first pixels. */
static void label(const uint8_t *in, int16_t *out)
{
    static _Thread_local int16_t parent[PIXELS / 2 + 2], number[PIXELS / 2 + 2];
    int labels = 0;
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++) {
            int here = y * COLUMNS + x, found = 0;
            out[here] = 0;
            if (!in[here]) continue;
            for (int k = 0; k < 4; k++) { /* left, and the three above */
                int nx = x + (k == 0 ? -1 : k - 2), ny = y - (k != 0);
                if (nx < 0 || nx >= COLUMNS || ny < 0 || !in[ny * COLUMNS + nx]) continue;
                int other = root(parent, out[ny * COLUMNS + nx]);
                if (!found) found = other;
                int low = found < other ? found : other;
                parent[found] = parent[other] = (int16_t)low;
                found = low;
            }
            if (!found) {
                found = ++labels;
                parent[found] = (int16_t)found;
            }
            out[here] = (int16_t)found;
        }
    int parts = 0;
    for (int i = 1; i <= labels; i++) number[i] = root(parent, i) == i ? (int16_t)++parts : 0;
    for (int i = 0; i < PIXELS; i++)
        if (out[i]) out[i] = number[root(parent, out[i])];
}

/* A colour for each number; nothing is black. */
static void paint(const int16_t *in, uint8_t *out)
{
    for (int i = 0; i < PIXELS; i++) {
        uint32_t mixed = (uint32_t)in[i] * 2654435761u;
        for (int c = 0; c < 3; c++) out[3 * i + c] = in[i] ? (uint8_t)(64 + (mixed >> (8 * c + 5)) % 192) : 0;
    }
}

/* Pictures from files, PGM in and PPM out: their names have a number, `frames/%03d.pgm`. */
typedef struct {
    char path[200];
} Files;

static uint32_t files_init(const cw_task *task, void **state)
{
    Files *files = calloc(1, sizeof *files);
    for (uint64_t i = 0; files && i < task->params_count; i++)
        if (strcmp(task->params[i].name, "path") == 0 && task->params[i].text)
            snprintf(files->path, sizeof files->path, "%s", task->params[i].text);
    const char *sign = files ? strchr(files->path, '%') : NULL;
    if (!sign || strncmp(sign, "%03d", 4) != 0 || strchr(sign + 1, '%')) {
        snprintf(task->error, task->error_bytes, "param path: a name with %%03d for the picture's number is needed");
        free(files);
        return CW_ERROR;
    }
    *state = files;
    return CW_OK;
}

static uint32_t files_finish(void *state, char *error, uint64_t error_bytes)
{
    (void)error, (void)error_bytes;
    free(state);
    return CW_OK;
}

static FILE *picture(const Files *files, uint64_t number, const char *mode, char *name, size_t bytes)
{
    const char *sign = strchr(files->path, '%');
    snprintf(name, bytes, "%.*s%03d%s", (int)(sign - files->path), files->path, (int)number, sign + 4);
    return fopen(name, mode);
}

static cw_result failed(const cw_batch *b, uint64_t fired, const char *name, const char *what)
{
    snprintf(b->error, b->error_bytes, "%s: %s", name, what);
    cw_result result = {fired, CW_ERROR, 0};
    return result;
}

static cw_result read_fire(void *state, const cw_batch *b)
{
    char name[256];
    for (uint64_t j = 0; j < b->firings; j++) {
        FILE *file = picture(state, b->first + j, "rb", name, sizeof name);
        if (!file && b->first + j == 0) return failed(b, j, name, "there is no first picture");
        if (!file) return cw_end(j);
        int columns = 0, rows = 0, most = 0;
        int header = fscanf(file, "P5 %d %d %d", &columns, &rows, &most) == 3 && fgetc(file) != EOF;
        size_t got = fread(cw_out_at(b, 0, j), 1, PIXELS, file);
        fclose(file);
        if (!header || columns != COLUMNS || rows != ROWS || most != 255 || got != PIXELS)
            return failed(b, j, name, "a PGM (P5) of 96 x 64 pixels with 255 greys is needed");
    }
    return cw_done(b->firings);
}

static cw_result write_fire(void *state, const cw_batch *b)
{
    char name[256];
    for (uint64_t j = 0; j < b->firings; j++) {
        FILE *file = picture(state, b->first + j, "wb", name, sizeof name);
        if (!file) return failed(b, j, name, "it cannot be written");
        fprintf(file, "P6\n%d %d\n255\n", COLUMNS, ROWS);
        size_t put = fwrite(cw_in_at(b, 0, j), 1, 3 * PIXELS, file);
        if (fclose(file) != 0 || put != 3 * PIXELS) return failed(b, j, name, "it cannot be written whole");
    }
    return cw_done(b->firings);
}

#define HEAD(NAME, FLAGS) .abi_version = CW_ABI_VERSION, .struct_bytes = sizeof(cw_kernel), .name = NAME, .flags = FLAGS

/* A kernel with one input and one output, a frame each. */
#define STAGE(NAME, IN, IN_TYPE, OUT, OUT_TYPE, VALUES)                                                                \
    static cw_result NAME##_fire(void *state, const cw_batch *b)                                                       \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        for (uint64_t j = 0; j < b->firings; j++) NAME((const IN *)cw_in_at(b, 0, j), (OUT *)cw_out_at(b, 0, j));      \
        return cw_done(b->firings);                                                                                    \
    }                                                                                                                  \
    static const cw_port NAME##_in = {.name = "in", .dtype = IN_TYPE, .bytes = PIXELS * sizeof(IN)};                   \
    static const cw_port NAME##_out = {.name = "out", .dtype = OUT_TYPE, .bytes = PIXELS * (VALUES) * sizeof(OUT)};    \
    CW_EXPORT const cw_kernel kernel_##NAME = {HEAD(#NAME, CW_STATELESS), .inputs = 1, .input_ports = &NAME##_in,      \
                                               .outputs = 1, .output_ports = &NAME##_out, .fire = NAME##_fire};

STAGE(blur_rows, uint8_t, "u8", int16_t, "i16", 1)
STAGE(blur_columns, int16_t, "i16", uint8_t, "u8", 1)
STAGE(gradient_x, uint8_t, "u8", int16_t, "i16", 1)
STAGE(gradient_y, uint8_t, "u8", int16_t, "i16", 1)
STAGE(threshold, int16_t, "i16", uint8_t, "u8", 1)
STAGE(label, uint8_t, "u8", int16_t, "i16", 1)
STAGE(paint, int16_t, "i16", uint8_t, "u8", 3)

static cw_result magnitude_fire(void *state, const cw_batch *b)
{
    (void)state;
    for (uint64_t j = 0; j < b->firings; j++) magnitude(cw_in_at(b, 0, j), cw_in_at(b, 1, j), cw_out_at(b, 0, j));
    return cw_done(b->firings);
}

static const cw_port gradients[] = {{.name = "x", .dtype = "i16", .bytes = PIXELS * sizeof(int16_t)},
                                    {.name = "y", .dtype = "i16", .bytes = PIXELS * sizeof(int16_t)}};
static const cw_port sum_out = {.name = "out", .dtype = "i16", .bytes = PIXELS * sizeof(int16_t)};
CW_EXPORT const cw_kernel kernel_magnitude = {HEAD("magnitude", CW_STATELESS), .inputs = 2, .input_ports = gradients,
                                              .outputs = 1, .output_ports = &sum_out, .fire = magnitude_fire};

static const cw_port grey = {.name = "out", .dtype = "u8", .bytes = PIXELS};
CW_EXPORT const cw_kernel kernel_read = {HEAD("read", 0), .outputs = 1, .output_ports = &grey, .init = files_init,
                                         .fire = read_fire, .finish = files_finish};

static const cw_port colours = {.name = "in", .dtype = "u8", .bytes = 3 * PIXELS};
CW_EXPORT const cw_kernel kernel_write = {HEAD("write", 0), .inputs = 1, .input_ports = &colours, .init = files_init,
                                          .fire = write_fire, .finish = files_finish};
