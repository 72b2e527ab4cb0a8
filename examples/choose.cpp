// The best layouts for a tensor and its uses: ./choose tpu-v5e 'f32[1024,3]{1,0}' 'dma:hbm>vmem,reduce:1'
#include <cstdio>
#include <memory>

#include <tilesim.h>

int main(int argc, char **argv) {
    std::unique_ptr<ts_error, void (*)(ts_error *)> err(ts_error_new(), ts_error_free);
    std::unique_ptr<ts_arena, void (*)(ts_arena *)> arena(ts_arena_new(), ts_arena_free);
    if (argc != 4) {
        std::fprintf(stderr, "usage: choose MACHINE SHAPE USES\n");
        return 2;
    }
    ts_choice_request request{};
    request.struct_bytes = sizeof request;
    request.machine = argv[1];
    request.shape = argv[2];
    request.uses = argv[3];
    const ts_choice *choice = ts_choose_layouts(err.get(), arena.get(), &request);
    if (!choice) {
        std::fprintf(stderr, "choose: %s\n", ts_error_message(err.get()));
        return 1;
    }
    for (int i = 0; i < ts_choice_count(choice) && i < 3; i++)
        std::printf("%-34s %10lld cycles %12lld bytes\n", ts_choice_layout(choice, i),
                    (long long)ts_choice_cycles(choice, i), (long long)ts_choice_bytes(choice, i));
}
