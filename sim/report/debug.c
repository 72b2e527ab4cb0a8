/* Events, registers and tensors as text. */
#include "report/debug.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "chip/remote.h"
#include "layout/convert.h"

/* ---- Events ---- */

/* "1,234"; "~1,234" where it was estimated. */
static char *show(char out[36], bool estimated, int64_t cycles) {
    char number[32];
    snprintf(out, 36, "%s%s", estimated ? "~" : "", ts_text_group_digits(number, cycles));
    return out;
}

/* The core's own latencies and banks are always simulated. */
static bool is_of_others(int stall) { return stall >= TS_STALL_SEMAPHORE && stall != TS_STALL_VMEM_BANK; }

static void add_stall(ts_text *out, bool estimated, int64_t cycles, int stall) {
    char number[36];
    ts_text_add(out, "%s cycle%s: %s\n", show(number, estimated && is_of_others(stall), cycles),
                cycles == 1 ? "" : "s", ts_stall_get(stall)->meaning);
}

static void add_head(ts_text *out, const ts_event_source *of, int64_t cycle, const ts_source *source,
                     int line) {
    enum { LOCATION = 23 }; /* columns, where files have names */
    char number[36];
    ts_text_add(out, "%12s  ", show(number, of->estimated, cycle));
    if (!of->program->includes) {
        ts_text_add(out, "%5d  ", line);
        return;
    }
    size_t begin = out->length;
    ts_program_print_location(of->program, source, line, out);
    int used = (int)(out->length - begin);
    ts_text_add(out, "%*s  ", used < LOCATION ? LOCATION - used : 0, "");
}

static void add_bundle_head(ts_text *out, const ts_event_source *of, int64_t cycle, int bundle) {
    add_head(out, of, cycle, ts_program_source(of->program, bundle), ts_program_line(of->program, bundle));
}

void ts_report_issued(const ts_event_source *of, int bundle, int64_t cycle, ts_text *out) {
    add_bundle_head(out, of, cycle, bundle);
    ts_program_print_bundle(of->program, bundle, out);
    ts_text_add(out, "\n");
}

void ts_report_stalled(const ts_event_source *of, int bundle, int64_t first_cycle, int64_t cycles, int stall,
                       ts_text *out) {
    add_bundle_head(out, of, first_cycle, bundle);
    ts_text_add(out, "  stalls ");
    add_stall(out, of->estimated, cycles, stall);
}

void ts_report_transferred(const ts_event_source *of, int transfer, const ts_dma_result *result,
                           ts_text *out) {
    char bytes[32], issued[36];
    const ts_transfer *what = &of->program->code.transfers[transfer];
    add_head(out, of, result->completed_cycle, what->source_text, what->line);
    ts_text_add(out, "  done: dma ");
    ts_program_print_transfer(of->program, transfer, out);
    ts_text_add(out, " (%s byte%s, issued at %s)\n", ts_text_group_digits(bytes, result->useful_bytes),
                result->useful_bytes == 1 ? "" : "s", show(issued, of->estimated, result->issued_cycle));
}

void ts_report_came(const ts_event_source *of, const ts_in_flight *transfer, ts_text *out) {
    char bytes[32], issued[36];
    const ts_chip_message *message = transfer->message;
    add_head(out, of, transfer->done_cycle, transfer->what->source_text, transfer->what->line);
    ts_text_add(out, "  came: dma ");
    ts_program_print_transfer(of->program, transfer->transfer, out);
    ts_text_add(out, " (%s byte%s of device %lld, issued at %s)\n",
                ts_text_group_digits(bytes, message->bytes), message->bytes == 1 ? "" : "s",
                (long long)message->source, show(issued, of->estimated, message->issued_cycle));
}

/* ---- Where it stands ---- */

