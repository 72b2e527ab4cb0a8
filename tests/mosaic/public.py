"""Public Pallas kernels, those that JAX ships, lowered, run and compared with interpret mode: `ninja test-pallas`.

usage: public.py [NAME..]    in a Python that has jax 0.8.1, NumPy and cffi (tilesim.pallas says how to make one)
"""
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / "build" / "venv-pallas" / "bin" / "python"
sys.path.insert(0, str(ROOT / "python"))

try:
    import jax
except ImportError:
    jax = None

# What is not run, and why, in the words of who refuses it.
REFUSED = {
    "splash_attention causal 256": "with prefetched operands of other than 32 bits",
    "paged_attention": "'tpu.matmul' is not modelled: of such types",
}
TUTORIAL = re.compile(r"^    build/venv-pallas/bin/python (-m tilesim.pallas .*)$", re.MULTILINE)


def floats(seed, *dims, dtype="bfloat16"):
    import jax.numpy as jnp
    return jax.random.uniform(jax.random.key(seed), dims, jnp.float32, -1, 1).astype(dtype)


def integers(seed, *dims):
    return jax.random.randint(jax.random.key(seed), dims, -128, 128, "int8")


def matmul(dtype, *blocks):
    from jax.experimental.pallas.ops.tpu import matmul as module
    x, y = (integers(1, 256, 512), integers(2, 512, 256)) if dtype == "int8" else \
        (floats(1, 256, 512, dtype=dtype), floats(2, 512, 256, dtype=dtype))
    out = {"int8": "int32", "bfloat16": "float32"}.get(dtype, dtype)
    return lambda x, y: module.matmul(x, y, block_shape=blocks[:2], block_k=blocks[2], out_dtype=out), (x, y)


def flash(causal, length):
    from jax.experimental.pallas.ops.tpu import flash_attention as module
    arrays = [floats(seed, 1, 2, length, 128) for seed in (1, 2, 3)]
    return lambda q, k, v: module.flash_attention(q, k, v, causal=causal), arrays


def splash(length):
    from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as kernel
    from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as masks
    mask = masks.MultiHeadMask([masks.CausalMask((length, length)) for _ in range(2)])
    made = kernel.make_splash_mha_single_device(mask=mask)
    return made, [floats(seed, 2, length, 128) for seed in (1, 2, 3)]


def paged():
    from jax.experimental.pallas.ops.tpu.paged_attention import paged_attention
    import jax.numpy as jnp
    arrays = (floats(1, 2, 8, 128), floats(2, 1, 16, 16, 128), floats(3, 1, 16, 16, 128), jnp.array([37, 100], jnp.int32),
              jax.random.permutation(jax.random.key(4), 16).astype(jnp.int32).reshape(2, 8))
    return lambda *given: paged_attention(*given, pages_per_compute_block=4), arrays


def grouped():
    from jax.experimental.pallas.ops.tpu.megablox import gmm
    import jax.numpy as jnp
    return (lambda x, y, sizes: gmm(x, y, sizes, jnp.float32, (128, 128, 128))), \
        (floats(1, 256, 128), floats(2, 3, 128, 128), jnp.array([40, 150, 66], jnp.int32))


KERNELS = {
    "matmul bf16 128,128,256": lambda: matmul("bfloat16", 128, 128, 256),
    "matmul bf16 256,256,512": lambda: matmul("bfloat16", 256, 256, 512),
    "matmul f32 128,256,128": lambda: matmul("float32", 128, 256, 128),
    "matmul int8 128,256,256": lambda: matmul("int8", 128, 256, 256),
    "flash_attention 256": lambda: flash(False, 256),
    "flash_attention causal 256": lambda: flash(True, 256),
    "splash_attention causal 256": lambda: splash(256),
    "paged_attention": paged,
    "megablox gmm": grouped,
}


def result(name, machine):
    """(how it ended, what is said of it)."""
    from tilesim import UnmodelledError, pallas
    start = time.monotonic()
    try:
        function, arrays = KERNELS[name]()
        found = pallas.run(function, *arrays, machine=machine)
    except UnmodelledError as error:
        return "refused", str(error).split("\n")[0].split("not modelled: ", 1)[-1]
    except Exception as error:
        return "failed", f"{type(error).__name__}: {str(error)[:300]}"
    said = "; ".join(str(difference) for kernel in found.kernels for difference in kernel.differences)
    return "ran" if found.passed else "failed", f"{found.cycles:,} cycles, {time.monotonic() - start:.1f} s; {said}"


def tutorial(words):
    """A command of docs/pallas.md: it must end well."""
    done = subprocess.run([sys.executable, *shlex.split(words)], cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": "python"})
    return "ran" if done.returncode == 0 else "failed", (done.stdout + done.stderr).strip().split("\n")[-1]


def outcomes():
    """(name, how it ended, what is said of it) of every test."""
    for name in [name for name in KERNELS if name in sys.argv] or KERNELS:
        yield name, *result(name, "tpu-v5e")
    for words in TUTORIAL.findall((ROOT / "docs" / "pallas.md").read_text()):
        yield words, *tutorial(words)


def main():
    """Prints TAP."""
    ended = []
    for number, (name, how, said) in enumerate(outcomes(), 1):
        expected = "refused" if name in REFUSED else "ran"
        good = how == expected and REFUSED.get(name, "") in said
        ended.append(how)
        print(f"{'ok' if good else 'not ok'} {number} - {name}: {how}: {said}", flush=True)
    print(f"# {', '.join(f'{ended.count(how)} {how}' for how in ('ran', 'refused', 'failed'))}")


if jax is None and VENV.exists() and VENV != Path(sys.executable):
    os.execv(VENV, [str(VENV), *sys.argv])
if jax is None:
    print("ok 1 - skipped: no JAX here:\n#   python3 -m venv build/venv-pallas && "
          "build/venv-pallas/bin/pip install jax==0.8.1 jaxlib==0.8.1 numpy cffi")
    sys.exit(0)
jax.config.update("jax_platforms", "cpu")
main()
