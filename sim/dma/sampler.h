/* Leaving blocks of a traversal out: their time is taken from windows, in which it was measured. Private to
 * the layer. */
#ifndef TILESIM_DMA_SAMPLER_H
#define TILESIM_DMA_SAMPLER_H

#include "base/curve.h"
#include "base/ratio.h"
#include "dma/traversal.h"
#include "machine/dma_config.h"
#include "dram/hbm.h"

/* A box is simulated until the queues of the memory have settled, and then in a first window, whose time is
 * measured. From there the traversal jumps from position to position and is simulated in a window at each,
 * until the mean of the windows is known well enough: what no window held is left out and charged at that
 * mean. Where they do not tell it, the traversal goes on from behind the first window, and what was simulated
 * elsewhere is taken off again.
 *
 * ---- How well the mean is to be known ----
 *
 * Its standard error, as a part of the whole transfer, is to be one part in SAMPLER_ERROR; of SAMPLER_MANY
 * windows, or of all that there is room for, one in SAMPLER_ROUGHLY is enough. When SAMPLER_MANY say that all
 * there is room for would not be enough, no more are measured. A box that is one part in w of the transfer's
 * time may be off by sqrt(w) times as much, for the errors of boxes are independent. What windows held is
 * known, and counts for as much: of a large box that was simulated for a part p, the error is sqrt(1 - p)
 * times that of the mean. */
enum {
    SAMPLER_ERROR = 400,
    SAMPLER_ROUGHLY = 200,
    SAMPLER_LARGE = 4, /* a box is large if it is more than one part in so many of the transfer's time */
    SAMPLER_LEAST = 4, /* windows of a large box; */
    SAMPLER_LEAST_UNEVEN = 6,       /* of one where channels do not all get the same; */
    SAMPLER_LEAST_SMALL = 2,        /* of any other box; */
    SAMPLER_LEAST_SMALL_UNEVEN = 4, /* and where channels do not all get the same there */
    SAMPLER_MANY = 16,
    SAMPLER_MOST = 192, /* there is room for, however long the box is; */
    SAMPLER_LITTLE = 32 /* but of a rest that takes many more windows, one in so many */
};

/* ---- The work of blocks ----
 *
 * The mean goes by the lines that windows accessed: blocks of one kind have more or fewer, as their addresses
 * lie in lines. How many all have is known of those that were probed (positions.c). In a box of fewer than
 * SAMPLER_PROBED blocks these are few, and the mean goes by what was expected of the windows. */
enum { SAMPLER_PROBED = 1024 };

/* ---- Where it is worth it ----
 *
 * Windows are spread over a rest of at least SAMPLER_WORTH times the least windows; of a large box that reads
 * and writes the memory, whose queues each jump disturbs, over one of SAMPLER_WORTH_MIXED. In a shorter one
 * they are consecutive, SAMPLER_LEAST_UNEVEN or more, until one part in SAMPLER_ERROR is known and they do
 * not drift: what follows is charged at their mean, as far as it is alike (ts_traversal_alike). A rest of
 * less than SAMPLER_WORTH_CONSECUTIVE of these is simulated at once, as is what follows where they do not
 * tell; but in a rest of SAMPLER_LONG times SAMPLER_MOST they go on until they tell, for all of it could take
 * minutes. */
enum { SAMPLER_WORTH = 3, SAMPLER_WORTH_MIXED = 24, SAMPLER_WORTH_CONSECUTIVE = 8, SAMPLER_LONG = 8 };

/* ---- How long a window is ----
 *
 * As many blocks as are accepted from one refresh to the next, if the memory holds fewer accesses that wait;
 * SAMPLER_INTERVALS times as many in a large box, as reads and writes alternate. Acceptances come in bursts
 * (write drains), so what was served counts: the rate is the time of the window, times the accesses accepted
 * in it over those served. It is taken in time outside refreshes, and refreshes are then charged as they
 * fall. Where a transfer only reads or only writes, and the engine is far from setting the pace, a quarter of
 * the interval between two refreshes is enough. Where channels do not all get the same, windows are whole
 * iterations of the inner loops, if these are no more than SAMPLER_PERIODS times as long. */
enum {
    SAMPLER_BLOCKS = 8,     /* of a window, at least; */
    SAMPLER_FEW_BLOCKS = 2, /* if these access so many times what the memory holds: */
    SAMPLER_PLENTY = 4,
    SAMPLER_PERIOD = 16, /* of periods, at least */
    SAMPLER_PERIODS = 4,
    SAMPLER_INTERVALS = 2,
    SAMPLER_ALIGNED = 64 /* of the block where a window begins, if it has so many */
};

