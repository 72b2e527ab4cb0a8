/* The trace of commands: exact lines of a few, and many in the order of cycles. */
#include "study/hbm_commands.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/hbm2.h"
#include "tests/support/test.h"

enum { KIB = 1024 };

/* The trace of `count` reads of 32 bytes, `stride` apart, the last of them `later`. */
static const char *trace(ts_arena *arena, const ts_hbm_config *config, int count, int stride, int64_t later) {
    ts_text text = ts_text_begin(arena);
    ts_hbm *hbm = ts_hbm_new(NULL, arena, config);
    ts_hbm_commands *commands = ts_hbm_commands_new(arena, config);
    ts_hbm_simulate_all(hbm);
    ts_hbm_commands_observe(commands, hbm);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 0, TS_HBM_UNLIMITED);
    for (int i = 0; i < count; i++)
        ts_hbm_stream_offer(stream, (int64_t)i * stride, 32, false, i + 1 == count ? later : 0);
    ts_hbm_drain(hbm);
    ts_hbm_commands_write(commands, &text);
    return text.bytes;
}

#define HEAD "cycle,command,channel,pseudo_channel,sid,bank_group,bank,row,column\n"

TEST_WITH_ARENA(test_lines) {
    ts_hbm_config config = hbm2;
    config.address_map = "off co bg ba ro pc ch";
    config.channels = 1;
    /* tRRD 4; tRCD 14 and a cycle more, as ACT takes two */
    assert_string_equal(trace(arena, &config, 2, 22 * KIB, 0), HEAD "1,ACT,0,0,0,0,0,0,-1\n"
                                                                    "5,ACT,0,0,0,2,1,1,-1\n"
                                                                    "16,RD,0,0,0,0,0,0,0\n"
                                                                    "20,RD,0,0,0,2,1,1,0\n");
    /* tREFI 3900, tRP 14, then the row bus; tRFC 260 after that the row is opened anew, its end counts */
    assert_string_equal(trace(arena, &config, 2, 32, 3905), HEAD "1,ACT,0,0,0,0,0,0,-1\n"
                                                                 "16,RD,0,0,0,0,0,0,0\n"
                                                                 "3900,PREA,0,0,-1,-1,-1,-1,-1\n"
                                                                 "3914,REFab,0,0,-1,-1,-1,-1,-1\n"
                                                                 "3915,REFab,0,1,-1,-1,-1,-1,-1\n"
                                                                 "4173,ACT,0,0,0,0,0,0,-1\n"
                                                                 "4188,RD,0,0,0,0,0,0,1\n");
}

/* More than are kept at first, of all channels, in order. */
TEST_WITH_ARENA(test_many) {
    const char *line = strchr(trace(arena, &hbm2, 5000, 64 * 37, 0), '\n') + 1;
    int reads = 0;
    long cycle = 0, channel = 0;
    for (; *line; line = strchr(line, '\n') + 1) {
        char *end;
        long now = strtol(line, &end, 10), of = strtol(strchr(end + 1, ',') + 1, NULL, 10);
        assert_true(now > cycle || (now == cycle && of >= channel));
        cycle = now;
        channel = of;
        reads += strncmp(end, ",RD,", 4) == 0;
    }
    assert_int_equal(reads, 5000);
}