void ts_report_where(const ts_session *session, ts_text *out) {
    const ts_program *program = ts_session_program(session);
    ts_session_state state;
    char cycle[36];
    ts_session_look(session, &state);
    show(cycle, state.estimated, state.cycle);
    if (ts_session_device(session) >= 0)
        ts_text_add(out, "device %lld, ", (long long)ts_session_device(session));
    if (program->code.cores > 1) ts_text_add(out, "core %d, ", ts_session_followed(session));
    if (state.bundle < 0) {
        ts_text_add(out, "cycle %s: the program has ended\n", cycle);
        return;
    }
    ts_text_add(out, "cycle %s, ", cycle);
    ts_program_print_location(program, ts_program_source(program, state.bundle),
                              ts_program_line(program, state.bundle), out);
    ts_text_add(out, ": ");
    ts_program_print_bundle(program, state.bundle, out);
    ts_text_add(out, "\n");
    if (state.waits) {
        ts_text_add(out, "it waits for a semaphore or the DMA engine\n");
    } else if (state.stall >= 0) {
        ts_text_add(out, "it stalled ");
        add_stall(out, state.estimated, state.stall_cycles, state.stall);
    }
}

void ts_report_broken(const ts_session *session, int64_t devices, ts_text *out) {
    const char *before = "at a breakpoint: device ";
    for (int64_t i = 0; i < devices; i++) {
        if (!ts_session_is_at_breakpoint(session, i)) continue;
        ts_text_add(out, "%s%lld", before, (long long)i);
        before = ", ";
    }
    ts_text_add(out, "\n");
}

void ts_report_hit(const ts_session *session, ts_text *out) {
    const ts_watch_hit *hit = ts_session_hit(session);
    const ts_program *program = ts_session_program(session);
    ts_session_state state;
    char first[32], last[32], cycle[36];
    if (!hit) return;
    ts_session_look(session, &state);
    const ts_transfer *transfer = hit->instruction ? NULL : &program->code.transfers[hit->transfer];
    const ts_source *source = transfer ? transfer->source_text : hit->instruction->source;
    ts_text_add(out, "watch %d: at cycle %s, ", hit->watch, show(cycle, state.estimated, hit->cycle));
    ts_program_print_location(program, source, transfer ? transfer->line : hit->instruction->line, out);
    ts_text_add(out, ", bytes %s to %s of %s were written by ", ts_text_group_digits(first, hit->first),
                ts_text_group_digits(last, hit->end - 1), ts_space_text(hit->space));
    if (transfer) {
        ts_text_add(out, "dma ");
        ts_program_print_transfer(program, hit->transfer, out);
    } else {
        ts_text_add(out, "%s", ts_opcode_get(hit->instruction->opcode)->mnemonic);
    }
    ts_text_add(out, "\n");
}

void ts_report_watches(const ts_session *session, ts_text *out) {
    ts_watch_range range;
    char first[32], last[32];
    int count = 0;
    for (int i = 1; i <= TS_WATCHES; i++) {
        if (!ts_session_watch(session, i, &range)) continue;
        ts_text_add(out, "%d  bytes %s to %s of %s\n", i, ts_text_group_digits(first, range.first),
                    ts_text_group_digits(last, range.end - 1), ts_space_text(range.space));
        count++;
    }
    if (count == 0) ts_text_add(out, "no watches\n");
}

void ts_report_param(const ts_param *param, ts_text *out) {
    if (param->is_float)
        ts_text_add(out, "%s = %.9g\n", param->name, param->number);
    else
        ts_text_add(out, "%s = %lld\n", param->name, (long long)param->integer);
}

void ts_report_semaphores(ts_session *session, int first, int count, ts_text *out) {
    const ts_code *code = &ts_session_program(session)->code;
    for (int i = first; i < first + count; i++) {
        ts_text_add(out, "%-16s %lld\n", code->semaphore_names[i],
                    (long long)ts_chip_semaphore(ts_session_chip(session), ts_session_followed(session), i));
    }
    if (code->semaphore_count == 0) ts_text_add(out, "the program has no semaphores\n");
}

void ts_report_transfers(ts_session *session, ts_text *out) {
    const ts_program *program = ts_session_program(session);
    ts_session_state state;
    char number[36];
    int transfer, count = 0;
    int64_t issued;
    ts_session_look(session, &state);
    for (; ts_chip_transfer(ts_session_chip(session), count, &transfer, &issued); count++) {
        const ts_transfer *what = &program->code.transfers[transfer];
        ts_program_print_location(program, what->source_text, what->line, out);
        ts_text_add(out, ": dma ");
        ts_program_print_transfer(program, transfer, out);
        ts_text_add(out, ", issued at cycle %s\n", show(number, state.estimated, issued));
    }
    if (count == 0) ts_text_add(out, "no DMA is under way\n");
}

