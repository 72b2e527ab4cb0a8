"""The programs that are shipped, and the options that give each its sizes."""
from pathlib import Path

PROGRAMS = sorted(Path("programs").glob("*.tsim"))


# The names of two dims, and what else makes dims ragged. Without a row: ROWS and COLS.
DIMS = {
    "batched_matmul": ("M", "N", lambda m, n: {"BATCH": 3, "K": m + n // 3}),
    "conv3x3": ("W", None, lambda w, h: {"W": w % 23 + 1, "H": h % 13 + 1, "C": w * 5 % 300 + 1, "K": h * 7 % 300 + 1, "STRIDE": 1 + (w + h) % 2}),
    "flash_attention": ("SEQ", None, lambda seq, d: {"D": d % 128 + 1, "CAUSAL": seq % 3 and 1}),
    "blocks": ("M", "N", lambda m, n: {"M": 128 + m % 2 * 128, "N": 128 + n % 2 * 128, "K": 256}),
    "half": ("ROWS", None, lambda rows, _: {"IN": rows % 2 + 1}),
    "matmul": ("M", "N", lambda m, n: {"K": m + n // 3}),
    "matmul_f32": ("M", "N", lambda m, n: {"K": m + n // 3}),
    "matmul_int8": ("M", "N", lambda m, n: {"K": m + n // 3}),
    "mlp_digits": ("ROWS", None, lambda rows, _: {}),
    "reduce": ("B", "C", lambda b, c: {"A": min(b, 9), "DIM": c % 3}),
    "rope": ("ROWS", None, lambda rows, columns: {"HEADS": columns % 5 + 1, "D": 2 << (rows + columns) % 7}),
    "transpose": ("ROWS", "COLS", lambda rows, columns: {"TYPE": rows % 2}),
}


def sizes(path, rows, columns):
    """The options that make a program of that size, or of one near it where it has other dims."""
    first, second, others = DIMS.get(path.stem, ("ROWS", "COLS", lambda *_: {}))
    values = {first: rows, **({second: columns} if second else {}), **others(rows, columns)}
    return [word for name, value in values.items() for word in ("-D", f"{name}={value}")]


def refusal(path, machine):
    """What a program says on a machine that lacks its units; None where it runs."""
    if path.stem == "matmul_int8" and machine in ("tpu-v2", "tpu-v3", "tpu-v7x"):
        return "the matrix unit of this machine does not take int8"
    if path.stem == "blocks" and machine in ("tpu-v6e", "tpu-v7x"):
        return "blocks of this program are for units of 128 x 128"
    return None
