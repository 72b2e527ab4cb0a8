// What moving a tensor into tiles costs: ./price tpu-v5e 'f32[4096,4096]{1,0}' 'f32[4096,4096]{1,0:T(8,128)}'
#include <cstdio>
#include <memory>

#include <tilesim.h>

int main(int argc, char **argv) {
    std::unique_ptr<ts_error, void (*)(ts_error *)> err(ts_error_new(), ts_error_free);
    std::unique_ptr<ts_arena, void (*)(ts_arena *)> arena(ts_arena_new(), ts_arena_free);
    if (argc != 4) {
        std::fprintf(stderr, "usage: price MACHINE SRC DST\n");
        return 2;
    }
    ts_price_request request{};
    request.struct_bytes = sizeof request;
    request.machine = ts_machine_load(err.get(), arena.get(), argv[1]);
    request.source = argv[2];
    request.destination = argv[3];
    const ts_price *price = request.machine ? ts_price_transfer(err.get(), arena.get(), &request) : nullptr;
    if (!price) {
        std::fprintf(stderr, "price: %s\n", ts_error_message(err.get()));
        return 1;
    }
    std::printf("%lld cycles, %.3f us, limited by %s\n", (long long)ts_price_cycles(price),
                ts_price_microseconds(price), ts_price_limiter(price));
}