static const char *find_line(const ts_source *source, int line, size_t *length) {
    const char *at = source->text, *end = source->text + source->length;
    for (int i = 1; i < line && at < end; i++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
    }
    const char *next = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    *length = (size_t)((next ? next : end) - at);
    return at;
}

void ts_report_source(const ts_session *session, int around, ts_text *out) {
    const ts_code *code = &ts_session_program(session)->code;
    ts_session_state state;
    ts_session_look(session, &state);
    const ts_instruction *next = state.bundle >= 0 ? &code->bundles[state.bundle].instructions[0] : NULL;
    if (!next || !next->source) {
        ts_text_add(out, "the program has ended\n");
        return;
    }
    ts_text_add(out, "%s\n", ts_text_one_line(out->arena, next->source->name));
    for (int line = next->line - around; line <= next->line + around; line++) {
        size_t length;
        const char *text = line > 0 ? find_line(next->source, line, &length) : NULL;
        if (text && text < next->source->text + next->source->length)
            ts_text_add(out, "%s%5d  %.*s\n", line == next->line ? ">" : " ", line, (int)length, text);
    }
}

/* ---- Registers ---- */

bool ts_register_view_find(const char *text, ts_register_view *view) {
    static const char *const names[] = {"f32", "i32", "hex", "bf16"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(text, names[i]) == 0) {
            *view = (ts_register_view)i;
            return true;
        }
    }
    return false;
}

static void format_word(char out[40], uint32_t word, ts_register_view view) {
    switch (view) {
    case TS_VIEW_F32:
        snprintf(out, 40, "%.5g", (double)ts_f32_from_bits(word));
        return;
    case TS_VIEW_I32:
        snprintf(out, 40, "%d", (int32_t)word);
        return;
    case TS_VIEW_BF16:
        snprintf(out, 40, "%.3g:%.3g", (double)ts_f32_from_bits(word << 16),
                 (double)ts_f32_from_bits(word & 0xffff0000u));
        return;
    default:
        snprintf(out, 40, "%08x", word);
        return;
    }
}

enum { MOST_LANES = 6 };
/* As wide as a word gets; how many lanes a line has room for, and which where not all are shown. */
static const struct {
    int width, count, some[MOST_LANES];
} grids[] = {
    [TS_VIEW_F32] = {12, 6, {0, 1, 2, 3, 126, 127}},
    [TS_VIEW_I32] = {12, 6, {0, 1, 2, 3, 126, 127}},
    [TS_VIEW_HEX] = {12, 6, {0, 1, 2, 3, 126, 127}},
    [TS_VIEW_BF16] = {19, 4, {0, 1, 126, 127}},
};

static void add_words(ts_text *out, const uint32_t *words, const int *lanes, int count,
                      ts_register_view view) {
    char text[40];
    for (int i = 0; i < count; i++) {
        format_word(text, words[lanes[i]], view);
        ts_text_add(out, " %*s", grids[view].width, text);
    }
}

static double number_of(uint32_t word, ts_register_view view) {
    return view == TS_VIEW_F32 ? (double)ts_f32_from_bits(word) : (double)(int32_t)word;
}

