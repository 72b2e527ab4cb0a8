"""The kernels of kernels.py as they are lowered and run: options, operands with what fills them, and how near values must be."""
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Tuple

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2] / "python" / "tilesim"))
import _fills  # noqa: E402

FOLDER = Path(__file__).resolve().parent / "kernels"
MACHINES = {4: "tpu-v4", 5: "tpu-v5e", 6: "tpu-v6e", 7: "tpu-v7x"}  # for which a text of a generation is run

EXACT = (0.0, 0.0)
F32 = (1e-5, 1e-5)  # a different order of sums, another exp: absolute and relative
BF16 = (1e-2, 2.0 ** -7)  # the last rounding is to bf16: a step of it
PASSES = (5e-2, 1e-2)  # f32 products whose op states no precision: operands may be rounded to bf16


@dataclass(frozen=True)
class Case:
    kind: str
    function: str
    operands: List[str]  # "type[shape] fill", or an array of integers
    near: Tuple[float, float]
    options: Dict[str, object] = field(default_factory=dict)
    generations: Tuple[int, ...] = (5,)
    mesh: str = ""  # then a function of mesh_kernels.py

    @property
    def source(self) -> str:
        """The file that has the function."""
        return f"tests/mosaic/{'mesh_' if self.mesh else ''}kernels.py"

    def fills(self, name: str) -> List[str]:
        return [operand.partition("] ")[2] if isinstance(operand, str) else f'file("{name}.in{i}.npy")' for i, operand in enumerate(self.operands)]


def uniform(kind: str, seed: int, low: float = -1, high: float = 1) -> str:
    return f"{kind} random(seed={seed}, lo={low}, hi={high})"


