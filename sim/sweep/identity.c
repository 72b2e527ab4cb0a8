/* What an answer depends on: content of machine and files, the question, the version; hashed, FNV-1a of 128
 * bits. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json_quote.h"
#include "host/format.h"
#include "mesh/mesh_file.h"
#include "mosaic/mosaic.h"
#include "sweep/case.h"
#include "tilesim/version.h"

typedef unsigned __int128 hash128;

enum { MOST_FILE_BYTES = 1 << 30, BUCKETS = 1 << 12 };

static const hash128 basis = (hash128)0x6c62272e07bb0142 << 64 | 0x62b821756295c58d,
                     prime = (hash128)1 << 88 | 0x13b;

static hash128 add(hash128 hash, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)bytes[i]) * prime;
    return hash;
}

/* With its end, so that two texts are not one. */
static hash128 add_text(hash128 hash, const char *text) { return add(hash, text, strlen(text) + 1); }

static void print_hash(char out[33], hash128 hash) {
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)(hash >> 64), (unsigned long long)hash);
}

/* ---- What was hashed ---- */

typedef struct known {
    const char *name;
    char hash[33];
    struct known *next;
} known;

struct ts_sweep_hashes {
    ts_arena *arena;
    known *buckets[BUCKETS];
};

ts_sweep_hashes *ts_sweep_hashes_new(ts_arena *arena) {
    ts_sweep_hashes *hashes = TS_NEW(arena, ts_sweep_hashes);
    hashes->arena = arena;
    return hashes;
}

/* An empty hash: it is new. */
static known *find(ts_sweep_hashes *hashes, const char *name) {
    known **bucket = &hashes->buckets[add_text(basis, name) % BUCKETS];
    for (known *at = *bucket; at; at = at->next)
        if (strcmp(at->name, name) == 0) return at;
    known *new = TS_NEW(hashes->arena, known);
    new->name = ts_arena_copy_text(hashes->arena, name, strlen(name));
    new->next = *bucket;
    return *bucket = new;
}

/* ---- Machines and files ---- */

static bool hash_machine(ts_error *err, ts_sweep_hashes *hashes, const ts_sweep_case *asked, const char *name,
                         char out[17]) {
    known *machine = find(hashes, name);
    if (!machine->hash[0]) {
        ts_arena *scratch = ts_arena_new();
        const ts_machine *read =
            ts_machine_load_with(err, scratch, asked->machine, "set", asked->sets, asked->set_count);
        if (read) snprintf(machine->hash, sizeof machine->hash, "%016llx", (unsigned long long)read->hash);
        ts_arena_free(scratch);
    }
    snprintf(out, 17, "%.16s", machine->hash);
    return machine->hash[0] != '\0';
}

/* "FILE.npz:NAME" is of the file. */
static hash128 add_file(hash128 hash, ts_arena *scratch, const char *path) {
    size_t bytes;
    char *text;
    hash = add_text(hash, path);
    bool read = ts_file_read(NULL, scratch, ts_host_file(scratch, path), MOST_FILE_BYTES, &text, &bytes);
    return read ? add(add_text(hash, "read"), text, bytes) : add_text(hash, "none");
}

static hash128 hash_program(ts_arena *scratch, const char *path) {
    hash128 hash = basis;
    int count;
    const ts_program_file *files = ts_program_files(scratch, path, &count);
    for (int i = 0; i < count; i++)
        hash = files[i].text ? add(add_text(hash, files[i].path), files[i].text->text, files[i].text->length)
                             : add_file(hash, scratch, files[i].path);
    return hash;
}

static hash128 hash_file(ts_arena *scratch, const char *path) { return add_file(basis, scratch, path); }

static hash128 add_tree(hash128 hash, const ts_tree *tree) {
    if (tree->kind == TS_TREE_SCALAR) return add_text(add_text(hash, "is"), tree->text);
    hash = add_text(hash, tree->kind == TS_TREE_MAP ? "{" : "[");
    for (int i = 0; i < tree->count; i++) {
        if (tree->kind == TS_TREE_MAP) hash = add_text(hash, tree->entries[i].key);
        hash = add_tree(hash, tree->entries[i].value);
    }
    return add_text(hash, "}");
}

