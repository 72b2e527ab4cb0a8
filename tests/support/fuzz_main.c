/* Runs a fuzz target without libFuzzer: on each file of its corpus, and on a fixed number of changed ones,
 * the same on every run (TS_ROUNDS: times as many). Argument: the folder of the corpus. Inputs are exact
 * allocations, so that ASan sees reads past them. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/rounds.h"

enum { RUNS = 2000, SANITIZED_RUNS = 2500, LARGEST = 4096, CHANGES = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    size_t size;
    uint8_t bytes[LARGEST];
} input;

static uint64_t state = 1;

static size_t below(size_t n) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(state >> 33) % n;
}

static void run(const input *in) {
    uint8_t *copy = malloc(in->size ? in->size : 1);
    if (!copy) abort();
    memcpy(copy, in->bytes, in->size);
    LLVMFuzzerTestOneInput(copy, in->size);
    free(copy);
}

static void erase(input *in, size_t at, size_t count) {
    memmove(in->bytes + at, in->bytes + at + count, in->size - at - count);
    in->size -= count;
}

static void insert(input *in, size_t at, const uint8_t *bytes, size_t count) {
    if (in->size + count > LARGEST) return;
    memmove(in->bytes + at + count, in->bytes + at, in->size - at);
    memmove(in->bytes + at, bytes, count);
    in->size += count;
}

/* Flips a bit, erases a piece, repeats a piece, inserts a byte or a piece of another input. */
static void change(input *in, const input *other) {
    static const char favourites[] = "0123456789(),:-_<>[]{}*+ \n\t\"'\\\xff";
    size_t at = below(in->size + 1), piece = below(8) + 1, from = below(other->size + 1);
    uint8_t byte = (uint8_t)favourites[below(sizeof favourites)];
    if (piece > in->size - at) piece = in->size - at;
    switch (below(5)) {
    case 0:
        if (at < in->size) in->bytes[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        erase(in, at, piece);
        break;
    case 2:
        insert(in, at, in->bytes + at, piece);
        break;
    case 3:
        insert(in, at, &byte, 1);
        break;
    default:
        insert(in, at, other->bytes + from, below(other->size - from + 1));
        break;
    }
}

static input *load(const char *folder, struct dirent **entries, int count) {
    input *inputs = calloc((size_t)count, sizeof *inputs);
    if (!inputs) abort();
    for (int i = 0; i < count; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%.500s/%s", folder, entries[i]->d_name);
        FILE *file = fopen(path, "rb");
        if (!file) abort();
        inputs[i].size = fread(inputs[i].bytes, 1, LARGEST, file);
        fclose(file);
    }
    return inputs;
}

static int visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

int main(int argc, char **argv) {
    struct dirent **entries = NULL;
    int count = argc == 2 ? scandir(argv[1], &entries, visible, alphasort) : 0;
    if (count <= 0) {
        fprintf(stderr, "usage: %s CORPUS, a folder with at least one file\n", argv[0]);
        return 2;
    }
    input *inputs = load(argv[1], entries, count);
    for (int i = 0; i < count; i++) run(&inputs[i]);
    int runs = rounds(RUNS, SANITIZED_RUNS);
    for (int i = 0; i < runs; i++) {
        static input changed;
        changed = inputs[below((size_t)count)];
        for (size_t k = below(CHANGES) + 1; k > 0; k--) change(&changed, &inputs[below((size_t)count)]);
        run(&changed);
    }
    printf("%d files and %d changed ones\n", count, runs);
    for (int i = 0; i < count; i++) free(entries[i]);
    free(entries);
    free(inputs);
    return 0;
}
