"""The package's types as a user's type checker sees them, where there is mypy."""
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
import package
from cli import main, test

import tilesim  # noqa: F401

USED = """
import numpy as np
import tilesim as ts
from tilesim.program import At, Builder

tiled = ts.Layout("f32[8,128]{1,0:T(8,128)}")
packed: memoryview = ts.convert(np.zeros((8, 128)), to=tiled)
values: np.ndarray = ts.convert(packed, tiled)
memory: bytearray = ts.convert(values, to=tiled, out=bytearray(tiled.bytes))
other = ts.convert(memory, tiled, to="bf16[8,128]")
b = Builder("add", machine=ts.Machine("tpu-v5e", {"hbm.clock": "3 GHz"}))
x, xb, done = b.tensor("x", "hbm", tiled, "in"), b.tensor("xb", "vmem", tiled.text), b.semaphore("done")
b.dma(xb, x, done)
b.wait(done)
with b.packed():
    b.add("vld", b.v(0), xb[At(1), 0])
    b.add("vadd.f32", b.v(0), b.v(0), 1.0)
cycles: int = ts.run(b.end(), {"x": values}, check=True).cycles
best: ts.Layout = ts.choose(tiled, uses="reduce:1").best
part: int = ts.price(tiled, "bf16[8,128]").breakdown["fixed"]
"""
WRONG = "import tilesim as ts\nts.price(3, 'f32[8]')\nts.Layout('f32[8]').bytes.foo\n"


def checked(text, folder):
    """What mypy says of a user's file, strictly."""
    path = Path(folder, "user.py")
    path.write_text(text)
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", f"{folder}/cache", path.name], cwd=folder,
                          env={"MYPYPATH": "", "PYTHONPATH": str(package.ROOT / "python"), "PATH": ""}, capture_output=True, text=True)
    return done.stdout + done.stderr


@test
def calls_are_checked():
    try:
        import mypy  # noqa: F401
    except ImportError:
        return
    with tempfile.TemporaryDirectory() as folder:
        said = checked(USED, folder)
        assert "Success: no issues found" in said, said
        said = checked(WRONG, folder)
        assert 'user.py:2: error: Argument 1 to "price"' in said and 'user.py:3: error: "int" has no attribute "foo"' in said, said


main()
