/* Bills of transfers: as text and as JSON, of figures made by hand. */
#include "report/transfer.h"

#include <string.h>

#include "report/transfer_private.h"
#include "tests/support/group.h"
#include "tests/support/shapes.h"
#include "tests/support/transfers.h"
#include "tests/support/written.h"

static ts_machine *machine;
static ts_transfer_study study;

/* The plan and the places of a transfer; a cycle is a nanosecond. */
static void plan(const char *src, const char *dst) {
    ts_error err = {0};
    machine = TS_NEW(arena, ts_machine);
    *machine = *ts_machine_load(&err, arena, "tpu-v5e");
    ts_transfer_request request = parse_transfer(arena, machine, src, dst);
    if (!ts_transfer_price(&err, arena, &request, &study)) fail_msg("%s", err.message);
    machine->chip.sustained_khz = 1000000;
    machine->name = "m";
    machine->title = "of hand";
    study.by = (ts_core_program){0};
    study.cost = (ts_dma_cost){.transfer = {.kind = ts_dma_classify(study.plan),
                                            .useful_bytes = 16384,
                                            .src_bytes = 20000,
                                            .dst_bytes = 30000,
                                            .padding_bytes = 1000,
                                            .waste_bytes = 2500,
                                            .descriptors = 1,
                                            .runs = 7},
                               .cycles = 2000,
                               .fixed_cycles = 100,
                               .engine_cycles = 500,
                               .memory_cycles = 1000,
                               .limiter = "data"};
    study.cost.components[TS_DMA_COMPONENT_USEFUL] = 1500;
    study.cost.components[TS_DMA_COMPONENT_REORDER] = 475;
    study.cost.components[TS_DMA_COMPONENT_FIXED] = 25;
}

static const char *text_of(ts_transfer_detail detail) {
    ts_text out = ts_text_begin(arena);
    ts_report_transfer(&study, NULL, detail, &out);
    return out.bytes;
}

static const char *value(const char *key) {
    ts_text out = ts_text_begin(arena);
    ts_report_transfer_json(&study, NULL, TS_TRANSFER_COST, &out);
    return json_value(arena, out.bytes, key);
}

#define ROWS  "f32[16,256]{1,0}"
#define TILES "f32[16,256]{1,0:T(8,128)}"

/* 16 rows of two parts of 128 elements are in one piece; each side is one. */
TEST(a_bill) {
    plan(ROWS, TILES);
    assert_holds(text_of(TS_TRANSFER_COST),
                 "source        f32[16,256]{1,0}  in hbm at byte 0\n"
                 "destination   f32[16,256]{1,0:T(8,128)}  in hbm at byte 16,384\n"
                 "machine       m (of hand)\n"
                 "plan          retile: 1 box, 1 descriptor\n"
                 "runs          in one piece 32 of 512 B\n"
                 "              source alone 1 of 16 KiB\n"
                 "              destination alone 1 of 16 KiB\n"
                 "bytes         useful 16,384; moved at both ends 50,000: padding 1,000, burst waste 2,500\n"
                 "time          2,000 cycles, 2.000 us, 8.2 GB/s useful, 50.0 % of HBM's peak\n"
                 "  useful transfer                   1,500  75.0 %  ##############################\n"
                 "  padding                               0   0.0 %\n"
                 "  burst waste                           0   0.0 %\n"
                 "  row misses                            0   0.0 %\n"
                 "  bank and bus conflicts                0   0.0 %\n"
                 "  refresh                               0   0.0 %\n"
                 "  retile rate                         475  23.8 %  ##########\n"
                 "  fixed cost                           25   1.2 %  #\n"
                 "limiter       useful transfer: data: it moves data for 50.0 % of the time\n"
                 "energy        HBM ");
}

