"""The moves of bench_move.c by NumPy, one thread: a line "ratio to memcpy, name" for each that it has.

    python3 tests/bench/numpy_moves.py large|small
"""
import sys
import time

import numpy

ROUNDS = 5
SAMPLE_BYTES = 16 << 20


def tiled(dtype, rows, columns, packed=1):
    """Views of a row-major matrix and of its tiles of 8 x 128, rows interleaved by `packed`, with the same axes."""
    src = numpy.ones((rows, columns), dtype)
    dst = numpy.ones((rows // 8, columns // 128, 8 // packed, 128, packed), dtype)
    return src.reshape(rows // 8, 8 // packed, packed, columns // 128, 128), dst.transpose(0, 2, 4, 1, 3)


def turned(rows, columns):
    return numpy.ones((rows, columns), numpy.float32).T, numpy.ones((columns, rows), numpy.float32)


def channels(images, side, channels_):
    src = numpy.ones((images, side, side, channels_ // 4, 4), numpy.float32)
    dst = numpy.ones((images, channels_ // 4, side, side, 4), numpy.float32)
    return src.transpose(0, 3, 1, 2, 4), dst


def partitions(blocks, columns):
    src = numpy.ones((blocks, 128, columns), numpy.float32)
    return src.transpose(1, 0, 2), numpy.ones((128, blocks, columns), numpy.float32)


def retiled(rows, columns):
    src = numpy.ones((rows // 8, columns // 128, 4, 2, 128), numpy.uint16)
    return src.transpose(0, 2, 3, 1, 4), tiled(numpy.uint16, rows, columns, 2)[1]


def moves(large):
    """(name, source, destination)"""
    f32 = tiled(numpy.float32, *((8192, 8192) if large else (128, 256)))
    bf16 = tiled(numpy.uint16, *((8192, 16384) if large else (256, 256)), 2)
    yield "f32 {1,0} -> T(8,128)", *f32
    yield "f32 T(8,128) -> {1,0}", *f32[::-1]
    yield "bf16 {1,0} -> T(8,128)(2,1)", *bf16
    yield "bf16 T(8,128)(2,1) -> {1,0}", *bf16[::-1]
    yield "int8 {1,0} -> T(8,128)(4,1)", *tiled(numpy.int8, *((16384, 16384) if large else (256, 512)), 4)
    yield "f32 {1,0} -> {0,1}", *turned(*((8192, 8192) if large else (128, 256)))
    yield "bf16 T(8,128) -> T(8,128)(2,1)", *retiled(*((8192, 16384) if large else (256, 256)))
    yield "f32 NHWC -> NCHW4c", *channels(*((64, 128, 64) if large else (2, 16, 64)))
    yield "f32 -> partitions (Axe)", *partitions(*((512, 1024) if large else (2, 128)))


def best(function, times):
    """The seconds of one call, of the best round."""
    rounds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(times):
            function()
        rounds.append((time.process_time() - start) / times)
    return max(min(rounds), 1e-9)


def main():
    for name, src, dst in moves(sys.argv[1] == "large"):
        flat, other = numpy.ones(src.size, src.dtype), numpy.ones(src.size, src.dtype)
        times = max(1, SAMPLE_BYTES // src.nbytes)
        move = best(lambda: numpy.copyto(dst, src), times)
        print(f"{best(lambda: numpy.copyto(other, flat), times) / move:.3f} {name}", flush=True)


main()