QKV = [uniform("bf16[2,128,128]", seed) for seed in (1, 2, 3)]
PAGES = [[37, 100, 64], [[3, 1, 0, 0], [7, 2, 5, 4], [6, 0, 0, 0]]]
PAGED = PAGES + [uniform("bf16[3,16,128]", 1), uniform("bf16[8,64,128]", 2), uniform("bf16[8,64,128]", 3)]
LIMITS = [-1 << 31, (1 << 31) - 1, 1 - (1 << 31), -1, 0, 1, 7, -7, 1 << 30, -1 << 30, 123456789, -987654321, 3, -3, (1 << 31) - 2, 100]
CASES = {
    "add": Case("elementwise", "add", [uniform("f32[32,256]", 1), uniform("f32[32,256]", 2)], EXACT, generations=(4, 5, 6, 7)),
    "add_ragged": Case("elementwise", "add", [uniform("f32[40,200]", 1), uniform("f32[40,200]", 2)], EXACT),
    "add_bf16": Case("elementwise", "add", [uniform("bf16[50,300]", 1), uniform("bf16[50,300]", 2)], BF16, {"block": 32}, (5, 6)),
    "add_line": Case("elementwise", "add_line", [uniform("f32[1000]", 1), uniform("f32[1000]", 2)], EXACT),
    "gelu": Case("elementwise", "gelu", [uniform("bf16[48,256]", 1, -4, 4)], BF16),
    "clamp_select": Case("elementwise", "clamp_select", [uniform("s32[24,130]", 1, -99, 99), uniform("s32[24,130]", 2, -99, 99)], EXACT, {"block": 8}),
    "update": Case("elementwise", "update", [uniform("f32[32,128]", 1), uniform("f32[32,128]", 2)], EXACT),
    "matmul_bf16": Case("matmul", "matmul_f32_out", [uniform("bf16[128,256]", 1), uniform("bf16[256,128]", 2)], F32, generations=(4, 5, 6, 7)),
    "matmul_bf16_blocks": Case("matmul", "matmul", [uniform("bf16[96,512]", 1), uniform("bf16[512,256]", 2)], BF16, {"blocks": (32, 256, 256)}, (5, 6)),
    "matmul_bf16_ragged": Case("matmul", "matmul", [uniform("bf16[100,128]", 1), uniform("bf16[128,200]", 2)], BF16, {"blocks": (64, 128, 128)}),
    "matmul_f32": Case("matmul", "matmul", [uniform("f32[64,256]", 1), uniform("f32[256,128]", 2)], PASSES, {"blocks": (64, 128, 128)}),
    "matmul_f32_highest": Case("matmul", "matmul_highest", [uniform("f32[64,256]", 1), uniform("f32[256,128]", 2)], F32, {"blocks": (64, 128, 128)}),
    "matmul_int8": Case("matmul", "matmul_int8", [uniform("s8[64,256]", 1, -128, 127), uniform("s8[256,128]", 2, -128, 127)], EXACT, {"blocks": (64, 128, 128)}, (5, 6)),
    "matmul_int8_wide": Case("matmul", "matmul_int8", [uniform("s8[32,512]", 1, -128, 127), uniform("s8[512,256]", 2, -128, 127)], EXACT, {"blocks": (32, 256, 512)}),
    "batched": Case("matmul", "batched", [uniform("bf16[3,32,128]", 1), uniform("bf16[3,128,128]", 2)], F32),
    "softmax": Case("rows", "softmax", [uniform("f32[32,256]", 1, -4, 4)], F32, generations=(5, 6)),
    "softmax_ragged": Case("rows", "softmax", [uniform("f32[20,200]", 1, -4, 4)], F32, {"block": 8}),
    "layernorm": Case("rows", "layernorm", [uniform("f32[32,256]", 1), uniform("f32[1,256]", 2), uniform("f32[1,256]", 3)], F32),
    "layernorm_ragged": Case("rows", "layernorm", [uniform("bf16[24,300]", 1), uniform("f32[1,300]", 2), uniform("f32[1,300]", 3)], BF16),
    "rmsnorm": Case("rows", "rmsnorm", [uniform("bf16[32,384]", 1), uniform("bf16[1,384]", 2)], BF16),
    "column_sums": Case("rows", "column_sums", [uniform("f32[64,256]", 1)], F32),
    "bias_gelu": Case("fused", "matmul_bias_gelu", [uniform("bf16[64,256]", 1), uniform("bf16[256,128]", 2), uniform("f32[1,128]", 3)], BF16, {"blocks": (64, 128, 128)}),
    "relu_transposed": Case("fused", "matmul_relu_transposed", [uniform("bf16[64,256]", 1), uniform("bf16[128,256]", 2)], BF16, {"blocks": (64, 128, 128)}, (5, 6)),
    "relu_transposed_f32": Case("fused", "matmul_relu_transposed", [uniform("f32[32,128]", 1), uniform("f32[128,128]", 2)], PASSES, {"blocks": (32, 128, 128)}),
    "flash": Case("attention", "flash", QKV, BF16, generations=(5, 6)),
    "flash_full": Case("attention", "flash", [uniform("bf16[1,64,128]", 1), uniform("bf16[1,256,128]", 2), uniform("bf16[1,256,128]", 3)], BF16, {"causal": False}),
    "flash_narrow": Case("attention", "flash", [uniform("f32[1,64,64]", seed) for seed in (1, 2, 3)], PASSES, {"bk": 64}),
    "flash_ragged": Case("attention", "ragged_flash", [[200, 77]] + [uniform(f"bf16[2,{n},128]", seed) for seed, n in ((1, 32), (2, 256), (3, 256))], BF16),
    "splash": Case("attention", "splash", [[[0, 0], [0, 0], [0, 1], [1, 1]], [[1, 0], [1, 0], [2, 1], [1, 0]]] + [uniform("bf16[1,256,128]", seed) for seed in (1, 2, 3)], BF16),
    "paged": Case("paged attention", "paged", PAGED, BF16),
    "paged_dma": Case("paged attention", "paged_dma", PAGED, BF16),
    "grouped": Case("grouped matmul", "grouped", [[0, 1, 1, 2], [0, 0, 1, 1], [0, 40, 90, 128], uniform("bf16[128,128]", 1), uniform("bf16[3,128,128]", 2)], BF16),
    "grouped_f32": Case("grouped matmul", "grouped", [[0, 1, 1], [0, 0, 1], [0, 16, 64], uniform("f32[64,128]", 1), uniform("f32[2,128,256]", 2)], PASSES, {"bm": 32}),
    "quantised": Case("quantised matmul", "quantised", [uniform("s8[64,256]", 1, -128, 127), uniform("s8[256,128]", 2, -128, 127), uniform("f32[1,128]", 3, 0.001, 0.01)], F32, {"blocks": (64, 128, 256)}),
    "weights_int8": Case("quantised matmul", "weights_int8", [uniform("bf16[64,256]", 1), uniform("s8[256,128]", 2, -128, 127), uniform("f32[1,128]", 3, 0.001, 0.01)], BF16),
    "pipeline_scale": Case("emit_pipeline", "pipeline_scale", [uniform("f32[64,128]", 1)], EXACT, generations=(5, 6)),
    "pipeline_matmul": Case("emit_pipeline", "pipeline_matmul", [uniform("bf16[128,256]", 1), uniform("bf16[256,128]", 2)], F32),
    "copy_hbm": Case("DMAs", "copy_hbm", [uniform("f32[40,200]", 1)], EXACT),
    "copy_ragged": Case("DMAs", "copy_ragged", [uniform("f32[200]", 1), uniform("bf16[2,5,70]", 2)], EXACT),
    "copy_blocks": Case("DMAs", "copy_blocks", [uniform("f32[200]", 1)], EXACT),
    "update_refs": Case("DMAs", "update_refs", [uniform("f32[64,128]", 1), uniform("f32[64,128]", 2)], EXACT),
    "gather_rows": Case("DMAs", "gather_rows", [[5, 0, 3, 3, 7], uniform("f32[64,128]", 1)], EXACT),
    "ragged_copies": Case("DMAs", "ragged_copies", [[[0, 13, 256], [5, 0, 128], [3, 5, 128]], uniform("f32[13,256]", 1), uniform("f32[3,13,256]", 2)], EXACT),
    "views": Case("DMAs", "views", [[24, 3, 8], uniform("f32[2,16,128]", 1), uniform("bf16[48,128]", 2)], EXACT),
    "views_narrow": Case("DMAs", "views_narrow", [uniform("s8[64,256]", 1, -128, 127)], EXACT),
    "handshake": Case("DMAs", "handshake", [uniform("f32[32,256]", 1)], EXACT),
    "transpose": Case("moves", "transpose", [uniform("f32[128,256]", 1)], EXACT),
    "rotate_halves": Case("moves", "rotate_halves", [uniform("f32[16,128]", seed) for seed in (1, 2, 3)], F32),
    "functions": Case("functions", "functions", [uniform("f32[8,128]", 1, -4, 4)], F32),
    "functions_bf16": Case("functions", "functions_bf16", [uniform("bf16[16,128]", 1, -4, 4)], BF16, generations=(5, 7)),
    "integers": Case("functions", "integers", [uniform("s32[8,128]", 1, -2147483648, 2147483520), uniform("s32[8,128]", 2, -2147483648, 2147483520)], EXACT),
    "integers_limits": Case("functions", "integers", [np.resize(np.repeat(LIMITS, 16), (8, 32)).tolist(), np.resize(LIMITS, (8, 32)).tolist()], EXACT),
    "integers_narrow": Case("functions", "integers_narrow", [uniform("s16[16,128]", 1, -9999, 9999), uniform("s16[16,128]", 2, -9999, 9999)], EXACT),
    "conversions": Case("conversions", "conversions", [uniform("f8e4m3fn[32,128]", 1, -400, 400), uniform("f8e5m2[32,128]", 2, -4, 4), uniform("s4[64,128]", 3, -8, 7), uniform("s8[32,128]", 4, -128, 127)], EXACT),
    "to_narrow": Case("conversions", "to_narrow", [uniform("f32[64,128]", 1)], EXACT, generations=(5, 7)),
    "saturated": Case("conversions", "saturated", [uniform("f32[32,128]", 1, -300, 300)], EXACT, generations=(5, 7)),
    "to_fp8": Case("conversions", "to_fp8", [uniform("f32[32,128]", 1, -500, 500)], EXACT, generations=(7,)),
    "mixed_products": Case("quantised matmul", "mixed_products", [uniform("f32[16,128]", 1), uniform("bf16[128,128]", 2), uniform("f8e4m3fn[128,128]", 3), uniform("s8[128,128]", 4, -8, 7), uniform("s4[128,128]", 5, -8, 7)], (5e-1, 1e-2)),
    "product_fp8": Case("matmul", "product_fp8", [uniform("f8e4m3fn[32,128]", 1), uniform("f8e4m3fn[128,128]", 2)], F32, generations=(5, 7)),
    "places": Case("rows", "places", [uniform("f32[8,256]", 1)], EXACT),
    "swap_rows": Case("moves", "swap_rows", [uniform("f32[4,8,128]", 1)], EXACT),
    "reshape": Case("moves", "reshape", [uniform("f32[16,256]", 1)], EXACT),
    "along_rows": Case("moves", "along_rows", [uniform("f32[8]", 1), uniform("f32[8,128]", 2), uniform("s32[8,128]", 3, 0, 127)], EXACT),
    "odd_rows": Case("moves", "odd_rows", [uniform("bf16[16,128]", 1)], EXACT),
    "transpose_narrow": Case("moves", "transpose_narrow", [uniform("bf16[32,128]", 1), uniform("s8[32,128]", 2, -128, 127)], EXACT, generations=(5, 7)),
    "scalars": Case("scalars", "scalars", [uniform("s8[3,8]", 1, -128, 127), uniform("f32[2,8]", 2), uniform("f32[8,128]", 3)], F32),
    "table_of_bytes": Case("scalars", "table_of_bytes", [uniform("s8[2,4]", 1, 0, 3), uniform("f32[32,128]", 2)], EXACT),
    "two_bits": Case("conversions", "two_bits", [uniform("s32[128,128]", 1, -9, 9)], EXACT),
    "steps_before": Case("scalars", "steps_before", [[5, 7, 11, 13], uniform("f32[32,128]", 1)], EXACT),
    "table_of_nibbles": Case("scalars", "table_of_nibbles", [uniform("s4[2,19]", 1, -8, 7)], EXACT),
    "scalars_bf16": Case("scalars", "scalars_bf16", [uniform("bf16[16,128]", 1, 0.125, 4)], BF16),
    "divisions": Case("functions", "divisions", [[[17, 5], [-17, 5], [17, -5], [-2147483647, -3], [-1, 2147483647]]] + [uniform("s32[8,128]", seed, -2147483648, 2147483520) for seed in (1, 2)], EXACT),
    "remainders": Case("functions", "remainders", [uniform("f32[8,32]", 1, -4, 4), uniform("f32[8,32]", 2, -4, 4)], EXACT),
    "remainders_bf16": Case("functions", "remainders", [uniform("bf16[16,32]", 1, -4, 4), uniform("bf16[16,32]", 2, -4, 4)], EXACT, generations=(7,)),
    "narrow_constants": Case("conversions", "narrow_constants", [uniform("f32[32,32]", 1, -400, 400)], EXACT),
    "permute": Case("many devices", "permute", [uniform("f32[8,512]", 1)], EXACT, mesh="x=4"),
    "swap_rows_of_devices": Case("many devices", "swap_rows_of_devices", [uniform("f32[64,128]", 1)], EXACT, mesh="x=2,y=2"),
    "all_gather": Case("many devices", "all_gather", [uniform("f32[64,128]", 1)], EXACT, generations=(5, 6), mesh="x=4"),
    "all_gather_meeting": Case("many devices", "all_gather_meeting", [uniform("bf16[32,512]", 1)], EXACT, mesh="x=2,y=4"),
    "all_reduce": Case("many devices", "all_reduce", [uniform("f32[64,256]", 1)], F32, mesh="x=8"),
    "reduce_scatter": Case("many devices", "reduce_scatter", [uniform("f32[16,32,128]", 1)], F32, mesh="x=4"),
    "gather_product": Case("many devices", "gather_product", [uniform("bf16[64,128]", 1), uniform("bf16[128,512]", 2)], F32, mesh="x=4"),
    "unpack_halves": Case("moves", "unpack_halves", [uniform("bf16[32,128]", 1)], EXACT),
}


def axes(mesh: str) -> Dict[str, int]:
    """Of "x=2,y=4"."""
    return {name: int(extent) for name, extent in (word.split("=") for word in mesh.split(",") if word)}


def names() -> List[Tuple[str, int]]:
    """Each text: its case, and the generation that it is lowered for."""
    return [(name, generation) for name, case in CASES.items() for generation in case.generations]


def text_path(name: str, generation: int) -> Path:
    return FOLDER / (f"{name}.mlir" if generation == 5 else f"{name}.v{generation}.mlir")


def filled(operand) -> Tuple[str, np.ndarray]:
    """An operand's type, and its values in double precision or 64 bits."""
    return _fills.filled(operand) if isinstance(operand, str) else ("s32", np.array(operand, dtype=np.int64))