/* What it says, whichever files that is from; there need be no such machine, for the study may have
 * another. */
static hash128 hash_mesh(ts_arena *scratch, const char *path) {
    const ts_tree *tree = ts_mesh_file_tree(NULL, scratch, path);
    return tree ? add_tree(basis, tree) : add_text(basis, "none");
}

typedef hash128 (*file_hash)(ts_arena *scratch, const char *path);

static const char *hash_once(ts_sweep_hashes *hashes, const char *path, file_hash hash) {
    known *file = find(hashes, path);
    if (!file->hash[0]) {
        ts_arena *scratch = ts_arena_new();
        print_hash(file->hash, hash(scratch, path));
        ts_arena_free(scratch);
    }
    return file->hash;
}

/* "" stays where no file is read. A Pallas kernel names files of Python, of which no answer depends. */
static void hash_inputs(ts_sweep_hashes *hashes, const ts_sweep_case *asked, char out[33]) {
    bool program = asked->question == TS_SWEEP_PROGRAM && !ts_mosaic_is_module(asked->text);
    if (ts_sweep_has_mesh_file(asked)) snprintf(out, 33, "%.32s", hash_once(hashes, asked->mesh, hash_mesh));
    if (!ts_sweep_reads_file(asked)) return;
    hash128 hash = add_text(basis, hash_once(hashes, asked->text, program ? hash_program : hash_file));
    for (int i = 0; i < asked->input_count; i++)
        hash = add_text(hash, hash_once(hashes, asked->inputs[i].value, hash_file));
    print_hash(out, hash);
}

/* ---- Texts ---- */

/* An empty change is left out, so that the point is the same as in a study without changes. */
static const char *print_parameters(ts_arena *arena, const ts_sweep_point *point) {
    int count = 0;
    ts_text out = ts_text_begin(arena);
    for (int i = 0; i < point->study->name_count; i++) {
        const char *name = point->study->names[i];
        if (strcmp(name, TS_SWEEP_CHANGE) == 0 && !point->values[i][0]) continue;
        ts_text_add(&out, count++ ? ", " : "{");
        ts_json_quote(&out, name);
        ts_text_add(&out, ": ");
        ts_json_quote(&out, point->values[i]);
    }
    ts_text_add(&out, count ? "}" : "{}");
    return out.bytes;
}

static const char *print_question(ts_arena *arena, const ts_sweep_case *asked) {
    ts_text out = ts_text_begin(arena);
    ts_text_add(&out, "%s: %s", ts_sweep_question_text(asked->question), asked->text);
#define TEXT(name)                                                                                           \
    if (asked->name) ts_text_add(&out, "\n" #name ": %s", asked->name);
#define TRUTH(name)
#include "sweep/case_options.def"
    for (int i = 0; i < asked->define_count; i++)
        ts_text_add(&out, "\ndefine: %s=%s", asked->defines[i].name, asked->defines[i].value);
    for (int i = 0; i < asked->input_count; i++)
        ts_text_add(&out, "\ninput: %s=%s", asked->inputs[i].name, asked->inputs[i].value);
#define TEXT(name)
#define TRUTH(name)                                                                                          \
    if (asked->name) ts_text_add(&out, "\n" #name ": true");
#include "sweep/case_options.def"
    return out.bytes;
}

bool ts_sweep_identify(ts_error *err, ts_arena *arena, ts_sweep_hashes *hashes, const ts_sweep_point *point,
                       const ts_sweep_case *asked, ts_sweep_identity *identity) {
    *identity = (ts_sweep_identity){.parameters = print_parameters(arena, point),
                                    .question = print_question(arena, asked),
                                    .machine = ts_sweep_machine_text(arena, asked),
                                    .version = TS_VERSION};
    bool good = hash_machine(err, hashes, asked, identity->machine, identity->machine_hash);
    hash_inputs(hashes, asked, identity->input_hash);
    hash128 hash = add_text(basis, identity->version);
    hash = add_text(add_text(hash, identity->parameters), identity->question);
    hash = add_text(add_text(hash, identity->machine), identity->machine_hash);
    print_hash(identity->key, add_text(hash, identity->input_hash));
    return good;
}
