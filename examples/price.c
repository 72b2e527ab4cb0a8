/* What moving a tensor into tiles costs: ./price tpu-v5e 'f32[4096,4096]{1,0}' 'f32[4096,4096]{1,0:T(8,128)}'
 */
#include <stdio.h>

#include <tilesim.h>

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: price MACHINE SRC DST\n");
        return 2;
    }
    ts_error *err = ts_error_new();
    ts_arena *arena = ts_arena_new();
    ts_price_request request = {.struct_bytes = sizeof request};
    const ts_price *price = NULL;
    if ((request.machine = ts_machine_load(err, arena, argv[1]))) {
        request.source = argv[2];
        request.destination = argv[3];
        price = ts_price_transfer(err, arena, &request);
    }
    if (price)
        printf("%lld cycles, %.3f us, limited by %s\n", (long long)ts_price_cycles(price),
               ts_price_microseconds(price), ts_price_limiter(price));
    else
        fprintf(stderr, "price: %s\n", ts_error_message(err));
    ts_arena_free(arena);
    ts_error_free(err);
    return !price;
}