TEST(what_hbm_did) {
    plan(ROWS, TILES);
    study.cost.hbm = (ts_hbm_stats){.reads = 600,
                                    .writes = 400,
                                    .row_hits = 900,
                                    .activations = 1200,
                                    .read_to_write = 1000,
                                    .write_to_read = 2};
    study.cost.hbm.limiter_cycles[TS_HBM_LIMITER_DATA] = 700;
    study.cost.hbm.limiter_cycles[TS_HBM_LIMITER_REQUESTS] = 290;
    study.cost.hbm.limiter_cycles[TS_HBM_LIMITER_CCD] = 10;
    assert_holds(text_of(TS_TRANSFER_COST),
                 "HBM           1,000 bursts, 90.0 % row hits, 1,200 activations, 1,002 "
                 "turnarounds\n"
                 "              of its time 70.0 % data, 29.0 % requests, 1.0 % tCCD\n"
                 "time ");
    study.cost.hbm.forwarded = 100;
    study.cost.hbm.coalesced = 150;
    study.cost.hbm.limiter_cycles[TS_HBM_LIMITER_CCD] = 9;
    study.cost.transfer.rmw_lines = 1;
    study.cost.estimated = true;
    assert_holds(
        text_of(TS_TRANSFER_COST),
        "burst waste 2,500\n              1 access is a read-modify-write: it shares a word with other "
        "elements\n");
    assert_holds(text_of(TS_TRANSFER_COST),
                 "turnarounds\n              250 of the bursts are answered by its queues, without the pins\n"
                 "              of its time 70.1 % data, 29.0 % requests\n"
                 "time          ~2,000 cycles, 2.000 us, 8.2 GB/s useful, 37.5 % of HBM's peak\n");
    study.cost.memory_cycles = 0;
    assert_holds(text_of(TS_TRANSFER_COST), "8.2 GB/s useful\n  useful");
}

/* At most five, of 1 % at least. */
TEST(shares_of_its_time) {
    ts_hbm_stats hbm = {0};
    ts_text out = ts_text_begin(arena);
    report_add_limiters(&out, "x ", &hbm);
    assert_string_equal(out.bytes, "\n");
    for (int i = 0; i < 6; i++) hbm.limiter_cycles[i] = 10 + i;
    ts_text_clear(&out);
    report_add_limiters(&out, "x ", &hbm);
    assert_string_equal(out.bytes,
                        "x of its time 20.0 % tCCD, 18.7 % row_bus, 17.3 % column_bus, 16.0 % scheduling, "
                        "14.7 % requests\n");
}

/* The number behind what limits it. The part is not said twice. */
TEST(what_limits_it) {
    static const struct {
        ts_dma_limit limit;
        const char *limiter, *text;
    } rows[] = {
        {TS_DMA_LIMIT_BANDWIDTH, "x", "useful transfer: x: it moves data for 50.0 % of the time\n"},
        {TS_DMA_LIMIT_BANDWIDTH, "the useful transfer",
         "the useful transfer: it moves data for 50.0 % of the time\n"},
        {TS_DMA_LIMIT_PADDING, "x", "useful transfer: x: 2.0 % padding in the bytes moved\n"},
        {TS_DMA_LIMIT_WASTE, "x", "useful transfer: x: 5.0 % of the bytes moved are unused\n"},
        {TS_DMA_LIMIT_ROWS, "x", "useful transfer: x: a row is opened for every 2.5 bursts\n"},
        {TS_DMA_LIMIT_CONFLICTS, "x", "useful transfer: x\n"},
        {TS_DMA_LIMIT_ENGINE, "x", "useful transfer: x: 11 bytes a cycle, busy 25.0 %\n"},
        {TS_DMA_LIMIT_READS, "x", "useful transfer: x: 12 bytes a cycle\n"},
        {TS_DMA_LIMIT_PARTITIONS, "x", "useful transfer: x: 13 bytes a cycle for each that is reached\n"},
        {TS_DMA_LIMIT_DESCRIPTORS, "x", "useful transfer: x: 1,234\n"},
        {TS_DMA_LIMIT_FIXED, "x", "useful transfer: x\n"},
    };
    plan(ROWS, TILES);
    study.cost.hbm = (ts_hbm_stats){.reads = 600, .writes = 400, .activations = 400};
    study.cost.transfer.descriptors = 1234;
    machine->dma.bytes_per_cycle[TS_DMA_RETILE] = 11;
    machine->dma.read_bytes_per_cycle = 12;
    machine->dma.partition_bytes_per_cycle = 13;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        study.cost.limit = rows[i].limit;
        study.cost.limiter = rows[i].limiter;
        assert_holds(text_of(TS_TRANSFER_COST),
                     ts_text_format(arena, "limiter       %senergy ", rows[i].text));
    }
    assert_holds(text_of(TS_TRANSFER_COST), "plan          retile: 1 box, 1,234 descriptors\n");
}