/* ---- Warming up ----
 *
 * The queues of the memory settle slowly. So where the engine does not set the pace, the first window begins
 * when SAMPLER_SETTLED times what the memory holds has been accessed by the transfer; SAMPLER_UNEVEN times
 * where channels do not all get the same, for these soon forget how they began. Behind a jump what it holds
 * is accessed once before a window, and there SAMPLER_UNEVEN_WARM times; the time that this takes is that of
 * windows for as much.
 *
 * With each jump reads and writes lose some of their pace. Where a large box has windows that grow, or
 * shrink, one by one, by one part in SAMPLER_DRIFT and more than SAMPLER_SURE standard errors of that slope,
 * they are measured again, without jumps, after as many accesses again as there were, if it is SAMPLER_ROOM
 * times what they began behind. */
enum {
    SAMPLER_SETTLED = 80,
    SAMPLER_UNEVEN = 24,
    SAMPLER_UNEVEN_WARM = 4,
    SAMPLER_DRIFT = 200,
    SAMPLER_SURE = 3,
    SAMPLER_ROOM = 10
};

/* ---- Where the engine sets the pace ----
 *
 * Two windows at its pace are enough, unless other blocks have so many fewer elements that the memory might
 * not keep up with it there. Where it sets the pace, or nearly, windows alternate between positions where
 * blocks have more elements by work than all have, and fewer, until they have as many together. The memory is
 * no slower than in the window where it was fastest: if it has time to spare then, it is the engine that sets
 * the pace. */
enum {
    SAMPLER_LEAST_ENGINE_BOUND = 2,
    SAMPLER_LOOKED_AT = 16, /* positions for a window, at most */
    SAMPLER_PARTS = 16      /* of a box, for each of which it is asked whether the engine sets the pace */
};

/* ---- Many boxes ----
 *
 * More boxes than SAMPLER_BOXES, and fewer than SAMPLER_MOST_BOXES, are taken as one, where the engine sets
 * the pace in the first window, or there are SAMPLER_JOINED times the lines that SAMPLER_JOINED_MANY windows
 * need. In these, boxes with the same loops take the same time by lines: so positions are spread over the
 * boxes as sorted by their work, and a window stands for what lies nearest to it there (base/curve.h); the
 * first only says how long they are, unless the transfer ends before another does. Behind a jump,
 * SAMPLER_JOINED_WARM times what the memory holds is accessed first. The engine does not wait for the memory,
 * which may fall far behind it in some boxes and catch up in others: how fast the memory is, those windows
 * say that begin and end with it behind; in others it is as fast as they were, or faster. All boxes take what
 * a queue takes that the engine fills and the memory empties, box by box.
 *
 * The standard error of the memory's pace is to be one part in SAMPLER_JOINED_ERROR, of SAMPLER_JOINED_LEAST
 * windows or more, or the engine sets the pace in all of half of these; of all that there is room for, up to
 * SAMPLER_JOINED_MOST, one in SAMPLER_BARELY, if they are SAMPLER_JOINED_MANY. Where there is no room for so
 * many, the engine is to set the pace in SAMPLER_LEAST, spread by blocks. If not, or if the error is more
 * than one part in SAMPLER_HOPE of SAMPLER_MANY windows, each box is by itself. */
enum {
    SAMPLER_BOXES = 16,
    SAMPLER_MOST_BOXES = 1 << 14,
    SAMPLER_JOINED = 3,
    SAMPLER_JOINED_WARM = 6,
    SAMPLER_JOINED_RATES = 2,  /* windows that say how fast the memory is, at least */
    SAMPLER_JOINED_BEHIND = 3, /* for so many there is room behind the last */
    SAMPLER_JOINED_MANY = 24,
    SAMPLER_JOINED_ERROR = 280,
    SAMPLER_JOINED_LEAST = 8,
    SAMPLER_JOINED_MOST = TS_CURVE_MOST,
    SAMPLER_BARELY = 100,
    SAMPLER_HOPE = 40
};

/* ---- What it keeps ---- */

/* Between two refreshes lies an interval, and the memory stands still for `stall` after each; 0: never. */
typedef struct {
    int64_t interval, stall; /* ticks */
    int64_t lines;           /* that may wait at it, or for it */
} sampler_memory;

/* What has happened so far. */
typedef struct {
    int64_t tick, parts;
    int64_t behind; /* ticks: how far the memory is behind the engine, and has not been taken to catch up */
    ts_traversal_totals totals;
    ts_hbm_stats hbm;
    ts_hbm_progress progress;
} sampler_sample;

typedef enum { SAMPLER_WARMS, SAMPLER_MEASURES, SAMPLER_RESTS } sampler_phase;

