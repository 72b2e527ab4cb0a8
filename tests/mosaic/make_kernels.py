"""Writes kernels/*.mlir and what JAX's interpret mode computes: python3 tests/mosaic/make_kernels.py [NAME..], where jaxlib 0.8.1 is."""
import functools
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests" / "mosaic"), str(ROOT / "python" / "tilesim")]  # the latter has a jax.py of its own

import jax  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402

import cases  # noqa: E402
import kernels  # noqa: E402
import mesh_kernels  # noqa: E402
import _mosaic  # noqa: E402

TYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "s32": np.int32, "s16": np.int16, "s8": np.int8, "s4": ml_dtypes.int4,
         "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2}


def make(name: str, case: cases.Case) -> int:
    arrays = [values.astype(TYPES[kind]) for kind, values in map(cases.filled, case.operands)]
    function = functools.partial(getattr(mesh_kernels if case.mesh else kernels, case.function), **case.options)
    size = 0
    for generation in case.generations:
        (call, outputs), = _mosaic.calls(function, _mosaic.Chips(generation, cases.axes(case.mesh)), *arrays)
        text = _mosaic.lower(call, generation, root=str(ROOT), fills=case.fills(name))
        cases.text_path(name, generation).write_text(text)
        size += len(text)
    for i, operand in enumerate(case.operands):
        if not isinstance(operand, str):
            np.save(cases.FOLDER / f"{name}.in{i}.npy", arrays[i])
    reference = getattr(kernels, f"{case.function}_expected", None)
    for i, output in enumerate(map(np.array, reference(*arrays)) if reference else call.whole_results(outputs)):
        np.save(cases.FOLDER / f"{name}.out{i}.npy", output)
    return size


def main() -> None:
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    cases.FOLDER.mkdir(exist_ok=True)
    chosen = sys.argv[1:] or list(cases.CASES)
    for name in chosen:
        print(name, make(name, cases.CASES[name]), flush=True)


if __name__ == "__main__":
    main()