TEST(who_does_it) {
    plan(ROWS, TILES);
    study.cost.transfer.kind = TS_DMA_GATHER;
    study.by.status = "assumed";
    assert_holds(
        text_of(TS_TRANSFER_COST),
        "plan          gather, element by element: 1 box, 1 descriptor\n"
        "              the engine cannot retile (dma.rate.retile is 0, assumed), nor does a program\n");
    study.by.slower = "p.tsim";
    study.by.slower_cycles = 4000;
    assert_holds(text_of(TS_TRANSFER_COST),
                 "is 0, assumed), and p.tsim takes 4,000\n                  cycles\n");
    study.by = (ts_core_program){
        .program = "p.tsim", .parameters = "-D A=1", .kind = TS_DMA_GATHER, .status = "public"};
    study.cost.transfer.kind = TS_DMA_CORE_PROGRAM;
    assert_holds(text_of(TS_TRANSFER_COST),
                 "plan          core program: the engine cannot gather element by element "
                 "(dma.rate.gather is 0,\n                  public)\n              p.tsim -D A=1\n");
    assert_holds(text_of(TS_TRANSFER_COST), "\n  core program                        475  23.8 %  ");
    assert_string_equal(value("core_program"), "{\"program\":\"p.tsim\",\"parameters\":\"-D A=1\","
                                               "\"engine_cannot\":\"gather\",\"status\":\"public\"}");
    study.cost.transfer.kind = TS_DMA_COPY;
    study.by.program = NULL;
    assert_holds(text_of(TS_TRANSFER_COST), "\n  reordering                          475  23.8 %  ");
}

/* Three classes of lengths, the longest first; what is in one class has a range. */
TEST(lengths_of_runs) {
    plan("f32[3,200]{1,0:T(8,128)}", "f32[3,200]{1,0}");
    assert_holds(text_of(TS_TRANSFER_COST), "runs          in one piece 3 of 512 B, 3 of 288 B\n");
    plan("s4[1,3]{1,0:E(4)}", "s4[1,3]{1,0:E(4)}");
    assert_holds(text_of(TS_TRANSFER_COST), "runs          in one piece 1 of 12 bits\n");
    plan("f32[2097152]{0}", "f32[2097152]{0}");
    assert_holds(text_of(TS_TRANSFER_COST), "runs          in one piece 1 of 8 MiB\n");
    plan("f32[375]{0}", "f32[375]{0}");
    assert_holds(text_of(TS_TRANSFER_COST), "runs          in one piece 1 of 1,500 B\n");
    plan("f32[0]{0}", "f32[0]{0}");
    study.cost.cycles = 0;
    assert_holds(text_of(TS_TRANSFER_COST),
                 "runs          in one piece none\n              source alone none\n");
    assert_holds(text_of(TS_TRANSFER_COST), "0 cycles, 0.000 us, 0.0 GB/s useful");
    assert_holds(text_of(TS_TRANSFER_COST), "  useful transfer                   1,500   0.0 %\n");
    /* cuts at 120, 128, 240, 256 ..: of each of 8 rows 8 runs of 256 B or more, 5 of 128 or more, 2 of 64 or more, 1 */
    plan("f32[8,1000]{1,0:T(8,128)}", "f32[8,1000]{1,0:T(8,120)}");
    assert_holds(text_of(TS_TRANSFER_COST), "runs          in one piece 64 of 256 B to 480 B, 40 of 128 B to "
                                            "224 B, 16 of 64 B to 96 B, 8 shorter\n");
}

TEST(loops_of_boxes) {
    plan(ROWS, "f32[16,256]{0,1}");
    assert_null(strstr(text_of(TS_TRANSFER_COST), "boxes ("));
    assert_true(ts_text_ends(text_of(TS_TRANSFER_COST_AND_LOOPS),
                             "\n\nboxes (strides in bits, outermost loop first)\n"
                             "  0: 4096 elements from bit 0 to bit 131072\n"
                             "       for 256: src += 32, dst += 512\n"
                             "         for 16: src += 8192, dst += 32\n"));
}

