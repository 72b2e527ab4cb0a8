/* A chip in a mesh: what it sends to other chips, what comes from them, and stepping it up to a cycle.
 *
 * A remote transfer is read by the engine as any other is; its data leave over the links meanwhile, and the
 * last of them once the engine has read all. Then its semaphore grows. At the other end the bytes are
 * written, and the semaphore there grows, when the last have come; into HBM each chunk is written as it
 * comes, beside what the engine there does (dma/dma.h), and the last write must have been accepted. A device
 * signals semaphores of the core of its own core's number. */
#ifndef TILESIM_CHIP_REMOTE_H
#define TILESIM_CHIP_REMOTE_H

#include "chip/chip.h"

/* What goes from chip to chip: a remote transfer, or (transfer -1) a signal. Whoever has it may use it; its
 * memory is given back by the chip that made it. */
typedef struct ts_chip_message {
    struct ts_chip_message *next, *made; /* of those that are spare; that the same chip made before */
    ts_arena *arena;                     /* its own */
    int64_t source, destination;         /* devices */
    const int64_t *detour;               /* of the links: see ts_mesh_find_detour */
    int64_t bytes;                       /* on the links */
    int transfer, core, semaphore;
    int64_t by;                     /* what the semaphore grows by */
    int64_t number;                 /* of the sender's transfers */
    int64_t issued_cycle;           /* of the sender */
    int64_t left_ps, left_taken_ps; /* first chunk on its first link; -1: it has not left */
    int64_t source_begin[TS_LAYOUT_MAX_DIMS], begin[TS_LAYOUT_MAX_DIMS]; /* of the slices */
    const ts_instruction *instruction;                                   /* of a signal */
    bool values;                                                         /* else only time is wanted */
    bool into_hbm;        /* chunk by chunk: see ts_chip_feed */
    int64_t incoming;     /* its number there; -1: nothing has come yet */
    ts_arena *plan_arena; /* of its plan; NULL: it had none yet */
    struct ts_space *memory;
    uint8_t *buffer; /* of so many bytes */
    int64_t room;
    int64_t from_bits; /* where the bits lay that it holds; -1: it holds elements, row-major */
    int64_t *known;    /* with the sanitizer: what the sender knew (check/arrivals.h) */
} ts_chip_message;

typedef struct ts_chip_links {
    void *self;
    const ts_core_device *device;
    /* From this cycle on data leave; or the signal does. */
    void (*send)(void *self, ts_chip_message *message, int64_t cycle);
    /* Of a transfer that was sent: all was read. */
    void (*read)(void *self, ts_chip_message *message, int64_t cycle);
    /* Before the chip has what came. */
    void (*received)(void *self, const ts_chip_message *message, int64_t cycle);
} ts_chip_links;

typedef struct {
    int64_t max_cycles, until;
} ts_chip_span;

/* All that happens before cycle `until`, or until a message was sent or read (*has_message): it may leave at
 * once, and its answer come before `until`. *next: nothing more happens before that cycle (INT64_MAX: until
 * another chip does something). */
bool ts_chip_advance(ts_error *err, ts_chip *chip, const ts_chip_span *span, int64_t *next,
                     bool *has_message);
/* Transfer `number` has left, at a cycle up to which the chip was advanced. */
void ts_chip_sent(ts_chip *chip, int64_t number, int64_t cycle);
/* Of a message that goes into HBM: a chunk is there from a cycle on; the chip was advanced up to it or to
 * less. It receives the message itself, when all is written. */
bool ts_chip_feed(ts_error *err, ts_chip *chip, ts_chip_message *message, const ts_dma_chunk *chunk);
/* Any other message has come; it is the chip's from here on. */
bool ts_chip_receive(ts_error *err, ts_chip *chip, ts_chip_message *message, int64_t cycle);
bool ts_chip_halted(const ts_chip *chip);
/* At the end of a run: what the program left. */
void ts_chip_look_back(ts_chip *chip);
/* What a core waits for: a semaphore, or (-1) a barrier; NULL: it does not wait. */
const ts_instruction *ts_chip_waiting(const ts_chip *chip, int core, int *semaphore, int64_t *needed);

#endif
