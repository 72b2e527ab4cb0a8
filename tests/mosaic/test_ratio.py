"""Kernels bound by transfers or by the matrix units take at most 1.3 times what programs/ take for the same shapes and blocks."""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent / "support")]
from cli import expect_json, main, test  # noqa: E402

MOST = 1.3
# Kernel, program, its parameters.
PAIRS = (("softmax", "softmax", {"ROWS": 32, "COLS": 256, "BLOCK": 16, "GROUP": 2}),
         ("layernorm", "layernorm", {"ROWS": 32, "COLS": 256, "BLOCK": 16, "GROUP": 2}),
         ("rmsnorm", "rmsnorm", {"ROWS": 32, "COLS": 384, "BLOCK": 16}),
         ("gelu", "gelu", {"ROWS": 48, "COLS": 256, "BLOCK": 16}),
         ("matmul_f32", "matmul_f32", {"M": 64, "N": 128, "K": 256}),
         ("matmul_int8_wide", "matmul_int8", {"M": 32, "N": 256, "K": 512}))


def cycles(path, parameters):
    defines = [word for name, value in parameters.items() for word in ("-D", f"{name}={value}")]
    return expect_json(["run", path, "-m", "tpu-v5e", "--time-only", "--exact", *defines])["cycles"]


@test
def kernels_are_as_fast_as_programs():
    for kernel, program, parameters in PAIRS:
        ratio = cycles(f"tests/mosaic/kernels/{kernel}.mlir", {}) / cycles(f"programs/{program}.tsim", parameters)
        print(f"# {kernel}: {ratio:.2f} times programs/{program}.tsim")
        assert ratio <= MOST, kernel


main()