/* Of each side the cheapest: how much less it takes, or that nothing takes less. */
TEST(other_layouts) {
    static const struct {
        int64_t cycles;
        const char *text;
    } rows[] = {
        {1000, "f32[16,256]{0,1}: ~1,000 cycles, 50.0 % less\n"},
        {1998, "f32[16,256]{0,1}: ~1,998 cycles, 0.1 % less\n"},
        {2000, "has no cheaper one; next f32[16,256]{0,1}: ~2,000 cycles, the same\n"},
        {3000, "has no cheaper one; next f32[16,256]{0,1}: ~3,000 cycles, 50.0 % more\n"},
        {2002, "has no cheaper one; next f32[16,256]{0,1}: ~2,002 cycles, 0.1 % more\n"},
    };
    plan(ROWS, TILES);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_transfer_others others[2] = {{1, {{parse_shape(arena, "f32[16,256]{0,1}"), rows[i].cycles, true}}},
                                        {0}};
        ts_text out = ts_text_begin(arena), json = ts_text_begin(arena);
        ts_report_transfer(&study, others, TS_TRANSFER_COST, &out);
        assert_true(
            ts_text_ends(out.bytes, ts_text_format(arena,
                                                   "\nother layout  source %s              destination "
                                                   "has none to try\n",
                                                   rows[i].text)));
        others[1] = others[0];
        others[0].count = 0;
        others[1].others[0].estimated = false;
        ts_report_transfer_json(&study, others, TS_TRANSFER_COST, &json);
        assert_string_equal(json_value(arena, json.bytes, "other_sources"), "[]");
        assert_string_equal(json_value(arena, json.bytes, "other_destinations"),
                            ts_text_format(arena,
                                           "[{\"shape\":\"f32[16,256]{0,1}\",\"cycles\":%lld,"
                                           "\"estimated\":false}]",
                                           (long long)rows[i].cycles));
    }
}

TEST(as_json) {
    static const char *const rows[][2] = {
        {"schema", "\"tilesim.dma\""},
        {"machine", "\"m\""},
        {"cycles", "2000"},
        {"estimated", "false"},
        {"microseconds", "2"},
        {"useful_bytes", "16384"},
        {"moved_bytes", "50000"},
        {"padding_bytes", "1000"},
        {"padding_percent", "2"},
        {"waste_bytes", "2500"},
        {"gb_per_s", "8.192"},
        {"limiter", "\"data\""},
        {"limiter_part", "\"useful\""},
        {"kind", "\"retile\""},
        {"parts",
         "{\"useful\":1500,\"padding\":0,\"burst_waste\":0,\"row_misses\":0,\"conflicts\":0,\"refresh\":0,"
         "\"reordering\":475,\"fixed\":25}"},
        {"peak_percent", "37.5"},
        {"fixed_cycles", "100"},
        {"engine_cycles", "500"},
        {"memory_cycles", "1000"},
        {"descriptors", "1"},
        {"walked_runs", "7"},
        {"rmw_accesses", "3"},
        {"bursts", "1000"},
        {"forwarded", "100"},
        {"coalesced", "150"},
        {"row_hits", "900"},
        {"activations", "400"},
        {"hbm_limiters", "{\"tCCD\":9}"},
        {"src_at", "0"},
        {"dst_at", "16384"},
        {"runs_at_both", "[{\"shortest_bits\":4096,\"longest_bits\":4096,\"count\":32}]"},
        {"src_runs", "[{\"shortest_bits\":131072,\"longest_bits\":131072,\"count\":1}]"},
        {"dst_runs", "[{\"shortest_bits\":131072,\"longest_bits\":131072,\"count\":1}]"},
    };
    plan(ROWS, TILES);
    study.cost.hbm = (ts_hbm_stats){
        .reads = 600, .writes = 400, .activations = 400, .row_hits = 900, .forwarded = 100, .coalesced = 150};
    study.cost.hbm.limiter_cycles[TS_HBM_LIMITER_CCD] = 9;
    study.cost.transfer.rmw_lines = 3;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(value(rows[i][0]), rows[i][1]);
    plan("f32[8]{0}", "f32[8]{0}");
    ts_text out = ts_text_begin(arena);
    ts_report_transfer_json(&study, NULL, TS_TRANSFER_COST_AND_LOOPS, &out);
    assert_string_equal(json_value(arena, out.bytes, "box_count"), "1");
    assert_string_equal(json_value(arena, out.bytes, "boxes"),
                        "[{\"src_bits\":0,\"dst_bits\":32768,\"loops\":[[8,32,32]]}]");
}

