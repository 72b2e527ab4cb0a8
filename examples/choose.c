/* The best layouts for a tensor and its uses: ./choose tpu-v5e 'f32[1024,3]{1,0}' 'dma:hbm>vmem,reduce:1' */
#include <stdio.h>

#include <tilesim.h>

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: choose MACHINE SHAPE USES\n");
        return 2;
    }
    ts_error *err = ts_error_new();
    ts_arena *arena = ts_arena_new();
    ts_choice_request request = {
        .struct_bytes = sizeof request, .machine = argv[1], .shape = argv[2], .uses = argv[3]};
    const ts_choice *choice = ts_choose_layouts(err, arena, &request);
    for (int i = 0; choice && i < ts_choice_count(choice) && i < 3; i++)
        printf("%-34s %10lld cycles %12lld bytes\n", ts_choice_layout(choice, i),
               (long long)ts_choice_cycles(choice, i), (long long)ts_choice_bytes(choice, i));
    if (!choice) fprintf(stderr, "choose: %s\n", ts_error_message(err));
    ts_arena_free(arena);
    ts_error_free(err);
    return !choice;
}