/* The least and the largest; NaN is neither, and counted. */
static void add_range(ts_text *out, const uint32_t *words, ts_register_view view) {
    double least = (double)INFINITY, most = -least;
    int nans = 0;
    for (int i = 0; i < TS_VREG_WORDS; i++) {
        double value = number_of(words[i], view);
        nans += value != value;
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    if (view == TS_VIEW_I32)
        ts_text_add(out, "all 1,024 words: %.0f to %.0f\n", least, most);
    else if (view == TS_VIEW_F32 && nans == TS_VREG_WORDS)
        ts_text_add(out, "all 1,024 words: NaN\n");
    else if (view == TS_VIEW_F32)
        ts_text_add(out, "all 1,024 words: %.6g to %.6g, %d NaN\n", least, most, nans);
}

static void add_grid(ts_text *out, const uint32_t *words, ts_register_view view, bool whole) {
    int fits = grids[view].count;
    for (int first = 0; first < TS_LANES; first += fits) {
        int lanes[MOST_LANES], count = whole && TS_LANES - first < fits ? TS_LANES - first : fits;
        ts_text_add(out, "lane     ");
        for (int i = 0; i < count; i++) {
            lanes[i] = whole ? first + i : grids[view].some[i];
            ts_text_add(out, " %*d", grids[view].width, lanes[i]);
        }
        for (int sublane = 0; sublane < TS_SUBLANES; sublane++) {
            ts_text_add(out, "\nsublane %d", sublane);
            add_words(out, words + sublane * TS_LANES, lanes, count, view);
        }
        ts_text_add(out, "\n");
        if (!whole) return;
    }
}

static ts_core *followed(ts_session *session) {
    return (ts_core *)(uintptr_t)ts_chip_core(ts_session_chip(session), ts_session_followed(session));
}

void ts_report_register(ts_session *session, ts_register reg, ts_register_view view, bool whole,
                        ts_text *out) {
    const uint32_t *words = ts_core_register(followed(session), reg.kind, reg.reg);
    if (reg.kind == TS_OPERAND_SREG) {
        ts_text_add(out, "s%d = %d (0x%08x)\n", reg.reg, (int32_t)words[0], words[0]);
        return;
    }
    add_grid(out, words, view, whole);
    add_range(out, words, view);
}

void ts_report_scalars(ts_session *session, ts_text *out) {
    int count = ts_session_chip(session) ? ts_chip_limits(ts_session_chip(session))->sregs : 0, shown = 0;
    ts_core *core = followed(session);
    for (int i = 0; i < count; i++) {
        int32_t value = (int32_t)*ts_core_register(core, TS_OPERAND_SREG, i);
        if (value != 0) {
            ts_text_add(out, "s%d = %d\n", i, value);
            shown++;
        }
    }
    ts_text_add(out, shown == 0 ? "all scalar registers are 0\n" : "the others are 0\n");
}

/* ---- Tensors ---- */

static void add_element(ts_text *out, const ts_host_array *array, int64_t flat) {
    int bytes = ts_dtype_get(array->dtype)->stored_bits / 8;
    uint64_t bits = 0;
    memcpy(&bits, array->bytes + flat * bytes, (size_t)(bytes < 8 ? bytes : 8));
    char text[32] = "?";
    if (ts_dtype_has_value(array->dtype))
        snprintf(text, sizeof text, "%.6g", ts_element_to_double(array->dtype, bits));
    ts_text_add(out, " %10s", text);
}

static void add_row_index(ts_text *out, const ts_host_array *array, const int64_t *begin, int64_t row) {
    int64_t index[TS_HOST_RANK];
    for (int i = array->rank - 2; i >= 0; i--) {
        index[i] = begin[i] + row % array->dims[i];
        row /= array->dims[i];
    }
    ts_text_add_char(out, '[');
    for (int i = 0; i < array->rank - 1; i++) ts_text_add(out, "%lld,", (long long)index[i]);
    if (array->rank > 0 && array->dims[array->rank - 1] == 1)
        ts_text_add(out, "%lld]", (long long)begin[array->rank - 1]);
    else
        ts_text_add(out, array->rank > 0 ? ":]" : "]");
}

void ts_report_box(const char *name, const ts_host_array *array, const int64_t *begin, ts_text *out) {
    enum { COLUMNS = 8, ROWS = 16 };
    int64_t columns = array->rank > 0 ? array->dims[array->rank - 1] : 1;
    int64_t elements = (int64_t)ts_host_array_elements(array), rows = columns > 0 ? elements / columns : 0;
    int64_t first = array->rank > 0 ? begin[array->rank - 1] : 0;
    ts_text_add(out, "%s, ", name);
    ts_host_array_print(array, out);
    ts_text_add(out, columns > 1 ? ", from column %lld on\n" : "\n", (long long)first);
    for (int64_t row = 0; row < rows && row < ROWS; row++) {
        add_row_index(out, array, begin, row);
        for (int64_t i = 0; i < columns && i < COLUMNS; i++) add_element(out, array, row * columns + i);
        ts_text_add(out, columns > COLUMNS ? " ...\n" : "\n");
    }
    if (rows > ROWS) ts_text_add(out, "and %s\n", ts_text_counted(out->arena, rows - ROWS, "more row"));
}