/* ---- Several at once ---- */

TEST(a_mix) {
    plan(ROWS, TILES);
    ts_transfer_study both[2] = {study, study};
    both[1].cost.cycles = 1000;
    ts_dma_result results[2] = {{.completed_cycle = 3000}, {.completed_cycle = 4096}};
    ts_transfer_mix m = {.machine = machine,
                         .count = 2,
                         .alone = both,
                         .results = results,
                         .one_after_other = 8192,
                         .mix = {.cycles = 4096,
                                 .memory_cycles = 2048,
                                 .engine_cycles = 500,
                                 .moved_bytes = 5000,
                                 .pin_bytes = 4000}};
    m.mix.hbm.limiter_cycles[TS_HBM_LIMITER_DATA] = 1;
    ts_text out = ts_text_begin(arena);
    ts_report_transfer_mix(&m, &out);
    assert_string_equal(
        out.bytes,
        "machine       m (of hand)\n"
        "transfers      1 f32[16,256]{1,0}  in hbm at byte 0\n"
        "                 to f32[16,256]{1,0:T(8,128)}  in hbm at byte 16,384\n"
        "               2 f32[16,256]{1,0}  in hbm at byte 0\n"
        "                 to f32[16,256]{1,0:T(8,128)}  in hbm at byte 16,384\n"
        "\n                     alone us    together us    slowdown      alone GB/s   together GB/s\n"
        "               1        2.000          3.000       1.50x             8.2             5.5\n"
        "               2        1.000          4.096       4.10x            16.4             4.0\n"
        "\ntogether      4.096 us, 0.50 times one after the other (8.192 us)\n"
        "floor         2.048 us: the HBM at its peak, for the 4,000 bytes of all; 2.00 times that\n"
        "              and 1,000 bytes that its queues answer, without the pins\n"
        "engine        0.500 us, at its rates\n"
        "HBM           of its time 100.0 % data\n");
    m.mix.pin_bytes = m.mix.moved_bytes = 0;
    results[0].completed_cycle = 0;
    ts_text_clear(&out);
    ts_report_transfer_mix(&m, &out);
    assert_true(ts_text_ends(
        out.bytes, "for the 0 bytes of all; 2.00 times that\nengine        0.500 us, at its rates\n"));
    assert_holds(
        out.bytes,
        "               1        2.000          0.000       0.00x             8.2             0.0\n");
    ts_text_clear(&out);
    m.mix.pin_bytes = 4000;
    m.mix.moved_bytes = 5000;
    ts_report_transfer_mix_json(&m, &out);
    static const char *const rows[][2] = {
        {"schema", "\"tilesim.dma_mix\""},
        {"estimated", "false"},
        {"cycles", "4096"},
        {"microseconds", "4.096"},
        {"one_after_other_cycles", "8192"},
        {"memory_cycles", "2048"},
        {"engine_cycles", "500"},
        {"moved_bytes", "5000"},
        {"pin_bytes", "4000"},
        {"transfers", "[{\"source\":\"f32[16,256]{1,0}\",\"destination\":\"f32[16,256]{1,0:T(8,128)}\","
                      "\"useful_bytes\":16384,\"alone_cycles\":2000,\"alone_estimated\":false,"
                      "\"together_cycles\":0,\"slowdown\":0},"
                      "{\"source\":\"f32[16,256]{1,0}\",\"destination\":\"f32[16,256]{1,0:T(8,128)}\","
                      "\"useful_bytes\":16384,\"alone_cycles\":1000,\"alone_estimated\":false,"
                      "\"together_cycles\":4096,\"slowdown\":4.096}]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(json_value(arena, out.bytes, rows[i][0]), rows[i][1]);
}

int main(void) { return run_all_tests(begin_group, end_group); }