/* Of the box that is being watched. */
typedef struct {
    int64_t number; /* -1: none */
    int64_t elements;
    int64_t first_line; /* accessed before it */
    bool is_joined;     /* it is all boxes, */
    bool is_sorted;     /* and positions are in their order */
    sampler_phase phase;
    int64_t from, from_line; /* the window opens at this tick, when so many lines have been accessed */
    int64_t length;          /* of a window, about, in blocks; 0: not yet known */
    int64_t period;          /* no window is shorter, in blocks */
    int64_t alike;           /* blocks: from there on they are not like those of consecutive windows */
    bool is_even;            /* all channels have had as much to do until the last window */
    bool is_fine;            /* a quarter of the interval is enough for a window */
    double weight;           /* of the transfer's time, about */
    int64_t base;            /* the block after the first window, */
    ts_traversal_amount base_amount;               /* and of boxes as one what lies before it */
    int64_t stretch;                               /* the block where the traversal has gone on */
    ts_traversal_amount stretch_amount, simulated; /* from base to there, and simulated of it */
    double left;                                   /* the part of it that is not simulated */
    bool is_uncharged;                             /* blocks are left out that are not charged yet */
    sampler_sample open, before;                   /* before: when base was reached */
    int64_t open_block, open_line;
    bool is_consecutive;     /* its windows are */
    int passed_over;         /* positions where no window was wanted */
    int least, most;         /* windows: how many there are to be, and may be */
    int worth;               /* for a rest of fewer, windows of this kind are not worth it */
    bool any_engine_bound;   /* the engine set the pace of a window */
    bool is_engine_bound;    /* of all of them, or the memory has time to spare */
    int least_engine_bound;  /* how many of these are enough */
    ts_ratio ticks;          /* of the memory, in them, over their work */
    double fastest_pace;     /* the same of the window where it is least */
    double pace;             /* ticks by work, as far as that is known */
    ts_ratio first;          /* the same of the first window, where it does not count as one of them */
    double part;             /* where the window is: 0 to 1 */
    ts_curve rates;          /* of boxes as one: ticks of the memory by work; */
    int64_t last;            /* no window begins behind this block */
    sampler_sample measured; /* by the windows, in all */
    ts_traversal_amount measured_amount;
} sampler_box;

typedef struct {
    sampler_memory memory; /* interval 0: nothing is ever left out */
    double engine_ticks_per_part;
    int64_t elements; /* of all boxes */
    bool is_mixed;    /* the HBM is read and written */
    int64_t passed;   /* elements of the boxes before */
    int64_t charged;  /* ticks, for what was left out */
    sampler_box box;
} sampler;

typedef struct {
    int64_t to;            /* the block to go on with */
    bool in_vain;          /* from where the windows began: they did not agree */
    sampler_sample gained; /* what the blocks left out amount to, once it is known */
    int64_t quiet;         /* ticks outside refreshes, beside those gained */
    int64_t caught_up;     /* ticks that the memory took less for them than the engine; below 0: more */
} sampler_skip;

sampler_memory sampler_memory_of(const ts_hbm_config *hbm, const ts_dma_config *dma);
/* Ticks outside refreshes before `tick`: these fall due at multiples of the interval. */
int64_t sampler_quiet_ticks(const sampler_memory *memory, int64_t tick);
/* So many ticks outside refreshes later, or earlier. */
int64_t sampler_add_quiet(const sampler_memory *memory, int64_t tick, int64_t quiet);
/* From `tick` on, when a window of a quarter of the interval has no refresh in it. */
int64_t sampler_between_refreshes(const sampler_memory *memory, int64_t tick);

/* To be told of blocks simulated until `tick`, now and then. True when a window opens or closes here: then
 * sampler_look takes the sample, and is true itself when the traversal is to go on elsewhere. */
bool sampler_note(sampler *sampler, const ts_traversal *traversal, int64_t tick);
bool sampler_look(sampler *sampler, ts_traversal *traversal, const sampler_sample *now, bool is_even,
                  sampler_skip *skip);
/* The traversal is at another box, or -1: at its end. True when blocks were left out that are charged only
 * now. */
bool sampler_leave(sampler *sampler, int64_t box, int64_t behind, sampler_skip *skip);

/* ---- sampler_judge.c: whether the windows of a box tell its time. ---- */

/* Of the transfer's time, if boxes behind this one take no longer than it does and those before did. */
double sampler_weight_of(const sampler *sampler, const sampler_sample *now, double rate);
bool sampler_is_large(const sampler_box *box);
/* Does each window take longer than the one before, or each less long? Then the queues still settle. */
bool sampler_is_drifting(const sampler_box *box);
/* Is the mean of the windows taken? */
bool sampler_is_enough(const sampler_box *box);
/* Will all windows that there may be tell their mean? */
bool sampler_will_agree(const sampler_box *box);
/* Is it not worth it to measure more of a rest of so many blocks? Consecutive windows take nothing that the
 * rest would not: where that is long, there may be any number. */
bool sampler_is_vain(const sampler_box *box, int64_t rest);
/* Has the part more elements by work than all, by more than one part in SAMPLER_ERROR? 1; fewer: -1. */
int sampler_compare_elements(ts_traversal_amount part, ts_traversal_amount all);

#endif
