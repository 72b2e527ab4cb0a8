"""sim/isa/opcodes.def: a row without its shadow rule, or with a name that is none, does not compile."""
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import main, test

COMPILER = shlex.split(re.search(r"^cc = (.*)$", Path("build/config.ninja").read_text(), re.M)[1])
ROWS = Path("sim/isa/opcodes.def").read_text()
PLACE = "#undef OPCODE"
ROW = 'OPCODE(MASK, planted, "planted", (DST_VMASK, VMASK), VALU, VECTOR_MASK, COPY, 0, "d = a")\n'


def compiled(row):
    """Compiles the tables with one more row; returns what the compiler says against it, "" for nothing."""
    assert ROWS.count(PLACE) == 1
    with tempfile.TemporaryDirectory() as folder:
        planted = Path(folder, "isa", "opcodes.def")
        planted.parent.mkdir()
        planted.write_text(ROWS.replace(PLACE, row + PLACE))
        result = subprocess.run([*COMPILER, "-std=c11", "-I" + folder, "-Isim", "-Iinclude", "-fsyntax-only", "sim/isa/isa.c"],
                                capture_output=True, text=True)
    assert (result.returncode == 0) == (result.stderr == ""), result.stderr
    return result.stderr


@test
def a_whole_row():
    assert compiled(ROW) == ""


@test
def without_its_shadow():
    said = compiled(ROW.replace("COPY, ", ""))
    assert '"OPCODE" requires 9 arguments, but only 8 given' in said or "too few arguments" in said, said


@test
def names_that_are_none():
    for name, other, message in [("COPY", "COPIED", "TS_SHADOW_COPIED"), ("DST_VMASK", "VMASK_OUT", "VMASK_OUT")]:
        said = compiled(ROW.replace(name, other))
        assert message in said, said


main()
